// Finds the groups of a query in a text: for the literal check, the score and the marks.
import type { Group } from "./search-query.ts";
import { foldBetween, foldSigns, searchable, type Word, wordsOf } from "./search-text.ts";

export interface Occurrence {
	/** The group, and its first and last word in the text. */
	readonly group: number;
	readonly first: number;
	readonly last: number;
	/** What is marked. */
	readonly start: number;
	readonly end: number;
}

export interface Matches {
	readonly words: number;
	/** In order of the text. */
	readonly occurrences: readonly Occurrence[];
}

export function matchesIn(given: string, groups: readonly Group[]): Matches {
	const text = searchable(given);
	const words = wordsOf(text);
	const starts = new Map<string, { readonly group: Group; readonly index: number }[]>();
	const prefixes: { readonly group: Group; readonly index: number }[] = [];
	for (const [index, group] of groups.entries()) {
		const first = group.words[0] as string;
		if (group.prefix && group.words.length === 1) prefixes.push({ group, index });
		else starts.set(first, [...(starts.get(first) ?? []), { group, index }]);
	}
	const occurrences: Occurrence[] = [];
	for (const [at, { word }] of words.entries()) {
		const begun = starts.get(word) ?? NONE;
		for (const { group, index } of prefixes.length > 0 ? [...begun, ...prefixes] : begun) {
			const occurrence = occurrenceAt(text, words, at, group, index);
			if (occurrence) occurrences.push(occurrence);
		}
	}
	return { words: words.length, occurrences };
}

/** The matches in the first part of a text that has any: enough for a snippet, however long the text. */
export function firstMatchesIn(given: string, groups: readonly Group[]): Matches {
	// Before it is split: half of a secret's name would not be recognised.
	const text = searchable(given);
	if (text.length <= STRETCH) return matchesIn(text, groups);
	for (let from = 0; from < text.length; from += STRETCH - OVERLAP) {
		const { words, occurrences } = matchesIn(text.slice(from, from + STRETCH), groups);
		if (occurrences.length === 0) continue;
		const moved = occurrences.map((one) => ({ ...one, start: one.start + from, end: one.end + from }));
		return { words, occurrences: moved };
	}
	return { words: 0, occurrences: [] };
}

const STRETCH = 32_768;
const OVERLAP = 1024;
const NONE: readonly never[] = [];

function occurrenceAt(
	text: string,
	words: readonly Word[],
	at: number,
	group: Group,
	index: number,
): Occurrence | undefined {
	const last = at + group.words.length - 1;
	for (const [n, wanted] of group.words.entries()) {
		const word = words[at + n]?.word;
		const fits = group.prefix && at + n === last ? word?.startsWith(wanted) : word === wanted;
		if (!fits) return undefined;
	}
	const start = (words[at] as Word).start;
	const { end, head } = words[last] as Word;
	const span = { group: index, first: at, last, start, end: group.single ? head : end };
	if (!group.literal) return span;
	return isLiteral(text, words, at, group.literal) ? withSigns(text, words, span, group.literal) : undefined;
}

function isLiteral(text: string, words: readonly Word[], at: number, literal: readonly string[]): boolean {
	return literal.every((wanted, n) => {
		const from = words[at + n - 1]?.end ?? 0;
		const to = words[at + n]?.start ?? text.length;
		const between = foldBetween(text.slice(from, to));
		if (n === 0) return between.endsWith(wanted);
		return n === literal.length - 1 ? between.startsWith(wanted) : between === wanted;
	});
}

/** Adjacent signs belong to a match: `C++` is marked whole. */
function withSigns(
	text: string,
	words: readonly Word[],
	span: Occurrence,
	literal: readonly string[],
): Occurrence {
	const before = words[span.first - 1]?.end ?? 0;
	const after = words[span.last + 1]?.start ?? text.length;
	return {
		...span,
		start: Math.max(before, span.start - (literal[0] as string).length),
		end: Math.min(after, span.end + (literal.at(-1) as string).length),
	};
}

/** Whether every group is in the text. */
export function holdsAll(given: string, groups: readonly Group[]): boolean {
	const text = searchable(given);
	if (!mayHoldAll(text, groups)) return false;
	const found = new Set(matchesIn(text, groups).occurrences.map(({ group }) => group));
	return found.size === groups.length;
}

/** A quick check: most non-matches lack the signs, or in plain text the letters. */
function mayHoldAll(text: string, groups: readonly Group[]): boolean {
	const signs = groups.flatMap(({ literal }) => literal ?? []).filter((between) => PLAIN_SIGNS.test(between));
	if (NOT_PLAIN.test(text)) {
		// Splitting such a text into words takes ten times as long.
		const unfolded = signs.length > 0 ? foldSigns(text) : "";
		return signs.every((between) => unfolded.includes(between));
	}
	const folded = text.toLowerCase();
	return (
		signs.every((between) => text.includes(between)) &&
		groups.every(({ words }) => folded.includes(words.at(-1) as string))
	);
}

/** Signs that every plain text with all of these groups has, also as JSON; null: there are none. */
export function plainSign(groups: readonly Group[]): string | null {
	const signs = groups.flatMap(({ literal }) => literal ?? []);
	return signs.find((between) => PLAIN_SIGNS.test(between) && !ESCAPED_SIGNS.test(between)) ?? null;
}

const PLAIN_SIGNS = /^[!-~]+$/;
const ESCAPED_SIGNS = /["\\]/;
const NOT_PLAIN = /[^\0-\x7f]/;

/** Term frequency, damped and relative to the text's length, from 0 to 1. */
export function frequencyOf({ words, occurrences }: Matches, groups: number): number {
	const counts = new Array<number>(groups).fill(0);
	for (const { group } of occurrences) counts[group] = (counts[group] as number) + 1;
	const damping = 1.2 * (0.25 + (0.75 * words) / USUAL_WORDS);
	return counts.reduce((sum, count) => sum + count / (count + damping), 0) / groups;
}

const USUAL_WORDS = 80;

/** How close the groups are at best: 1 if adjacent, towards 0 if far apart. */
export function closenessOf({ occurrences }: Matches, groups: readonly Group[]): number {
	const total = groups.reduce((sum, group) => sum + group.words.length, 0);
	const latest = new Map<number, Occurrence>();
	let best = Number.POSITIVE_INFINITY;
	for (const occurrence of occurrences) {
		latest.set(occurrence.group, occurrence);
		if (latest.size < groups.length) continue;
		let first = occurrence.first;
		let last = occurrence.last;
		for (const one of latest.values()) {
			first = Math.min(first, one.first);
			last = Math.max(last, one.last);
		}
		best = Math.min(best, last - first + 1);
	}
	return Math.min(1, total / best);
}
