// Finds a command in a message. Paths and fractions are not commands: `/usr/bin is full` goes to the agent.

import { nearest } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { texts } from "../texts.ts";

const FORM = /^\/([a-z]+)(?:@[A-Za-z0-9_]+)?(?:\s+([\s\S]*))?$/;

export interface Parsed {
	readonly name: string;
	readonly args: string;
}

export function parseCommand(text: string): Parsed | null {
	const match = FORM.exec(text.trim());
	return match ? { name: match[1] as string, args: (match[2] ?? "").trim() } : null;
}

export function unknownCommand(names: readonly string[], name: string): string {
	const like = nearest(name, names);
	return like ? texts.help.didYouMean(name, like) : texts.help.unknown(name);
}

/** A whole number of at least `least`, or `otherwise` if none is given. */
export function wholeNumber(
	args: string,
	{
		command,
		of,
		least,
		most,
		otherwise,
		example = otherwise,
	}: {
		readonly command: string;
		readonly of: string;
		readonly least: number;
		readonly most: number;
		readonly otherwise: number;
		readonly example?: number;
	},
): number {
	if (args === "") return otherwise;
	const n = /^\d{1,7}$/.test(args) ? Number(args) : Number.NaN;
	if (!(n >= least && n <= most))
		throw wrongArgument(texts.errors.wholeNumber(command, of, least, most), args, `${command} ${example}`);
	return n;
}

export function wrongArgument(takes: string, args: string, example: string): KeryxError {
	return new KeryxError("argument.invalid", texts.errors.wrongArgument(takes, JSON.stringify(args)), {
		hint: texts.errors.example(example),
	});
}
