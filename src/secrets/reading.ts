// How a text is read when secrets are looked for: line breaks, marks on letters and invisible characters never count. Read loosely,
// neither does a line break that is written out (`\n`, as JSON has it), nor what indents the line after it, nor any backslash, so that
// it does not matter how often a text was escaped; nor do marks of Markdown and escape sequences of terminals, and a reference such as
// `&#45;` counts as its character. Read squeezed, white space does not count either: for secrets that hold some. All are needed: read
// loosely, a text loses the letter n after a backslash, which may be the first of a secret.
import type { Automaton } from "./automaton.ts";
import { type Folding, folded, type Manner, SKIPPED } from "./folding.ts";
import { LONGEST_REFERENCE, referenced } from "./references.ts";

const BELL = 7;
const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const ESCAPE = 27;
const SPACE = 32;
const SHARP = 35;
const AMPERSAND = 38;
const SEMICOLON = 59;
const BACKSLASH = 92;
const N = 110;
const R = 114;
const T = 116;
/** As one character for an escape and the bracket behind it. */
const CONTROL_SEQUENCE = 0x9b;
const SEQUENCES = new RegExp(`[\\\\&${String.fromCharCode(ESCAPE, CONTROL_SEQUENCE)}]`);
/** A sequence that is longer is none. */
const LONGEST_SEQUENCE = 256;

/** Of many backslashes the last ones: a text that was escaped often has no more, and each piece would be read again with all before it. */
export const MOST_BACKSLASHES = 1024;

/** What counts of a text: the same that a `Reader` passes on. */
export function readAs(manner: Manner, folding: Folding, text: string): string {
	let counts = "";
	const reader = new Reader(manner, folding, (unit) => {
		counts += String.fromCharCode(unit);
	});
	for (let at = 0; at < text.length; at++) reader.read(text.charCodeAt(at), at);
	reader.end();
	return counts;
}

