// Whether a command may run without a human: text and facts in, a verdict out. No IO, runs nothing.
export { classifyCommand } from "./classify.ts";
export {
	type CommandAction,
	type CommandClass,
	type CommandFacts,
	type CommandVerdict,
	type DangerReason,
	ONCE_ONLY,
} from "./types.ts";
