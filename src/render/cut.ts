// Where to cut: at the start of a block if one begins in the second half of what fits, else after a paragraph, a line,
// a sentence, a word; else between two characters as a reader sees them.
import { splitsPair } from "./measure.ts";
import type { Rendered } from "./types.ts";

/** How far a part can reach, and where no cut is allowed in it. */
export interface Window {
	readonly bound: number;
	/** Nothing remains: the text or the line ends here. */
	readonly isEnd: boolean;
	/** In ascending order. */
	readonly uncut: readonly Uncut[];
}

/** No cut between `from` and `to`, both excluded; preferably none before `wishedTo`. */
export interface Uncut {
	readonly from: number;
	readonly to: number;
	readonly wishedTo: number;
}

/** Invisible characters. Every platform refuses a message that contains nothing else. */
const UNSEEN = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*/uy;
/** Combining characters of the previous character. */
const EXTENDS = /[\p{Grapheme_Extend}\p{M}\p{Emoji_Modifier}\u200d]/uy;
const SENTENCE_END = /[.!?…。！？]["'”’)\]»]{0,3}$/;
const WIDE_SENTENCE_END = /[。！？]/;
const WIDE_PAUSE = /[，、；：]/;

/** A visible character can consist of many code points, but a longer one than this is cut. */
const MAX_CHARACTER = 128;

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

export function firstVisible(text: string, from: number): number {
	UNSEEN.lastIndex = from;
	UNSEEN.test(text);
	return UNSEEN.lastIndex;
}

/** The end of the part that begins at `start` and whose first visible character is at `seen`. */
export function chooseCut(whole: Rendered, start: number, seen: number, window: Window): number {
	if (window.isEnd) return window.bound;
	const half = start + (window.bound - start) / 2;
	const block = whole.blocks[lastUpTo(whole.blocks, window.bound)] ?? -1;
	if (block > seen && block >= half) return block;
	return (
		boundaryBefore(whole, start, seen, window) ?? characterBefore(whole, start, seen, window) ?? window.bound
	);
}

function boundaryBefore(
	whole: Rendered,
	start: number,
	seen: number,
	{ bound, uncut }: Window,
): number | undefined {
	const { plain } = whole;
	const half = start + (bound - start) / 2;
	const floor = Math.max(seen + 1, Math.floor(start + (bound - start) / 4));
	const isFree = freeDown(uncut, "wishedTo");
	let line: number | undefined;
	let sentence: number | undefined;
	let word: number | undefined;
	for (let at = bound; at >= floor; at--) {
		const kind = boundaryAt(plain, at);
		if (kind === undefined || !isFree(at) || !isSafe(whole, at)) continue;
		if (at >= half && kind === "paragraph") return at;
		if (at >= half && kind === "line") line ??= at;
		if (at >= half && kind === "sentence") sentence ??= at;
		word ??= at;
	}
	return line ?? sentence ?? word;
}

/** What ends at `at`. White space belongs to the text before it, but indentation to its line. */
function boundaryAt(text: string, at: number): "paragraph" | "line" | "sentence" | "word" | undefined {
	const code = text.charCodeAt(at - 1);
	if (code > 0x20 && code < 0x80) return undefined;
	const last = text.charAt(at - 1);
	const next = text.charAt(at);
	if (last === "\n") {
		if (next === "\n") return undefined;
		return text.charAt(at - 2) === "\n" ? "paragraph" : "line";
	}
	if (WIDE_SENTENCE_END.test(last)) return "sentence";
	if (WIDE_PAUSE.test(last)) return "word";
	if (!/\s/.test(last) || /\s/.test(next)) return undefined;
	return SENTENCE_END.test(text.slice(Math.max(0, at - 8), at).trimEnd()) ? "sentence" : "word";
}

function characterBefore(
	whole: Rendered,
	start: number,
	seen: number,
	{ bound, uncut }: Window,
): number | undefined {
	const { plain } = whole;
	const near = Math.max(start, bound - 2 * MAX_CHARACTER);
	const from = splitsPair(plain, near) ? near + 1 : near;
	const positions: number[] = [];
	for (const { index } of characters.segment(plain.slice(from, bound + MAX_CHARACTER))) {
		if (from + index > bound) break;
		if (index > 0) positions.push(from + index);
	}
	const lastFree = (isFree: (at: number) => boolean) =>
		positions.findLast((at) => at > seen && isFree(at) && isSafe(whole, at));
	const found = lastFree(freeDown(uncut, "wishedTo"));
	if (found !== undefined) return found;
	// Without the white space before it, the character may fit.
	if (seen > start) return seen;
	const parted = lastFree(freeDown(uncut, "to"));
	if (parted !== undefined) return parted;
	const isFree = freeDown(uncut, "to");
	for (let at = bound; at > seen && at >= from; at--) if (isFree(at) && !splitsPair(plain, at)) return at;
	return undefined;
}

/** Whether a part can begin here: not inside a character, and not with a token that would change meaning. */
function isSafe({ plain, unsafeStart }: Rendered, at: number): boolean {
	EXTENDS.lastIndex = at;
	if (EXTENDS.test(plain)) return false;
	if (!unsafeStart || plain[at - 1] === "\n") return true;
	unsafeStart.lastIndex = at;
	return !unsafeStart.test(plain);
}

/** Tells whether a cut is allowed at an offset. Ask in descending order. */
function freeDown(uncut: readonly Uncut[], end: "to" | "wishedTo"): (at: number) => boolean {
	let index = uncut.length - 1;
	return (at) => {
		while ((uncut[index]?.from ?? -1) >= at) index--;
		return at >= (uncut[index]?.[end] ?? 0);
	};
}

/** The index of the last entry that is not greater than `limit`. */
function lastUpTo(ascending: readonly number[], limit: number): number {
	let low = 0;
	let high = ascending.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}
