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
import { WAITING_NAMES, waitingSentence } from "./waiting.ts";

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

/** The answer to a name that nothing stands behind: what it waits for, or which one was probably meant. */
export function noSuchCommand(name: string): string {
	const names = COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
	return waitingSentence(name) ?? unknownCommand([...names, ...WAITING_NAMES], name);
}
