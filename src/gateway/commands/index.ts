import { busy, help, mayUse, stop, why } from "./control.ts";
import { continueSession, extendSession, newSession, status } from "./sessions.ts";
import type { Command } from "./types.ts";

export { findCommand, type Parsed, parseCommand, unknownCommand } from "./parse.ts";
export type { Command, CommandContext, Plan } from "./types.ts";
export { mayUse };

/** In the order of /help. */
export const COMMANDS: readonly Command[] = [
	newSession,
	continueSession,
	extendSession,
	stop,
	busy,
	status,
	why,
	help,
];
