// Finding a command in a message. A path or a fraction is not one: `/usr/bin is full` goes to the agent.
import { nearest } from "../../config/index.ts";
import type { Command } from "./types.ts";

const FORM = /^\/([a-z]+)(?:@[A-Za-z0-9_]+)?(?:\s+([\s\S]*))?$/;

export interface Parsed {
	readonly name: string;
	readonly args: string;
}

export function parseCommand(text: string): Parsed | null {
	const match = FORM.exec(text.trim());
	return match ? { name: match[1] as string, args: (match[2] ?? "").trim() } : null;
}

export function findCommand(commands: readonly Command[], name: string): Command | undefined {
	return commands.find((command) => command.name === name || command.aliases?.includes(name));
}

export function unknownCommand(commands: readonly Command[], name: string): string {
	const like = nearest(
		name,
		commands.map((command) => command.name),
	);
	return like
		? `There is no command /${name}. Did you mean /${like}? /help lists all.`
		: `There is no command /${name}. /help lists all.`;
}
