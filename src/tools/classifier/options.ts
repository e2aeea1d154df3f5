// The words of a program as options, their values, operands and subcommands.
import { plainField } from "./field.ts";
import type { Field } from "./types.ts";

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

/** The arguments that are not options. */
export function operands(args: readonly Field[]): Field[] {
	const end = args.findIndex((arg) => arg.text === "--");
	if (end < 0) return args.filter((arg) => !/^-./.test(arg.text));
	return [...args.slice(0, end).filter((arg) => !/^-./.test(arg.text)), ...args.slice(end + 1)];
}

/** The value of an option, as `-o x`, `-ox` (one letter) or `--out=x`; undefined when it is not there. */
export function optionValue(args: readonly Field[], ...names: readonly string[]): Field | undefined {
	return optionValues(args, ...names)[0];
}

/** The values of an option that may be given more than once. */
export function optionValues(args: readonly Field[], ...names: readonly string[]): Field[] {
	const found: Field[] = [];
	for (const [index, arg] of args.entries()) {
		if (arg.text === "--") break;
		for (const name of names) {
			const next = args[index + 1];
			if (arg.text === name && next) found.push(next);
			else if (name.startsWith("--") && arg.text.startsWith(`${name}=`))
				found.push({ ...arg, text: arg.text.slice(name.length + 1) });
			else if (
				/^-\w$/.test(name) &&
				arg.text.startsWith(name) &&
				arg.text.length > 2 &&
				!arg.text.startsWith("--")
			)
				found.push({ ...arg, text: arg.text.slice(2) });
		}
	}
	return found;
}

export interface ParsedWords {
	readonly operands: readonly Field[];
	/** Each option that takes a value, with the value. */
	readonly values: readonly { readonly option: string; readonly value: Field }[];
}

/**
 * Words by the rules of getopt, for a program whose options with a value are known: `-o x`, `-ox`, `-abo x`, `--out x`, `--out=x`.
 * Every `--name=x` counts as a value, whether the option is known or not.
 */
export function parsedWords(args: readonly Field[], takesValue: ReadonlySet<string>): ParsedWords {
	const found: Field[] = [];
	const values: { option: string; value: Field }[] = [];
	for (let index = 0; index < args.length; index++) {
		const arg = args[index] as Field;
		const { text } = arg;
		if (text === "--") {
			found.push(...args.slice(index + 1));
			break;
		}
		if (!text.startsWith("-") || text === "-") {
			found.push(arg);
			continue;
		}
		const equals = text.startsWith("--") ? text.indexOf("=") : -1;
		if (equals > 0) values.push({ option: text.slice(0, equals), value: part(arg, equals + 1) });
		else if (takesValue.has(text)) {
			values.push({ option: text, value: args[++index] ?? plainField("") });
		} else if (!text.startsWith("--")) {
			const at = firstValueLetter(text, takesValue);
			if (at < 0) continue;
			const attached = at + 1 < text.length;
			values.push({
				option: `-${text[at]}`,
				value: attached ? part(arg, at + 1) : (args[++index] ?? plainField("")),
			});
		}
	}
	return { operands: found, values };
}

function firstValueLetter(cluster: string, takesValue: ReadonlySet<string>): number {
	for (let at = 1; at < cluster.length; at++) if (takesValue.has(`-${cluster[at]}`)) return at;
	return -1;
}

function part(field: Field, from: number): Field {
	return { ...field, text: field.text.slice(from) };
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
	if (wanted.length === 0) return undefined;
	const tails = subcommands(args);
	return wanted.find((line) => {
		const words = line.split(" ");
		return tails.some((tail) => words.every((word, index) => tail[index] === word));
	});
}
