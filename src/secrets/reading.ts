// How a text is read when searching for secrets. Line breaks, marks on letters and invisible characters never count. The loose reading
// also ignores written-out line breaks (`\n`, as in JSON), the indentation after them, and all backslashes, so that
// repeated escaping does not matter. It ignores Markdown's marks and terminal escape sequences, and reads a reference such as
// `&#45;` as its character. The squeezed reading also ignores white space, for secrets that contain some. All are needed: the
// loose reading drops the letter n after a backslash, which may be the first letter of a secret.
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
/** One character for an escape and the bracket after it. */
const CONTROL_SEQUENCE = 0x9b;
const SEQUENCES = new RegExp(`[\\\\&${String.fromCharCode(ESCAPE, CONTROL_SEQUENCE)}]`);
/** A longer sequence does not count as one. */
const LONGEST_SEQUENCE = 256;

/** Of many backslashes, only the last count: no text is escaped more often, and each piece would be read again with all of them. */
export const MOST_BACKSLASHES = 1024;

/** The characters of a text that count, the same as a `Reader` passes on. */
export function readAs(manner: Manner, folding: Folding, text: string): string {
	let counts = "";
	const reader = new Reader(manner, folding, (unit) => {
		counts += String.fromCharCode(unit);
	});
	for (let at = 0; at < text.length; at++) reader.read(text.charCodeAt(at), at);
	reader.end();
	return counts;
}

/** Whether the loose and the strict reading of a text that needs no reader differ. */
export function isReadTwice(text: string): boolean {
	return /[\r\n][ \t]|[*_~`]/.test(text);
}

/** Whether a character's meaning depends on its neighbours. */
export function needsReader(text: string): boolean {
	return SEQUENCES.test(text);
}

/** Passes on the characters that count, each with its start (including backslashes before it) and end. */
export class Reader {
	readonly #isLoose: boolean;
	readonly #manner: Manner;
	readonly #folding: Folding;
	readonly #take: (unit: number, from: number, to: number) => void;
	/** The last backslashes: with the next character they may be a line break. */
	#backslashes = 0;
	#indents = false;
	/** The first half of a surrogate pair, with its position; or -1. */
	#high = -1;
	#highAt = 0;
	/** A possible character reference, from its `&` on, and its position. */
	#reference = "";
	#referenceAt = 0;
	/** How far an escape sequence has come, and its kind. */
	#sequence: "none" | "begun" | "control" | "string" | "string ends" = "none";
	#sequenceLength = 0;
	#sequenceAt = 0;

	constructor(manner: Manner, folding: Folding, take: (unit: number, from: number, to: number) => void) {
		this.#manner = manner;
		this.#isLoose = manner !== "strict";
		this.#folding = folding;
		this.#take = take;
	}

	/** From here on everything is undecided, if the text ends here. */
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

	/** The text has ended: unfinished sequences count as written. */
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

	/** Half a character counts as itself. */
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

	/** False: not part of it. */
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

/** A found word: its range in the whole text. */
export interface Found {
	readonly from: number;
	readonly to: number;
	readonly word: number;
}

/** Searches for words in one reading of a text. */
export class Search {
	readonly #automaton: Automaton;
	readonly #lengths: readonly number[];
	readonly #reader: Reader;
	readonly #found: (found: Found) => void;
	/** The offsets of the last counted characters, as many as the longest word has, in a ring. */
	readonly #offsets: Float64Array;
	#count = 0;
	#state = 0;

	constructor(
		manner: Manner,
		folding: Folding,
		automaton: Automaton,
		/** The words to find. */
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

	/** The text has ended. */
	end(): void {
		this.#reader.end();
	}

	/** Where an undecided word may start, if the text ends here. */
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

	/** The nth character from the end. */
	#offset(back: number): number {
		return this.#offsets[(this.#count - back) % this.#offsets.length] as number;
	}
}