/** Whether the loose reading of a text that needs no reader differs from the strict one. */
export function isReadTwice(text: string): boolean {
	return /[\r\n][ \t]|[*_~`]/.test(text);
}

/** Whether what a character counts as depends on those around it. */
export function needsReader(text: string): boolean {
	return SEQUENCES.test(text);
}

/** Passes on the characters that count, each with where it begins, backslashes before it included, and where it ends. */
export class Reader {
	readonly #isLoose: boolean;
	readonly #manner: Manner;
	readonly #folding: Folding;
	readonly #take: (unit: number, from: number, to: number) => void;
	/** Backslashes that came last: with the next character they may be a line break. */
	#backslashes = 0;
	#indents = false;
	/** The first half of a character of two units, with where it stands; or -1. */
	#high = -1;
	#highAt = 0;
	/** What may become a reference to a character, from its `&` on, and where that stands. */
	#reference = "";
	#referenceAt = 0;
	/** How far an escape sequence has come, and which kind it is. */
	#sequence: "none" | "begun" | "control" | "string" | "string ends" = "none";
	#sequenceLength = 0;
	#sequenceAt = 0;

	constructor(manner: Manner, folding: Folding, take: (unit: number, from: number, to: number) => void) {
		this.#manner = manner;
		this.#isLoose = manner !== "strict";
		this.#folding = folding;
		this.#take = take;
	}

	/** From here on nothing is decided, of a text that ends here. */
	openFrom(end: number): number {
		if (this.#sequence !== "none") return this.#sequenceAt;
		if (this.#reference !== "") return this.#referenceAt - this.#backslashes;
		return (this.#high >= 0 ? this.#highAt : end) - this.#backslashes;
	}

	read(unit: number, at: number): void {
		if (this.#sequence !== "none" && this.#isInSequence(unit)) return;
		if (this.#reference !== "" && this.#isInReference(unit, at)) return;
		if (this.#isLoose && unit === AMPERSAND) {
			this.#dropHigh();
			this.#reference = "&";
			this.#referenceAt = at;
		} else if (this.#isLoose && (unit === ESCAPE || unit === CONTROL_SEQUENCE)) {
			this.#sequence = unit === ESCAPE ? "begun" : "control";
			this.#sequenceLength = 0;
			this.#sequenceAt = at;
			this.#backslashes = 0;
		} else this.#plain(unit, at);
	}

	/** Nothing follows: what may have become something else counts as it stands. */
	end(): void {
		this.#dropReference();
		this.#dropHigh();
	}

	#plain(unit: number, at: number): void {
		const isWritten =
			this.#backslashes > 0 && (unit === N || unit === R || (unit === T && this.#manner === "squeezed"));
		if (unit === LINE_FEED || unit === RETURN || isWritten) {
			this.#backslashes = 0;
			this.#indents = this.#isLoose;
		} else if (this.#isLoose && unit === BACKSLASH)
			this.#backslashes = Math.min(this.#backslashes + 1, MOST_BACKSLASHES);
		else if (!(this.#indents && this.#backslashes === 0 && (unit === SPACE || unit === TAB)))
			this.#character(unit, at);
	}

	#character(unit: number, at: number): void {
		if (this.#folding.hasPairs && unit >= 0xd800 && unit < 0xe000) {
			if (unit < 0xdc00) {
				this.#dropHigh();
				this.#high = unit;
				this.#highAt = at;
				return;
			}
			if (this.#high >= 0) {
				const pair = String.fromCharCode(this.#high, unit);
				this.#high = -1;
				this.#count(folded(pair), this.#highAt, at + 1);
				return;
			}
		}
		this.#dropHigh();
		const several = this.#folding.several.get(unit);
		if (several !== undefined) this.#count(several, at, at + 1);
		else this.#one(unit, at, at + 1);
	}

	#count(units: string, from: number, to: number): void {
		for (let at = 0; at < units.length; at++) this.#one(units.charCodeAt(at), from, to);
	}

	#one(unit: number, from: number, to: number): void {
		const counts = this.#folding.units[unit] as number;
		const backslashes = this.#backslashes;
		this.#backslashes = 0;
		if (counts === SKIPPED) return;
		this.#take(counts, from - backslashes, to);
		this.#indents = false;
	}

	/** Half a character counts as it is. */
	#dropHigh(): void {
		const high = this.#high;
		this.#high = -1;
		if (high >= 0) this.#one(high, this.#highAt, this.#highAt + 1);
	}

	#isInReference(unit: number, at: number): boolean {
		if (unit === SEMICOLON) {
			const character = referenced(this.#reference);
			if (character !== undefined) {
				this.#reference = "";
				this.#count(folded(character), this.#referenceAt, at + 1);
				return true;
			}
		} else if (this.#reference.length < LONGEST_REFERENCE && isReferring(unit)) {
			this.#reference += String.fromCharCode(unit);
			return true;
		}
		this.#dropReference();
		return false;
	}

	#dropReference(): void {
		const units = this.#reference;
		this.#reference = "";
		for (let at = 0; at < units.length; at++) this.#plain(units.charCodeAt(at), this.#referenceAt + at);
	}

	/** False for what is no part of it. */
	#isInSequence(unit: number): boolean {
		const kind = this.#sequence;
		if (++this.#sequenceLength > LONGEST_SEQUENCE) this.#sequence = "none";
		else if (kind === "begun") this.#sequence = unit === 91 ? "control" : unit === 93 ? "string" : "none";
		else if (kind === "control") this.#sequence = unit >= SPACE && unit < 64 ? kind : "none";
		else if (unit === BELL || kind === "string ends") this.#sequence = "none";
		else this.#sequence = unit === ESCAPE ? "string ends" : "string";
		if (this.#sequence !== "none") return true;
		if (kind === "begun" || this.#sequenceLength > LONGEST_SEQUENCE) return false;
		return kind !== "control" || (unit >= 64 && unit < 127);
	}
}

function isReferring(unit: number): boolean {
	return (
		unit === SHARP || (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)
	);
}

/** A word that was found: from here to there, of the text from its beginning. */
export interface Found {
	readonly from: number;
	readonly to: number;
	readonly word: number;
}

/** Looks for words in a text that is read in one manner. */
export class Search {
	readonly #automaton: Automaton;
	readonly #lengths: readonly number[];
	readonly #reader: Reader;
	readonly #found: (found: Found) => void;
	/** The offsets of the last characters that counted, as many as the longest word has, over and over. */
	readonly #offsets: Float64Array;
	#count = 0;
	#state = 0;

	constructor(
		manner: Manner,
		folding: Folding,
		automaton: Automaton,
		/** The words that it knows. */
		words: readonly string[],
		found: (found: Found) => void,
	) {
		this.#automaton = automaton;
		this.#lengths = words.map(({ length }) => length);
		this.#offsets = new Float64Array(Math.max(1, ...this.#lengths));
		this.#found = found;
		this.#reader = new Reader(manner, folding, (unit, from, to) => this.#take(unit, from, to));
	}

	read(unit: number, at: number): void {
		this.#reader.read(unit, at);
	}

	/** Nothing follows. */
	end(): void {
		this.#reader.end();
	}

	/** Where something may begin that has not been found yet, of a text that ends here. */
	openFrom(end: number): number {
		const depth = this.#automaton.depth(this.#state);
		return depth > 0 ? this.#offset(depth) : this.#reader.openFrom(end);
	}

	#take(unit: number, from: number, to: number): void {
		this.#state = this.#automaton.next(this.#state, unit);
		this.#offsets[this.#count++ % this.#offsets.length] = from;
		const word = this.#automaton.end(this.#state);
		if (word >= 0) this.#found({ from: this.#offset(this.#lengths[word] as number), to, word });
	}

	/** Of the so-many-th character from the end. */
	#offset(back: number): number {
		return this.#offsets[(this.#count - back) % this.#offsets.length] as number;
	}
}
