// Finds any of many words in a text, in one pass and without going back (after Aho and Corasick). Letters count alike in upper and
// lower case. A step costs the same however many words there are.

/** The class of characters that stand in no word. */
const NOWHERE = 0;
const ROOT = 0;
/** States below this depth are reached all the time: their steps are looked up, not searched. */
const SHALLOW = 2;

/** A set of words, and how far a text has spelt one of them: a state, beginning with 0. */
export class Automaton {
	/** By UTF-16 unit. */
	readonly #classes: Uint16Array;
	/** Where a state's steps stand in the table; -1 for one with a single way on, which is told below. */
	readonly #rows: Int32Array;
	readonly #table: Int32Array;
	readonly #onlyClass: Int32Array;
	readonly #onlyNext: Int32Array;
	/** The state of the longest end of what was spelt that begins another word. */
	readonly #shorter: Int32Array;
	readonly #depths: Int32Array;
	/** The longest word that ends here, or -1. */
	readonly #ends: Int32Array;
	readonly #isEmpty: boolean;

	constructor(words: readonly string[]) {
		const { classes, width } = classesOf(words);
		const trie = new Trie();
		for (const [index, word] of words.entries())
			trie.add(
				Array.from({ length: word.length }, (_, at) => classes[word.charCodeAt(at)] as number),
				index,
			);
		const count = trie.steps.length;
		this.#classes = classes;
		this.#rows = new Int32Array(count).fill(-1);
		this.#onlyClass = new Int32Array(count).fill(-1);
		this.#onlyNext = new Int32Array(count);
		this.#shorter = new Int32Array(count);
		this.#depths = Int32Array.from(trie.depths);
		this.#ends = Int32Array.from(trie.ends);
		this.#isEmpty = words.length === 0;
		const wide = trie.steps.filter(
			(steps, state) => steps.size > 1 || (trie.depths[state] as number) < SHALLOW,
		);
		this.#table = new Int32Array(wide.length * width);
		let row = 0;
		// States are in the order of their depth: those that a step falls back to are done before it.
		for (const state of trie.inOrder()) {
			const steps = trie.steps[state] as Map<number, number>;
			const shorter = this.#shorter[state] as number;
			for (const [unit, next] of steps)
				this.#shorter[next] = state === ROOT ? ROOT : this.step(shorter, unit);
			if ((this.#ends[state] as number) < 0 && state !== ROOT)
				this.#ends[state] = this.#ends[shorter] as number;
			if (steps.size > 1 || (trie.depths[state] as number) < SHALLOW) {
				for (let unit = 0; unit < width; unit++)
					this.#table[row + unit] = steps.get(unit) ?? (state === ROOT ? ROOT : this.step(shorter, unit));
				this.#rows[state] = row;
				row += width;
			} else
				for (const [unit, next] of steps) {
					this.#onlyClass[state] = unit;
					this.#onlyNext[state] = next;
				}
		}
	}

	/** The state after one more character. */
	next(state: number, unit: number): number {
		return this.step(state, this.#classes[unit] as number);
	}

	/** How many of the last characters may be the beginning of a word. */
	depth(state: number): number {
		return this.#depths[state] as number;
	}

	/** The index of the longest word that ends with the last character, or -1. */
	end(state: number): number {
		return this.#ends[state] as number;
	}

	/** Whether any word stands in the text, whatever line breaks are in between. */
	isIn(text: string): boolean {
		if (this.#isEmpty) return false;
		const [classes, rows, table, ends] = [this.#classes, this.#rows, this.#table, this.#ends];
		let state = ROOT;
		for (let at = 0; at < text.length; at++) {
			const unit = text.charCodeAt(at);
			if (unit === 10 || unit === 13) continue;
			const row = rows[state] as number;
			const kind = classes[unit] as number;
			state = row < 0 ? this.step(state, kind) : (table[row + kind] as number);
			if ((ends[state] as number) >= 0) return true;
		}
		return false;
	}

	/** The same for bytes. */
	isInBytes(bytes: Uint8Array): boolean {
		if (this.#isEmpty) return false;
		const [classes, rows, table, ends] = [this.#classes, this.#rows, this.#table, this.#ends];
		let state = ROOT;
		for (let at = 0; at < bytes.length; at++) {
			const unit = bytes[at] as number;
			if (unit === 10 || unit === 13) continue;
			const row = rows[state] as number;
			const kind = classes[unit] as number;
			state = row < 0 ? this.step(state, kind) : (table[row + kind] as number);
			if ((ends[state] as number) >= 0) return true;
		}
		return false;
	}

	private step(from: number, kind: number): number {
		let state = from;
		for (let row = this.#rows[state] as number; row < 0; row = this.#rows[state] as number) {
			if (this.#onlyClass[state] === kind) return this.#onlyNext[state] as number;
			state = this.#shorter[state] as number;
		}
		return this.#table[(this.#rows[state] as number) + kind] as number;
	}
}

class Trie {
	readonly steps: Map<number, number>[] = [new Map()];
	readonly depths: number[] = [0];
	readonly ends: number[] = [-1];

	add(word: readonly number[], index: number): void {
		let state = ROOT;
		for (const kind of word) {
			const known = this.steps[state]?.get(kind);
			if (known === undefined) this.steps[state]?.set(kind, this.steps.length);
			const next = known ?? this.steps.length;
			if (known === undefined) {
				this.steps.push(new Map());
				this.depths.push((this.depths[state] as number) + 1);
				this.ends.push(-1);
			}
			state = next;
		}
		if (state !== ROOT && (this.ends[state] as number) < 0) this.ends[state] = index;
	}

	/** By depth. */
	inOrder(): number[] {
		return this.steps.map((_, state) => state).sort((a, b) => (this.depths[a] ?? 0) - (this.depths[b] ?? 0));
	}
}

/** One class for each letter, in whatever case, that stands in a word. */
function classesOf(words: readonly string[]): { readonly classes: Uint16Array; readonly width: number } {
	const classes = new Uint16Array(65_536).fill(NOWHERE);
	let width = NOWHERE + 1;
	for (const word of words)
		for (let at = 0; at < word.length; at++) {
			const unit = word.charAt(at);
			const letter = single(single(unit, unit.toUpperCase()), unit.toUpperCase().toLowerCase());
			const known = classes[letter.charCodeAt(0)] as number;
			const kind = known === NOWHERE ? width++ : known;
			for (const same of [unit, letter, single(letter, letter.toUpperCase())])
				classes[same.charCodeAt(0)] = kind;
		}
	return { classes, width };
}

/** The other case, where that is one unit, too. */
function single(unit: string, other: string): string {
	return other.length === 1 ? other : unit;
}
