export { createOfflineAgent } from "./offline.ts";
export { parseScript, type Script, type ScriptedStep } from "./script.ts";
export {
	type AgentClock,
	createScriptedAgent,
	createScriptedLoopAgent,
	type ScriptedOptions,
} from "./scripted.ts";
export type {
	Agent,
	AgentFailure,
	AssistantMessage,
	FailureKind,
	LoopAgent,
	LoopEvent,
	StepAgent,
	StepEvent,
	StepInput,
	ToolSpec,
	Usage,
} from "./types.ts";
