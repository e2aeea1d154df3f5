// How much of a command is analysed. More is dangerous in itself, so that no text takes long.
import { isKnown } from "../field.ts";
import type { Field, Stdin } from "../types.ts";

const MAX_LENGTH = 65_536;
const MAX_INVOCATIONS = 500;
/** Words that rules look at, over all invocations; long ones count more than once. */
const MAX_WORDS = 5_000;
const LONG_WORD = 128;
const MAX_DEPTH = 16;
const MAX_BRACKETS = 64;
/** Text that is read again: nested scripts, aliases. */
const MAX_READ = 4 * MAX_LENGTH;

/** The work done so far. */
export class Effort {
	#invocations = 0;
	#words = 0;
	#read = 0;

	/** Why this text is not read at all. One pass over it, before the parser. */
	refuseText(text: string, depth: number): string | null {
		this.#read += text.length;
		if (text.length > MAX_LENGTH || this.#read > MAX_READ) return "is too long to check";
		if (depth > MAX_DEPTH) return "contains too many nested scripts to check";
		if (!isKnown(text)) return "contains a character that does not belong in a command";
		return isTooDeep(text) ? "is nested too deeply to check" : null;
	}

	/** Why this invocation is not analysed. */
	refuseWords(words: readonly Field[], stdin: Stdin, depth: number): string | null {
		this.#words += stdin.kind === "text" ? cost(stdin.text) : 0;
		for (const word of words) this.#words += cost(word.text);
		const most = ++this.#invocations > MAX_INVOCATIONS || this.#words > MAX_WORDS || depth > MAX_DEPTH;
		return most ? "contains more commands than can be checked" : null;
	}
}

function cost(text: string): number {
	return 1 + text.length / LONG_WORD;
}

function isTooDeep(text: string): boolean {
	let open = 0;
	for (let index = 0; index < text.length; index++) {
		const char = text.charCodeAt(index);
		if (char === 0x28 || char === 0x7b) open++;
		else if ((char === 0x29 || char === 0x7d) && open > 0) open--;
		if (open > MAX_BRACKETS) return true;
	}
	return false;
}
