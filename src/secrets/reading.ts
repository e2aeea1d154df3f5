// How a text is read when secrets are looked for: line breaks between two characters never count. Read loosely, neither does a line
// break that is written out (`\n`, as JSON has it), nor what indents the line after it, nor any backslash, so that it does not matter
// how often a text was escaped. Both readings are needed: read loosely, a text loses the letter n after a backslash, which may be the
// first of a secret.
import type { Automaton } from "./automaton.ts";

export type Manner = "strict" | "loose";

const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const BACKSLASH = 92;
const N = 110;
const R = 114;

/** What counts of a text: the same that a `Reader` passes on. */
export function readAs(manner: Manner, text: string): string {
	if (manner === "strict") return text.replace(/[\r\n]+/g, "");
	return text.replace(/(?:\\*[\r\n]|\\+[nr])[ \t]*|\\+/g, "");
}

/** Whether the two readings of a text differ. */
export function isReadTwice(text: string): boolean {
	return /[\r\n][ \t]|\\/.test(text);
}

/** Passes on the characters that count, each with where it begins, backslashes before it included. */
export class Reader {
	readonly #isLoose: boolean;
	readonly #take: (unit: number, at: number) => void;
	/** Backslashes that came last: with the next character they may be a line break. */
	#backslashes = 0;
	#indents = false;

	constructor(manner: Manner, take: (unit: number, at: number) => void) {
		this.#isLoose = manner === "loose";
		this.#take = take;
	}

	/** So many characters that came last belong to the next one. */
	get undecided(): number {
		return this.#backslashes;
	}

	read(unit: number, at: number): void {
		const isWritten = this.#backslashes > 0 && (unit === N || unit === R);
		if (unit === LINE_FEED || unit === RETURN || isWritten) {
			this.#backslashes = 0;
			this.#indents = this.#isLoose;
		} else if (this.#isLoose && unit === BACKSLASH) this.#backslashes++;
		else if (!(this.#indents && this.#backslashes === 0 && (unit === SPACE || unit === TAB))) {
			this.#take(unit, at - this.#backslashes);
			this.#backslashes = 0;
			this.#indents = false;
		}
	}
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
	/** The places of the last characters that counted, as many as the longest word has, over and over. */
	readonly #places: Float64Array;
	#count = 0;
	#state = 0;
	#at = 0;

	constructor(
		manner: Manner,
		automaton: Automaton,
		/** The words that it knows. */
		words: readonly string[],
		found: (found: Found) => void,
	) {
		this.#automaton = automaton;
		this.#lengths = words.map(({ length }) => length);
		this.#places = new Float64Array(Math.max(1, ...this.#lengths));
		this.#found = found;
		this.#reader = new Reader(manner, (unit, at) => this.#take(unit, at));
	}

	read(unit: number, at: number): void {
		this.#at = at;
		this.#reader.read(unit, at);
	}

	/** Where something may begin that has not been found yet, of a text that ends here. */
	openFrom(end: number): number {
		const depth = this.#automaton.depth(this.#state);
		return depth > 0 ? this.#place(depth) : end - this.#reader.undecided;
	}

	#take(unit: number, from: number): void {
		this.#state = this.#automaton.next(this.#state, unit);
		this.#places[this.#count++ % this.#places.length] = from;
		const word = this.#automaton.end(this.#state);
		if (word >= 0) this.#found({ from: this.#place(this.#lengths[word] as number), to: this.#at + 1, word });
	}

	/** Of the so-many-th character from the end. */
	#place(back: number): number {
		return this.#places[(this.#count - back) % this.#places.length] as number;
	}
}
