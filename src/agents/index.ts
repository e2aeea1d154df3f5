// keryx/agents: what answers a prompt.
// A provider's model, another agent program (ACP), or a script for tests; each gets the whole prompt and returns text and tool calls.
// Never here: running a tool, writing to the store, deciding whether a turn continues.

export { type AcpAgent, type AcpAgentOptions, type AcpServer, createAcpAgent } from "./acp/agent.ts";
export {
	createModelAgent,
	type ModelAgent,
	type ModelAgentOptions,
	type ModelCheck,
} from "./ai-sdk/agent.ts";
export { listModels } from "./ai-sdk/models.ts";
export { type ModelSettings, PROVIDER_ADDRESSES } from "./ai-sdk/targets.ts";
export { createOfflineAgent } from "./offline.ts";
export { parseScript, type Script, type ScriptedStep } from "./script.ts";
export {
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
	LoopInput,
	Permission,
	StepAgent,
	StepEvent,
	StepInput,
	ToolSpec,
	Usage,
} from "./types.ts";
export { CUT, NO_USAGE } from "./types.ts";
