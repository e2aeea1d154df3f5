// Whether a command may run without a human: text and facts in, a verdict out.
// A folder each for the shell, other languages, files, what a program launches, what only reads, and the rules.
// Never here: IO, or running anything.

export { classifyCommand } from "./classify.ts";
export {
	type CommandAction,
	type CommandClass,
	type CommandFacts,
	type CommandVerdict,
	type DangerReason,
	ONCE_ONLY,
} from "./types.ts";
