// Translates a person's query for the index. Only quotes ("a phrase") and a final star (pre*) are syntax; everything else, including AND,
// NOT, brackets and colons, is text. No input can cause an SQLite error.
import { KeryxError } from "../errors.ts";
import { foldBetween, searchable, type Word, wordsOf } from "./search-text.ts";

const MAX_LENGTH = 2000;
const MAX_WORDS = 200;

/** A word, or adjacent words. All groups of a query must match. */
export interface Group {
	readonly words: readonly string[];
	/** The last word may continue. */
	readonly prefix: boolean;
	/** The prefix is one character of a script without spaces: only that character is meant. */
	readonly single: boolean;
	/** Its words in a text that continues with another word. */
	readonly inside: readonly string[];
	/**
	 * What must be before, between and after the words, if more than a space: the index cannot tell `C++` from `C`, so the text is
	 * checked.
	 */
	readonly literal: readonly string[] | null;
}

/** Empty for a query without words. */
export function parseQuery(input: string): readonly Group[] {
	if (input.length > MAX_LENGTH)
		throw new KeryxError("argument.invalid", `query can have at most ${MAX_LENGTH} characters`, {
			field: "query",
		});
	const groups = new Map<string, Group>();
	let words = 0;
	for (const { 0: chunk, 1: phrase, 2: star } of searchable(input)
		.replace(/[“”„‟]/g, '"')
		.matchAll(/"([^"]*)"(\*)?|\S+/g)) {
		const group = phrase === undefined ? groupOfChunk(chunk) : groupOf(phrase.trim(), star !== undefined);
		if (!group) continue;
		words += group.words.length;
		groups.set(`${matchOf(group)} ${group.literal?.join("\n") ?? ""}`, group);
	}
	if (words > MAX_WORDS)
		throw new KeryxError("argument.invalid", `query can have at most ${MAX_WORDS} words`, {
			field: "query",
		});
	return [...groups.values()];
}

/** The index query, per engine. */
export interface Match {
	/** SQLite's MATCH. */
	readonly fts: string;
	/** PostgreSQL's words in any order, as a tsquery. */
	readonly tokens: string;
	/**
	 * What the words alone do not decide, as JSON: alternatives, each with its words (`q`) and literal text (`p`). Null: the words
	 * decide.
	 */
	readonly check: string | null;
}

/** Every group, and one of each set of tags. */
export function matchExpression(groups: readonly Group[], tags: readonly (readonly string[])[]): Match {
	const text = `text : (${groups.map(matchOf).join(" AND ")})`;
	const phrases = groups.filter(isPhrase).map(phraseOf);
	const tokens = [
		...groups.flatMap(tokensOf),
		...tags.map((one) => `(${one.map((word) => token(word)).join(" | ")})`),
	].join(" & ");
	return {
		fts: [text, ...tags.map((one) => `tags : (${one.map(quoted).join(" OR ")})`)].join(" AND "),
		tokens,
		check: phrases.length === 0 ? null : JSON.stringify([{ q: tokens, p: phrases }]),
	};
}

/** Rows that match either. */
export function anyOf(one: Match, other: Match): Match {
	const alternatives = ({ tokens, check }: Match): unknown[] =>
		check === null ? [{ q: tokens, p: [] }] : JSON.parse(check);
	return {
		fts: `(${one.fts}) OR (${other.fts})`,
		tokens: `(${one.tokens}) | (${other.tokens})`,
		check: JSON.stringify([...alternatives(one), ...alternatives(other)]),
	};
}

/** PostgreSQL keeps this many characters of a word; longer ones are searched in the text. */
const TOKEN_LENGTH = 500;

function isPhrase({ words }: Group): boolean {
	return words.length > 1 || words.some((word) => word.length > TOKEN_LENGTH);
}

/** Its words in a text of words, each surrounded by spaces. */
function phraseOf({ words, prefix }: Group): string {
	return ` ${words.join(" ")}${prefix ? "" : " "}`;
}

function tokensOf({ words, prefix }: Group): string[] {
	return words.map((word, n) => token(word, prefix && n === words.length - 1));
}

/** Words contain neither quotes nor backslashes; if one ever did, it would still be a word. */
function token(word: string, prefix = false): string {
	const kept = word.length > TOKEN_LENGTH ? Array.from(word).slice(0, TOKEN_LENGTH).join("") : word;
	return `'${kept.replaceAll("\\", "\\\\").replaceAll("'", "''")}'${prefix ? ":*" : ""}`;
}

/** The groups as one phrase, in the typed order; undefined if that makes no difference or is impossible. */
export function asPhrase(groups: readonly Group[]): Group | undefined {
	const last = groups.at(-1);
	const before = groups.slice(0, -1);
	if (!last || before.length === 0 || before.some((group) => group.prefix && !group.single)) return undefined;
	return { ...last, words: [...before.flatMap((group) => group.inside), ...last.words], literal: null };
}

/** A group whose last word is a prefix longer than the index supports is shortened; others are unchanged. */
export function shortened(group: Group): Group {
	const last = group.words.at(-1) as string;
	const letters = Array.from(last);
	if (!group.prefix || letters.length <= INDEXED_PREFIX) return group;
	return { ...group, words: [...group.words.slice(0, -1), letters.slice(0, INDEXED_PREFIX).join("")] };
}

const INDEXED_PREFIX = 3;

/** Punctuation and brackets around a word are not literal; `C++`, `100%`, `#1` and `.env` are. */
const BEFORE = /^[\p{Ps}\p{Pi}"'¿¡]+/u;
const AFTER = /[\p{Pe}\p{Pf}"',.;:!?…，。、！？；：]+$/u;

function groupOfChunk(chunk: string): Group | undefined {
	const opened = chunk.replace(BEFORE, "");
	const whole = opened.replace(/\*+$/, "");
	if (whole !== opened) return groupOf(whole, true);
	return groupOf(opened.replace(AFTER, ""), false);
}

function groupOf(text: string, star: boolean): Group | undefined {
	const found = wordsOf(text);
	const last = found.at(-1);
	if (!last) return undefined;
	const tail = foldBetween(text.slice(last.end));
	// The last character of a run is indexed alone only at the run's end; unless a sign follows it here, it may continue.
	const open = last.lone && tail === "";
	const paired = open && isPairOf(found.at(-2), last);
	const meant = paired ? found.slice(0, -1) : found;
	const single = open && !paired;
	return {
		words: meant.map(({ word }) => word),
		prefix: single || (star && tail === ""),
		single,
		inside: found.map(({ word }) => word),
		literal: literalOf(text, meant, tail),
	};
}

function isPairOf(before: Word | undefined, last: Word): boolean {
	return before !== undefined && before.end === last.end && before.start < last.start;
}

function literalOf(text: string, words: readonly Word[], tail: string): string[] | null {
	const literal: string[] = [];
	let at = 0;
	for (const { start, end } of words) {
		literal.push(foldBetween(text.slice(at, start)));
		at = end;
	}
	literal.push(tail);
	return literal.some((between) => between.trim() !== "") ? literal : null;
}

function matchOf({ words, prefix }: Group): string {
	return `${quoted(words.join(" "))}${prefix ? " *" : ""}`;
}

/** Words and tags contain no quotes. */
function quoted(words: string): string {
	return `"${words}"`;
}
