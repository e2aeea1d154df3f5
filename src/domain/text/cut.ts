// Cuts a text, but never inside a character, and never inside the name of a secret: its second half would no longer be recognised, and not
// be hidden from those who may not see it (I12). Secrets themselves must be hidden before.
import { secretNamesIn, type TextRange } from "./secret-name.ts";

/** Its beginning, of at most this many characters. */
export function firstOf(text: string, most: number): string {
	if (text.length <= most) return text;
	const end = nameAround(secretNamesIn(text), most)?.from ?? most;
	return text.slice(0, isInPair(text, end) ? end - 1 : end);
}

/** Its end, of at most this many characters. */
export function lastOf(text: string, most: number): string {
	if (text.length <= most) return text;
	const start = nameAround(secretNamesIn(text), text.length - most)?.to ?? text.length - most;
	return text.slice(isInPair(text, start) ? start + 1 : start);
}

/** The name that a cut here would divide. */
export function nameAround(names: readonly TextRange[], at: number): TextRange | undefined {
	return names.find(({ from, to }) => from < at && at < to);
}

function isInPair(text: string, at: number): boolean {
	return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1));
}
