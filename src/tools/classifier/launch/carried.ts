// An unknown program may run the words after it as a command, as many do. If they would be harmful, they count as one.
import { baseName, isKnown } from "../field.ts";
import type { Field, Invocation } from "../types.ts";
import type { Inner } from "./inner.ts";

/** They print or look up their arguments, and run none of them. */
const TELLS: ReadonlySet<string> = new Set(
	`echo printf print grep egrep fgrep rg ag ack man info tldr cheat which where type whereis whatis apropos help hash alias unalias test [ [[
	logger say notify-send figlet cowsay ls cat head tail touch mkdir git`.split(/\s+/),
);
const REMOVES = /^g?rm$/;
const RECURSIVE = /^-[a-zA-Z]*[rR]|^--recursive$/;
const SHELL = /^(ba|da|z|k|a)?sh$/;
const TAKES_TEXT = /^-[a-z]*c$/;
const ALWAYS = /^(sudo|doas|mkfs(\.\w+)?|wipefs|shred)$/;
/** How many arguments are checked. */
const FIRST = 50;

export function carriedInner({ name, args }: Invocation): Inner[] {
	if (TELLS.has(name)) return [];
	const words = args.slice(0, FIRST);
	const start = words.findIndex((word, index) => isHarm(baseName(word.text), word, args.slice(index + 1)));
	return start < 0 ? [] : [{ kind: "command", words: args.slice(start) }];
}

function isHarm(program: string, word: Field, rest: readonly Field[]): boolean {
	if (!isKnown(word.text) || rest.length === 0) return false;
	if (ALWAYS.test(program)) return true;
	if (REMOVES.test(program)) return rest.some(({ text }) => RECURSIVE.test(text));
	return SHELL.test(program) && TAKES_TEXT.test(rest[0]?.text ?? "");
}
