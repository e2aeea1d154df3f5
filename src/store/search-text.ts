// The content of the search index, and its words. The index and a snippet's marks use the same words, because both come from here;
// SQLite's tokenizer leaves them unchanged (a test compares the two).
import { SECRET_NAME } from "../domain/index.ts";

export interface Word {
	/** As indexed: case, diacritics and compatibility forms folded. */
	readonly word: string;
	/** Its position in the text. */
	readonly start: number;
	readonly end: number;
	/** The end of its first character: before `end` only for pairs. */
	readonly head: number;
	/** The last character of a run without spaces, which is indexed alone after its pairs. */
	readonly lone: boolean;
}

/** Starts every tag and is in no word: a private-use character that words exclude. */
const TAG = "\ue000";

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[A-Za-z0-9]+/g;

/** Scripts without spaces between words; and Hangul, which attaches particles. */
const UNSPACED = String.raw`[[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]&&[\p{L}\p{N}\p{M}]]--[\u0300-\u036f]]`;
const SPACED = String.raw`[[\p{L}\p{N}\p{M}\p{Co}]--[\ue000${UNSPACED}]]`;
const JOINERS = String.raw`[\xad\u200c\u200d\u2060]`;
const KEYCAP = String.raw`[0-9#*]\ufe0f?\u20e3`;
const FLAG = String.raw`[\u{1f1e6}-\u{1f1ff}]{2}`;
const SIGN = String.raw`[\p{So}\p{Extended_Pictographic}]`;
const WORDS = new RegExp(
	`(${KEYCAP}|${FLAG}|${SIGN})|(${UNSPACED}+)|(?:${SPACED}|${JOINERS}(?=${SPACED}))+`,
	"gv",
);
const WHOLE = new RegExp(`^(?:[a-z0-9]+|${SPACED}+)$`, "v");

/** One written character of a run: a syllable's parts, or a letter with its marks. */
const CHARACTER =
	/[\u1100-\u115f\ua960-\ua97c]+[\u1160-\u11a7\ud7b0-\ud7c6]+[\u11a8-\u11ff\ud7cb-\ud7fb]*|\P{M}[\p{M}\uff9e\uff9f]*|\p{M}+/gu;

const WORD_POINT = /^[\p{L}\p{N}\p{M}]$/u;

/** Marks that a person may omit when searching. Vowel signs of Indic and South East Asian scripts are not among them. */
const DIACRITICS = new RegExp(
	[
		// Latin, Greek, Cyrillic; but й is not и.
		String.raw`[\u0300-\u0305\u0307-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]|(?<![\u0418\u0438])\u0306`,
		// Hebrew, Arabic.
		String.raw`[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]`,
		String.raw`[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]`,
		// Variation selectors, and invisible characters inside a word.
		String.raw`[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|${JOINERS}`,
	].join("|"),
	"gu",
);

/**
 * The text that is searched, of the same length: without names of secrets, which nobody may find by guessing (I12). It is all that the index,
 * the comparisons and the marks ever see.
 */
export function searchable(text: string): string {
	return text.includes("secret:") ? text.replace(SECRET_NAME, ({ length }) => " ".repeat(length)) : text;
}

/** Text as indexed: `Tōkyō 東京都` becomes `tokyo 東京 京都 都`. Plain ASCII is left to SQLite, which splits it the same way. */
export function searchText(given: string): string {
	const text = searchable(given);
	if (ASCII.test(text)) return text;
	return wordsOf(text)
		.map(({ word }) => word)
		.join(" ");
}

/** The words of a text, in order; runs of scripts without spaces as overlapping pairs, then their last character alone. */
export function wordsOf(text: string): Word[] {
	const words: Word[] = [];
	if (ASCII.test(text)) {
		for (const { 0: word, index } of text.matchAll(ASCII_WORD))
			pushWord(words, word.toLowerCase(), index, index + word.length);
		return words;
	}
	for (const { 0: found, 1: sign, 2: run, index } of text.matchAll(WORDS)) {
		const end = index + found.length;
		if (sign !== undefined) pushWord(words, signWord(sign), index, end);
		else if (run !== undefined) pushPairs(words, run, index);
		else pushFolded(words, found, index, end);
	}
	return words;
}

