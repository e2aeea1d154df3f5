// One word of a command line, and what is known about it.
import { BELOW, SOME, UNKNOWN } from "./text.ts";
import type { Field, Invocation } from "./types.ts";

export function plainField(text: string): Field {
	return { text, splits: false, glob: false, from: [] };
}

export function unknownField(from: readonly string[], splits: boolean): Field {
	return { text: UNKNOWN, splits, glob: false, from };
}

/** It is fully literal. */
export function isKnown(text: string): boolean {
	return !text.includes(UNKNOWN) && !text.includes(SOME) && !text.includes(BELOW);
}

/** Part of it may be anything. */
export function isDark(text: string): boolean {
	return text.includes(UNKNOWN);
}

/** A word with an unknown start may be an option. */
export function mayBeOption(field: Field): boolean {
	const { text, splits } = field;
	return text.startsWith(UNKNOWN) || text.startsWith(BELOW) || (splits && !isKnown(text));
}

export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** All its words as one text. */
export function lineOf(invocation: Invocation): string {
	return [invocation.path, ...invocation.args.map((arg) => arg.text)].join(" ");
}
