// From what a person typed to what the index is asked. Only quotes ("a phrase") and a final star (pre*) are syntax; everything
// else, AND and NOT and brackets and colons, is text. Nothing typed here can be an error of SQLite's.
import { KeryxError } from "../errors.ts";
import { foldBetween, type Word, wordsOf } from "./search-text.ts";

const MAX_LENGTH = 2000;
const MAX_WORDS = 200;

/** A word, or words that must stand next to each other. All groups of a query must match. */
export interface Group {
	readonly words: readonly string[];
	/** The last word may go on. */
	readonly prefix: boolean;
	/** The prefix is one character of a script without spaces: where it is found, that character alone is meant. */
	readonly single: boolean;
	/** Its words as they stand in a text that goes on with another word after it. */
	readonly inside: readonly string[];
	/**
	 * What must stand before, between and after the words, where that is more than a space: the index cannot tell `C++` from
	 * `C`, so the text is asked.
	 */
	readonly literal: readonly string[] | null;
}

/** Empty for a query without any word. */
export function parseQuery(input: string): readonly Group[] {
	if (input.length > MAX_LENGTH)
		throw new KeryxError("argument.invalid", `query can have at most ${MAX_LENGTH} characters`, {
			field: "query",
		});
	const groups = new Map<string, Group>();
	let words = 0;
	for (const { 0: chunk, 1: phrase, 2: star } of input
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

/** What the index is asked, in the words of each engine. */
export interface Match {
	/** SQLite's MATCH. */
	readonly fts: string;
	/** PostgreSQL's words in any order, as a tsquery. */
	readonly tokens: string;
	/**
	 * What the words alone do not tell, as JSON: alternatives, each with its words (`q`) and what must stand in the text as it is (`p`).
	 * Null: the words tell all.
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

/** PostgreSQL keeps so many characters of a word; longer ones are looked for in the text. */
const TOKEN_LENGTH = 500;

function isPhrase({ words }: Group): boolean {
	return words.length > 1 || words.some((word) => word.length > TOKEN_LENGTH);
}

/** Its words as they stand in a text of words with a space before and after each. */
function phraseOf({ words, prefix }: Group): string {
	return ` ${words.join(" ")}${prefix ? "" : " "}`;
}

function tokensOf({ words, prefix }: Group): string[] {
	return words.map((word, n) => token(word, prefix && n === words.length - 1));
}

/** Words hold neither quotes nor backslashes; were one ever to, it would be a word still. */
function token(word: string, prefix = false): string {
	const kept = word.length > TOKEN_LENGTH ? Array.from(word).slice(0, TOKEN_LENGTH).join("") : word;
	return `'${kept.replaceAll("\\", "\\\\").replaceAll("'", "''")}'${prefix ? ":*" : ""}`;
}

/** The groups as one phrase, in the order they were typed; undefined where that is no different or cannot be said. */
export function asPhrase(groups: readonly Group[]): Group | undefined {
	const last = groups.at(-1);
	const before = groups.slice(0, -1);
	if (!last || before.length === 0 || before.some((group) => group.prefix && !group.single)) return undefined;
	return { ...last, words: [...before.flatMap((group) => group.inside), ...last.words], literal: null };
}

/** A group whose last word is a prefix longer than the index has of its own, by the letters that it has; any other as it is. */
export function shortened(group: Group): Group {
	const last = group.words.at(-1) as string;
	const letters = Array.from(last);
	if (!group.prefix || letters.length <= INDEXED_PREFIX) return group;
	return { ...group, words: [...group.words.slice(0, -1), letters.slice(0, INDEXED_PREFIX).join("")] };
}

const INDEXED_PREFIX = 3;

/** Sentence marks and brackets around a word are not meant literally; `C++`, `100%`, `#1` and `.env` are. */
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
	// The last character of a run stands alone only where the run ends; unless a sign follows it here, it may go on.
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

/** Words and tags hold no quotes. */
function quoted(words: string): string {
	return `"${words}"`;
}
