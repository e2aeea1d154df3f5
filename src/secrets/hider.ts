// Hides known secrets in texts, streamed texts and bytes (I12). The replacement depends on the reader: the owner sees the name, everyone
// else only that something was there.
import { MOST_BACKSLASHES } from "./reading.ts";
import { latin, nameOf, type Stretch, type Words } from "./words.ts";

/**
 * Replaces a secret whose name would reveal too much. A model may repeat it in a command or as the name of a file: for a shell it is no
 * pattern, in Markdown no mark.
 */
export const HIDDEN = "•••";

/** The reader of the hidden text. */
export type Audience = "owner" | "others";

export function hideText(words: Words, text: string, audience: Audience): string {
	if (!words.isIn(text)) return text;
	const stream = new HidingStream(() => words, audience);
	return stream.push(text) + stream.end();
}

/** The length of the longest secret in it, in characters; 0: none. Names do not count. */
export function longestIn(words: Words, text: string): number {
	return Math.max(0, ...stretchesIn(words, text).map(({ word }) => (word.isName ? 0 : word.length)));
}

function stretchesIn(words: Words, text: string): readonly Stretch[] {
	if (!words.isIn(text)) return [];
	const search = words.search();
	search.read(text);
	search.end();
	return search.takeUpTo(text.length);
}

/**
 * Hides in streamed text, as if it had come whole. Returned text is final; only an end that may still become a
 * secret is held back.
 */
export class HidingStream {
	readonly #current: () => Words;
	readonly #audience: Audience;
	#words: Words;
	#search: ReturnType<Words["search"]>;
	/** The held text, and where it starts. */
	#held = "";
	#from = 0;

	/** `current`: the secrets known at that moment; more may be added. */
	constructor(current: () => Words, audience: Audience) {
		this.#current = current;
		this.#audience = audience;
		this.#words = current();
		this.#search = this.#words.search();
	}

	push(text: string): string {
		const words = this.#current();
		if (words !== this.#words) {
			this.#words = words;
			this.#search = words.search();
			this.#search.read(this.#held);
			this.#from = 0;
		}
		this.#search.read(text);
		this.#held += text;
		return this.#release(this.#search.settledTo);
	}

	/** The held rest. */
	end(): string {
		this.#search.end();
		return this.#release(this.#from + this.#held.length);
	}

	#release(to: number): string {
		let released = "";
		let at = this.#from;
		for (const stretch of this.#search.takeUpTo(to)) {
			released += this.#held.slice(at - this.#from, stretch.from - this.#from) + this.#shown(stretch);
			at = stretch.to;
		}
		released += this.#held.slice(at - this.#from, to - this.#from);
		this.#held = this.#held.slice(to - this.#from);
		this.#from = to;
		return released;
	}

	#shown({ word }: Stretch): string {
		return this.#audience === "owner" ? nameOf(word.name) : HIDDEN;
	}
}

/** Bytes keep their count and their lines, so that their container stays valid. */
export function hideBytes(words: Words, bytes: Uint8Array): Uint8Array {
	if (!words.isInBytes(bytes)) return bytes;
	const text = latin(bytes);
	return covered(bytes, stretchesIn(words, text));
}

/** Of bytes without a secret, only this many of the last are checked: a secret is shorter, in any spelling. */
const LONGEST_OPEN = 64 * 1024;

/** The same for bytes that come in pieces. */
export class HidingBytes {
	readonly #words: Words;
	#held: Uint8Array = new Uint8Array();
	/** This many of these are hidden, whatever follows: they belong to a secret that was already partly sent. */
	#begun = 0;

	constructor(words: Words) {
		this.#words = words;
	}

	push(piece: Uint8Array): Uint8Array {
		const bytes = joined(this.#held, piece);
		const text = latin(bytes);
		const skipped = this.#words.isIn(text) ? 0 : Math.max(0, text.length - LONGEST_OPEN);
		const search = this.#words.search();
		search.read(text.slice(skipped));
		const settled = skipped + search.settledTo;
		// A backslash and the next character may be a line break: the two are read together.
		const whole = settled - backslashesBefore(text, settled);
		const stretches = search.takeUpTo(text.length);
		const across = stretches.find(({ from, to }) => skipped + from < whole && skipped + to > whole);
		// Endlessly overlapping finds are released piece by piece, hidden: held text is read again each time.
		const to = Math.max(across ? skipped + across.from : whole, bytes.length - LONGEST_OPEN);
		this.#held = bytes.slice(to);
		const released = this.#hidden(
			bytes.subarray(0, to),
			stretches.filter(({ from }) => skipped + from < to),
		);
		const goesOn = stretches.find((one) => one.from < to && one.to > to && !one.word.isName);
		this.#begun = Math.max(0, this.#begun - to, goesOn ? goesOn.to - to : 0);
		return released;
	}

	/** The held rest. */
	end(): Uint8Array {
		const held = this.#held;
		this.#held = new Uint8Array();
		return this.#hidden(hideBytes(this.#words, held), []);
	}

	#hidden(bytes: Uint8Array, stretches: readonly Stretch[]): Uint8Array {
		const hidden = covered(bytes, stretches);
		return cover(hidden, 0, Math.min(this.#begun, hidden.length));
	}
}

function backslashesBefore(text: string, end: number): number {
	let count = 0;
	while (count < Math.min(end, MOST_BACKSLASHES) && text[end - 1 - count] === "\\") count++;
	return count;
}

function covered(bytes: Uint8Array, stretches: readonly Stretch[]): Uint8Array {
	const hidden = Uint8Array.from(bytes);
	for (const { from, to, word } of stretches)
		if (!word.isName) cover(hidden, from, Math.min(to, hidden.length));
	return hidden;
}

function cover(bytes: Uint8Array, from: number, to: number): Uint8Array {
	for (let at = from; at < to; at++) if (bytes[at] !== LINE_FEED && bytes[at] !== RETURN) bytes[at] = COVER;
	return bytes;
}

const LINE_FEED = 10;
const RETURN = 13;
/** `x`, for the same reason. */
const COVER = 120;

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
	return a.length === 0 ? b : new Uint8Array(Buffer.concat([a, b]));
}
