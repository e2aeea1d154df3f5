// A snippet around a match. The text stays plain data, in pieces that say whether they are marked: nothing in it can become markup on a
// page, or an escape sequence or line break in a terminal.
import { firstOf, nameAround, secretNamesIn } from "../domain/index.ts";
import type { Matches, Occurrence } from "./search-match.ts";

export interface SnippetPiece {
	readonly text: string;
	readonly marked: boolean;
}

const SNIPPET_LENGTH = 200;
/** At most this much before the first mark. */
const LEAD = 60;
const PREVIEW_LENGTH = 120;

/** Names of secrets are whole, so that whoever passes the snippet on can hide them (I12). They are no matches. */
export function snippetOf(text: string, { occurrences }: Matches): readonly SnippetPiece[] {
	const kept = secretNamesIn(text);
	const start = startOf(text, occurrences);
	const from = nameAround(kept, start)?.to ?? start;
	const end = cutAfter(text, from);
	const cut = nameAround(kept, end);
	// The start of a longer name than a snippet is still recognised.
	const to = cut && cut.from > from ? cut.from : end;
	const pieces: { text: string; marked: boolean }[] = [];
	let at = from;
	const add = (end: number, marked: boolean): void => {
		const shown = inert(text.slice(at, end));
		const last = pieces.at(-1);
		if (shown !== "" && last?.marked === marked) last.text += shown;
		else if (shown !== "") pieces.push({ text: shown, marked });
		at = Math.max(at, end);
	};
	if (from > 0) pieces.push({ text: "…", marked: false });
	for (const { start, end } of occurrences) {
		if (end <= at || start >= to) continue;
		add(Math.max(at, start), false);
		add(Math.min(end, to), true);
	}
	add(to, false);
	if (to < text.length) pieces.push({ text: "…", marked: false });
	return pieces;
}

/** The start of a text, on one line. */
export function previewOf(text: string): string {
	const head = inert(firstOf(text, PREVIEW_LENGTH * 4)).trim();
	const points = Array.from(head);
	if (points.length <= PREVIEW_LENGTH) return head;
	return `${firstOf(head, points.slice(0, PREVIEW_LENGTH - 1).join("").length)}…`;
}

/** The first place that shows the most different groups at once. */
function startOf(text: string, occurrences: readonly Occurrence[]): number {
	let best = 0;
	let most = 0;
	for (const [index, { start }] of occurrences.slice(0, LOOKED_AT).entries()) {
		const seen = new Set<number>();
		for (const { group, end } of occurrences.slice(index, index + WITHIN))
			if (end <= start + SNIPPET_LENGTH - LEAD) seen.add(group);
		if (seen.size <= most) continue;
		most = seen.size;
		best = start;
	}
	return cutBefore(text, best);
}

const LOOKED_AT = 500;
/** About as many marks as fit in one snippet: looking further changes little. */
const WITHIN = 40;

/** A place to start: the text's start if near, else a space, else between two characters. */
function cutBefore(text: string, mark: number): number {
	if (mark <= LEAD) return 0;
	const from = mark - LEAD;
	const space = text.slice(from, mark).search(/\s/);
	return space >= 0 ? from + space + 1 : betweenCharacters(text, from);
}

function cutAfter(text: string, from: number): number {
	const to = from + SNIPPET_LENGTH;
	if (to >= text.length) return text.length;
	const space = text.slice(from, to).search(/\s\S*$/);
	return space > SNIPPET_LENGTH / 2 ? from + space : betweenCharacters(text, to);
}

function betweenCharacters(text: string, at: number): number {
	return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

/** Control characters become spaces, direction changes are removed; joiners stay, because emoji and many scripts need them. */
function inert(text: string): string {
	return text
		.toWellFormed()
		.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
		.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0001}]/gu, "");
}
