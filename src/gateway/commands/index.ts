import { checkpoint, diff, rollback } from "./checkpoints.ts";
import { compress } from "./compress.ts";
import { approve, deny } from "./confirmations.ts";
import { busy, model, setHome, stop, verbose } from "./control.ts";
import { redo, retry, undo } from "./history.ts";
import { help, insights, status, usage, whoami, why } from "./information.ts";
import { unknownCommand } from "./parse.ts";
import { killProcess, listProcesses } from "./processes.ts";
import { resume, sessions } from "./resume.ts";
import { branchSession, continueSession, extendSession, newSession, setTitle } from "./sessions.ts";
import type { Command } from "./types.ts";

export { type Parsed, parseCommand } from "./parse.ts";
export { type Command, type CommandContext, mayUse } from "./types.ts";

/** In the order of /help. */
export const COMMANDS: readonly Command[] = [
	newSession,
	continueSession,
	sessions,
	resume,
	setTitle,
	branchSession,
	extendSession,
	stop,
	approve,
	deny,
	killProcess,
	retry,
	undo,
	redo,
	compress,
	busy,
	model,
	verbose,
	checkpoint,
	rollback,
	diff,
	listProcesses,
	status,
	usage,
	why,
	whoami,
	insights,
	setHome,
	help,
];

export function findCommand(name: string): Command | undefined {
	return COMMANDS.find((command) => command.name === name || command.aliases?.includes(name));
}

/** The answer to a name that nothing stands behind: which one was probably meant. */
export function noSuchCommand(name: string): string {
	const names = COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
	return unknownCommand(names, name);
}
