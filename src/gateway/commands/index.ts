// What `/command` does in a chat, and the same for the API. A file per subject; the list here is what /help shows.
// The runner runs each command once, also across a crash.
// Never here: parsing HTTP, or a platform's own form of a command.

import { assertName, type ChatCommand, toCommand } from "./added.ts";
import { checkpoint, diff, rollback } from "./checkpoints.ts";
import { compress } from "./compress.ts";
import { approve, deny } from "./confirmations.ts";
import { busy, model, setHome, stop, verbose } from "./control.ts";
import { redo, retry, undo } from "./history.ts";
import { help, insights, status, usage, whoami, why } from "./information.ts";
import { pair } from "./pair.ts";
import { unknownCommand } from "./parse.ts";
import { killProcess, listProcesses } from "./processes.ts";
import { resume, sessions } from "./resume.ts";
import { schedule } from "./schedule.ts";
import { branchSession, continueSession, extendSession, newSession, setTitle } from "./sessions.ts";
import type { Command } from "./types.ts";

export type { ChatCommand, CommandCall } from "./added.ts";
export { type Parsed, parseCommand } from "./parse.ts";
export { type Command, type CommandContext, type Listing, mayUse } from "./types.ts";

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
	pair,
	killProcess,
	schedule,
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

/** The commands of one gateway. */
export interface CommandList {
	/** In the order of /help. */
	readonly all: readonly Command[];
	find(name: string): Command | undefined;
	/** The answer to an unknown command: suggests the closest one. */
	noSuch(name: string): string;
}

/** Keryx's commands and those a program adds. Throws argument.invalid for a name that is taken or invalid. */
export function createCommands(added: readonly ChatCommand[] = []): CommandList {
	const all = [...COMMANDS, ...added.map(toCommand)];
	const byName = new Map<string, Command>();
	for (const command of all)
		for (const name of [command.name, ...(command.aliases ?? [])]) {
			assertName(name, byName);
			byName.set(name, command);
		}
	return {
		all,
		find: (name) => byName.get(name),
		noSuch: (name) => unknownCommand([...byName.keys()], name),
	};
}
