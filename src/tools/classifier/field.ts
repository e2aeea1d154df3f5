// Words of a command line, and what rules ask of them.
import { UNKNOWN } from "./text.ts";
import type { Field, Invocation } from "./types.ts";

export function plainField(text: string): Field {
	return { text, splits: false, glob: false, from: [] };
}

export function unknownField(from: readonly string[], splits: boolean): Field {
	return { text: UNKNOWN, splits, glob: false, from };
}

export function isKnown(text: string): boolean {
	return !text.includes(UNKNOWN);
}

/** What is said of a word that starts in the dark: it may be an option. */
export function mayBeOption(field: Field): boolean {
	return field.text.startsWith(UNKNOWN) || (field.splits && !isKnown(field.text));
}

export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** The words before `--` that start with a dash. */
export function optionTexts(args: readonly Field[]): string[] {
	const end = args.findIndex((arg) => arg.text === "--");
	return (end < 0 ? args : args.slice(0, end)).map((arg) => arg.text).filter((text) => /^-./.test(text));
}

/** One of the letters in a cluster such as -rf. */
export function hasShort(args: readonly Field[], letters: string): boolean {
	return optionTexts(args).some(
		(text) => !text.startsWith("--") && [...letters].some((letter) => text.slice(1).includes(letter)),
	);
}

/** --name, --name=value, and the shortenings that GNU programs take. */
export function hasLong(args: readonly Field[], name: string, shortest = 3): boolean {
	return optionTexts(args).some((text) => {
		if (!text.startsWith("--")) return false;
		const written = text.slice(2).split("=", 1)[0] ?? "";
		return written === name || (written.length >= shortest && name.startsWith(written));
	});
}

/** The words that are no options. */
export function operands(args: readonly Field[]): Field[] {
	const end = args.findIndex((arg) => arg.text === "--");
	if (end < 0) return args.filter((arg) => !/^-./.test(arg.text));
	return [...args.slice(0, end).filter((arg) => !/^-./.test(arg.text)), ...args.slice(end + 1)];
}

/** The value of an option, as `-o x`, `-ox` (one letter) or `--out=x`; undefined when it is not there. */
export function optionValue(args: readonly Field[], ...names: readonly string[]): Field | undefined {
	for (const [index, arg] of args.entries()) {
		if (arg.text === "--") return undefined;
		for (const name of names) {
			if (arg.text === name) return args[index + 1];
			if (name.startsWith("--") && arg.text.startsWith(`${name}=`))
				return { ...arg, text: arg.text.slice(name.length + 1) };
			if (/^-\w$/.test(name) && arg.text.startsWith(name) && !arg.text.startsWith("--"))
				return { ...arg, text: arg.text.slice(2) };
		}
	}
	return undefined;
}

/** Past this many, which word is the subcommand is not known. */
export const CANDIDATES = 12;
/** The most words that a subcommand has. */
const DEPTH = 4;

/**
 * The words that may be the subcommand, each with the words after it. An option may take a value, so after an option
 * the next word counts, and the one after it too.
 */
export function subcommands(args: readonly Field[]): string[][] {
	const words: { text: string; afterOption: boolean }[] = [];
	for (const [index, { text }] of args.entries()) {
		if (words.length === CANDIDATES + DEPTH) break;
		const before = args[index - 1]?.text ?? "";
		if (!/^-./.test(text)) words.push({ text, afterOption: /^-./.test(before) && !before.includes("=") });
	}
	const last = words.findIndex((word) => !word.afterOption);
	return words
		.slice(0, Math.min(last < 0 ? words.length : last + 1, CANDIDATES))
		.map((_, index) => words.slice(index, index + DEPTH).map((word) => word.text));
}

/** Whether the words name one of the subcommands, written as "stash drop". */
export function names(args: readonly Field[], wanted: readonly string[]): string | undefined {
	const tails = subcommands(args);
	return wanted.find((line) => {
		const words = line.split(" ");
		return tails.some((tail) => words.every((word, index) => tail[index] === word));
	});
}

/** All its words as one text. */
export function lineOf(invocation: Invocation): string {
	return [invocation.path, ...invocation.args.map((arg) => arg.text)].join(" ");
}
