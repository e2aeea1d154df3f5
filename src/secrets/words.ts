// The words by which secrets are found: every spelling of each value, and each name as it appears in hidden text, which stays.
// So hiding twice changes nothing, even if a value is part of a name.
import { Automaton } from "./automaton.ts";
import { type Folding, foldingFor, type Manner } from "./folding.ts";
import { type Found, isReadTwice, needsReader, readAs, Search } from "./reading.ts";
import { SHORTEST_HIDDEN, spellings } from "./spellings.ts";

/** A match is one spelling of a secret, or its name. */
export interface Word {
	readonly name: string;
	readonly isName: boolean;
	/** How many of its characters count. */
	readonly length: number;
}

/** A stretch of text to hide, or a name that stays. */
export interface Stretch {
	readonly from: number;
	readonly to: number;
	/** The longest match in it. */
	readonly word: Word;
	/** Where that starts. */
	readonly at: number;
}

interface Reading {
	readonly manner: Manner;
	readonly folding: Folding;
	readonly words: readonly string[];
	readonly known: readonly Word[];
	readonly automaton: Automaton;
}

export class Words {
	readonly #strict: Reading;
	readonly #loose: Reading;
	/** For values with white space; null if there are none. */
	readonly #squeezed: Reading | null;
	/** The length of the shortest match; infinite if there is nothing to find. */
	readonly #shortest: number;
	/** A number may contain one of them. */
	readonly hasNumbers: boolean;

	/** Names with their values. `units`: bytes for data read byte by byte. */
	constructor(values: readonly (readonly [name: string, value: string])[], units: "text" | "bytes") {
		const all = values.flatMap(([name, value]) => [
			...spellings(value).map((spelling) => ({ name, isName: false, spelling })),
			{ name, isName: true, spelling: nameOf(name) },
		]);
		const written = all.map(({ spelling, ...word }) => ({
			...word,
			spelling: units === "bytes" ? Buffer.from(spelling).toString("latin1") : spelling,
		}));
		this.#strict = reading("strict", units, written);
		// A name after a backslash stays.
		const secret = written.filter(({ isName }) => !isName);
		this.#loose = reading("loose", units, secret);
		const spaced = secret.filter(({ spelling }) => /[^\S\r\n]/.test(spelling));
		this.#squeezed = spaced.length > 0 ? reading("squeezed", units, spaced) : null;
		this.#shortest = Math.min(...this.#readings.flatMap(({ words }) => words.map(({ length }) => length)));
		this.hasNumbers = values.some(([, value]) => /^[-+.\de]+$/i.test(value.trim()));
	}

	/** Whether anything is found in it. */
	isIn(text: string): boolean {
		// Not by length: one character may count as several (`ß`, `ﬃ`).
		if (this.#shortest === Infinity) return false;
		const look = this.#strict.automaton.look(text, "written");
		if (look === "found") return true;
		if (look === "unread" || needsReader(text))
			return this.#readings.some(
				({ manner, folding, automaton }) => automaton.look(readAs(manner, folding, text), "read") === "found",
			);
		return (
			(isReadTwice(text) && this.#loose.automaton.look(text, "indents") === "found") ||
			this.#squeezed?.automaton.look(text, "written") === "found"
		);
	}

	isInBytes(bytes: Uint8Array): boolean {
		if (bytes.length < this.#shortest) return false;
		return this.#strict.automaton.lookAtBytes(bytes) === "found" || this.isIn(latin(bytes));
	}

	/** Finds them in a text that comes in pieces. */
	search(): WordSearch {
		return new WordSearch(
			this.#readings.map(
				({ manner, folding, known, automaton, words }) =>
					(found: (stretch: Stretch) => void) =>
						new Search(manner, folding, automaton, words, ({ from, to, word }: Found) =>
							found({ from, to, word: known[word] as Word, at: from }),
						),
			),
		);
	}

	get #readings(): readonly Reading[] {
		return [this.#strict, this.#loose, ...(this.#squeezed ? [this.#squeezed] : [])];
	}
}

/** The shortest secret with single spaces, not counting the spaces. */
const SHORTEST_SQUEEZED = 4;

/** Bytes as a text with one character per byte. */
export function latin(bytes: Uint8Array): string {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/**
 * A secret in hidden text. One kept in a file is named after its path: other signs than those of a variable become `_`, so that the whole
 * of it is recognised as a name, and hidden from readers.
 */
export function nameOf(name: string): string {
	return `\u0024{secret:${name.replaceAll(/\W/g, "_")}}`;
}

function reading(
	manner: Manner,
	units: "text" | "bytes",
	written: readonly { readonly name: string; readonly isName: boolean; readonly spelling: string }[],
): Reading {
	const folding = foldingFor(units, manner);
	const shortest = manner === "squeezed" ? SHORTEST_SQUEEZED : SHORTEST_HIDDEN;
	const texts = new Set<string>();
	const counting = written
		.map(({ spelling, ...word }) => ({ ...word, text: readAs(manner, folding, spelling) }))
		.filter(({ text }) => text.length >= shortest && !texts.has(text) && texts.add(text));
	const words = counting.map(({ text }) => text);
	return {
		manner,
		folding,
		words,
		known: counting.map(({ name, isName, text }) => ({ name, isName, length: text.length })),
		automaton: new Automaton(words, folding),
	};
}

/** The matches in a text, in whatever pieces it comes. Overlapping stretches are one, named after the longest. */
export class WordSearch {
	readonly #searches: readonly Search[];
	/** In order, without overlaps. */
	#stretches: Stretch[] = [];
	#length = 0;

	constructor(make: readonly ((found: (stretch: Stretch) => void) => Search)[]) {
		this.#searches = make.map((search) => search((stretch) => this.#add(stretch)));
	}

	read(text: string): void {
		for (let at = 0; at < text.length; at++) {
			const unit = text.charCodeAt(at);
			for (const search of this.#searches) search.read(unit, this.#length);
			this.#length++;
		}
	}

	/** The text has ended. */
	end(): void {
		for (const search of this.#searches) search.end();
	}

	/** Everything before this position is decided: it contains only whole stretches. */
	get settledTo(): number {
		const open = Math.min(...this.#searches.map((search) => search.openFrom(this.#length)));
		const across = this.#stretches.find(({ from, to }) => from < open && to > open);
		return across ? across.from : open;
	}

	/** Stretches before this offset, each once. */
	takeUpTo(offset: number): Stretch[] {
		const taken = this.#stretches.filter(({ to }) => to <= offset);
		this.#stretches = this.#stretches.filter(({ to }) => to > offset);
		return taken;
	}

	#add(stretch: Stretch): void {
		let joined = stretch;
		const after: Stretch[] = [];
		// Matches come nearly in order: only the last ones can overlap.
		for (let last = this.#stretches.at(-1); last && last.to > stretch.from; last = this.#stretches.at(-1)) {
			this.#stretches.pop();
			if (last.from >= stretch.to) after.push(last);
			else joined = join(joined, last);
		}
		this.#stretches.push(joined, ...after.reverse());
	}
}

function join(a: Stretch, b: Stretch): Stretch {
	const { word, at } = isBefore(a, b) ? a : b;
	return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to), word, at };
}

/** The longest, then the first; the rest only makes the order deterministic. */
function isBefore(a: Stretch, b: Stretch): boolean {
	if (a.word.length !== b.word.length) return a.word.length > b.word.length;
	if (a.at !== b.at) return a.at < b.at;
	return a.word.name <= b.word.name;
}
