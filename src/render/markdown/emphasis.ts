// Emphasis: which runs of `*`, `_` and `~~` open and close what. The work is linear in the number of runs, since
// a search that found no opener is not made again below the place where it ended.
import type { Inline, Style } from "./ast.ts";

/** A run of marker characters, in a linked list of the runs that can still match. */
export interface Delimiter {
	readonly kind: "delimiter";
	readonly char: string;
	readonly position: number;
	readonly whole: number;
	readonly canOpen: boolean;
	readonly canClose: boolean;
	length: number;
	readonly closes: Style[];
	/** Innermost first, as they are found. */
	readonly opens: Style[];
	previous: Delimiter | undefined;
	next: Delimiter | undefined;
}

export interface DelimiterList {
	first: Delimiter | undefined;
	last: Delimiter | undefined;
}

export function delimiter(text: string, from: number, to: number, position: number): Delimiter {
	const char = text.charAt(from);
	const before = classAt(text, from - 1, -1);
	const after = classAt(text, to, 1);
	const left = after !== "space" && (after === "word" || before !== "word");
	const right = before !== "space" && (before === "word" || after !== "word");
	const intraword = char === "_";
	return {
		kind: "delimiter",
		char,
		position,
		whole: to - from,
		length: to - from,
		canOpen: left && (!intraword || !right || before === "punctuation"),
		canClose: right && (!intraword || !left || after === "punctuation"),
		closes: [],
		opens: [],
		previous: undefined,
		next: undefined,
	};
}

export function append(list: DelimiterList, added: Delimiter): void {
	added.previous = list.last;
	if (list.last) list.last.next = added;
	else list.first = added;
	list.last = added;
}

/** Matches every run after `bottom` and takes those runs off the list. */
export function matchEmphasis(list: DelimiterList, bottom: Delimiter | undefined): void {
	const floors = new Map<string, number>();
	let closer = bottom ? bottom.next : list.first;
	while (closer) {
		if (!closer.canClose) {
			closer = closer.next;
			continue;
		}
		const kind = `${closer.char}${closer.canOpen ? 1 : 0}${closer.whole % 3}`;
		const opener = openerFor(closer, bottom, floors.get(kind) ?? -1);
		if (!opener) {
			floors.set(kind, closer.previous?.position ?? -1);
			const next: Delimiter | undefined = closer.next;
			if (!closer.canOpen) remove(list, closer);
			closer = next;
			continue;
		}
		const used = closer.length >= 2 && opener.length >= 2 ? 2 : 1;
		const style = closer.char === "~" ? "strike" : used === 2 ? "bold" : "italic";
		opener.opens.push(style);
		closer.closes.push(style);
		opener.length -= used;
		closer.length -= used;
		opener.next = closer;
		closer.previous = opener;
		if (opener.length === 0) remove(list, opener);
		if (closer.length > 0) continue;
		const next: Delimiter | undefined = closer.next;
		remove(list, closer);
		closer = next;
	}
	list.last = bottom;
	if (bottom) bottom.next = undefined;
	else list.first = undefined;
}

/** The tokens of a run: what it closes, the remaining text, what it opens. */
export function meaningOf(run: Delimiter): Inline[] {
	return [
		...run.closes.map((style): Inline => ({ kind: "close", style })),
		...(run.length > 0 ? [{ kind: "text", value: run.char.repeat(run.length) } as const] : []),
		...run.opens.toReversed().map((style): Inline => ({ kind: "open", style })),
	];
}

function openerFor(closer: Delimiter, bottom: Delimiter | undefined, floor: number): Delimiter | undefined {
	let opener = closer.previous;
	while (opener && opener !== bottom && opener.position > floor) {
		if (opener.char === closer.char && opener.canOpen && !clashes(opener, closer)) return opener;
		opener = opener.previous;
	}
	return undefined;
}

/** CommonMark's rule of three: a run that could do both does not match one whose length adds up to a multiple of 3. */
function clashes(opener: Delimiter, closer: Delimiter): boolean {
	if (closer.char === "~" || !(closer.canOpen || opener.canClose)) return false;
	return (opener.whole + closer.whole) % 3 === 0 && (opener.whole % 3 !== 0 || closer.whole % 3 !== 0);
}

function remove(list: DelimiterList, gone: Delimiter): void {
	if (gone.previous) gone.previous.next = gone.next;
	else list.first = gone.next;
	if (gone.next) gone.next.previous = gone.previous;
	else list.last = gone.previous;
}

function classAt(text: string, at: number, direction: 1 | -1): "space" | "punctuation" | "word" {
	const code = text.charCodeAt(at);
	if (Number.isNaN(code)) return "space";
	if ((code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a))
		return "word";
	const isPair = code >= 0xd800 && code <= 0xdfff;
	const from = isPair && direction < 0 ? Math.max(0, at - 1) : at;
	const char = isPair ? text.slice(from, from + 2) : text.charAt(at);
	if (/^\s/u.test(char)) return "space";
	return /^[\p{P}\p{S}]/u.test(char) ? "punctuation" : "word";
}