/** Text between words, for literal comparison: all quotes and dashes are unified, white space is a space. */
export function foldBetween(text: string): string {
	if (text === "" || text === " ") return text;
	return unified(text.normalize("NFKC")).replace(/\s+/g, " ");
}

/** A whole text with every ASCII sign that its parts have after `foldBetween`. Decomposed: no mark absorbs a sign. */
export function foldSigns(text: string): string {
	return unified(text.normalize("NFKD"));
}

function unified(text: string): string {
	return text
		.replace(/[\ufe00-\ufe0f\xad\u2060]/g, "")
		.replace(/[\u2018\u2019\u201b]/g, "'")
		.replace(/[\u201c-\u201f\xab\xbb]/g, '"')
		.replace(/[\u2010-\u2015\u2212]/g, "-");
}

function pushWord(words: Word[], word: string, start: number, end: number): void {
	words.push({ word, start, end, head: end, lone: false });
}

/** Folding can split a word (`½` becomes 1 and 2) or leave nothing. */
function pushFolded(words: Word[], found: string, start: number, end: number): void {
	const plain = fold(found);
	if (WHOLE.test(plain)) pushWord(words, plain, start, end);
	else for (const { 0: word } of plain.matchAll(WORDS)) pushWord(words, word, start, end);
}

function pushPairs(words: Word[], run: string, offset: number): void {
	const points: { point: string; start: number; end: number }[] = [];
	for (const { 0: character, index } of run.matchAll(CHARACTER)) {
		const start = offset + index;
		// Folding can add signs (`㈠` becomes `(一)`), which split words.
		for (const point of fold(character))
			if (WORD_POINT.test(point)) points.push({ point, start, end: start + character.length });
	}
	for (const [index, { point, start, end }] of points.entries()) {
		const next = points[index + 1];
		words.push({
			word: point + (next?.point ?? ""),
			start,
			end: next?.end ?? end,
			head: end,
			lone: next === undefined,
		});
	}
}

/** A sign as a separate word that SQLite does not split: moved from the first two planes to the private ones. */
function signWord(sign: string): string {
	let word = "";
	for (const point of sign.replace(/[\ufe0f\u20e3]/g, ""))
		word += String.fromCodePoint(0xf0000 + ((point.codePointAt(0) as number) & 0x1ffff));
	return word;
}

/** Frequent words are folded once; long ones are rare. */
const folded = new Map<string, string>();
const FOLDED_KEPT = 20_000;
const FOLDED_LENGTH = 24;

function fold(text: string): string {
	if (ASCII.test(text)) return text.toLowerCase();
	const known = folded.get(text);
	if (known !== undefined) return known;
	const result = text
		.normalize("NFKD")
		.replace(DIACRITICS, "")
		.toLowerCase()
		.replaceAll("ς", "σ")
		.normalize("NFC");
	if (text.length > FOLDED_LENGTH) return result;
	if (folded.size === FOLDED_KEPT) folded.clear();
	folded.set(text, result);
	return result;
}

export interface Tagged {
	readonly conversation: string;
	readonly principal: string | null;
	readonly profile: string;
	readonly platform: string;
	readonly role: string;
}

/** The tags of a row: one word each, distinguished by a letter. */
export function searchTags(tagged: Tagged): string {
	return [
		tag("c", tagged.conversation),
		tagged.principal === null ? "" : tag("o", tagged.principal),
		tag("f", tagged.profile),
		tag("p", tagged.platform),
		tag("r", tagged.role),
	].join(" ");
}

const PLAIN = /^[a-z0-9]*$/;

/** Two names never give the same tag: scopes rely on it. */
export function tag(kind: "c" | "o" | "f" | "p" | "r", name: string): string {
	if (PLAIN.test(name)) return TAG + kind + name;
	const plain = name.replace(/[^a-z0-9]/g, (unit) => `${TAG}${unit.charCodeAt(0).toString(16)}${TAG}`);
	return TAG + kind + plain;
}
