// Finds any of many words in a text, in one pass and without going back (after Aho and Corasick). Letters are folded,
// so upper and lower case are equal. A step costs the same however many words there are.
import { type Folding, SKIPPED } from "./folding.ts";

/** The class of characters that are in no word. */
const NOWHERE = 0;
/** The class of characters that are skipped. */
const PASSED = 1;
/** The class of characters that count as several, and of surrogates: the text must be read first. */
const SEVERAL = 2;
/** Surrogates of characters that count as others: mathematical letters, letters in squares, ideographs, and invisible ones. */
const FOLDED_HALVES = [0xd835, 0xd83b, 0xd83c, 0xd87e, 0xdb40];
const ROOT = 0;
/** Shallow states are reached all the time: their steps are looked up, not searched. */
const SHALLOW = 2;

/** The result of a first look at a text. unread: unknown until the text is read. */
export type Look = "found" | "unread" | "clean";

/** A set of words, and how far a text has spelt one of them: a state, starting with 0. */
export class Automaton {
	/** By UTF-16 unit, for a text as written. */
	readonly #classes: Uint16Array;
	/** The same for a text that was read. */
	readonly #known: Uint16Array;
	readonly #width: number;
	/** Every step of the first and the last states: the first up to this number, the last from that one on. */
	readonly #table: Int32Array;
	readonly #wide: number;
	readonly #lastWide: number;
	/** For other states, the one step that continues; any other falls back to the state below. */
	readonly #onlyClass: Int32Array;
	readonly #onlyNext: Int32Array;
	/** The state of the longest suffix that starts another word. */
	readonly #shorter: Int32Array;
	readonly #depths: Int32Array;
	/** The longest word that ends here, or -1. */
	readonly #ends: Int32Array;
	/** From this state on, a word ends in each state. */
	readonly #ending: number;

	/** Words as they count in a text. */
	constructor(words: readonly string[], folding: Folding) {
		const { classes, known, width } = classesOf(words, folding);
		const trie = new Trie();
		for (const [index, word] of words.entries())
			trie.add(
				Array.from({ length: word.length }, (_, at) => known[word.charCodeAt(at)] as number),
				index,
			);
		const { states, wide, ending, lastWide } = trie.finished();
		this.#classes = classes;
		this.#known = known;
		this.#width = width;
		this.#wide = wide;
		this.#ending = ending;
		this.#lastWide = lastWide;
		this.#onlyClass = Int32Array.from(states, ({ steps }) => [...steps.keys()][0] ?? -1);
		this.#onlyNext = Int32Array.from(states, ({ steps }) => [...steps.values()][0]?.number ?? ROOT);
		this.#shorter = Int32Array.from(states, ({ shorter }) => shorter.number);
		this.#depths = Int32Array.from(states, ({ depth }) => depth);
		this.#ends = Int32Array.from(states, ({ end }) => end);
		const rows = [...states.slice(0, wide), ...states.slice(lastWide)];
		this.#table = Int32Array.from(
			{ length: rows.length * width },
			(_, at) => (rows[Math.floor(at / width)] as State).next(at % width).number,
		);
	}

	/** The state after one more character of a read text. */
	next(state: number, unit: number): number {
		return this.#step(state, this.#known[unit] as number);
	}

	/** How many of the last characters may be the start of a word. */
	depth(state: number): number {
		return this.#depths[state] as number;
	}

	/** The index of the longest word that ends with the last character, or -1. */
	end(state: number): number {
		return this.#ends[state] as number;
	}

	/** Whether the text contains any word. read: it was read. indents: it was not, and spaces and tabs after a line break are skipped. */
	look(text: string, how: "read" | "written" | "indents"): Look {
		const indents = how === "indents";
		const [classes, table, wide, width, ending] = [
			how === "read" ? this.#known : this.#classes,
			this.#table,
			this.#wide,
			this.#width,
			this.#ending,
		];
		let state = ROOT;
		for (let at = 0; at < text.length; at++) {
			const unit = text.charCodeAt(at);
			const kind = classes[unit] as number;
			if (kind === PASSED) {
				if (indents && (unit === LINE_FEED || unit === RETURN)) at = afterIndent(text, at);
				continue;
			}
			if (kind === SEVERAL) return "unread";
			state = state < wide ? (table[state * width + kind] as number) : this.#step(state, kind);
			if (state >= ending) return "found";
		}
		return "clean";
	}

	/** The same for bytes. */
	lookAtBytes(bytes: Uint8Array): Look {
		const [classes, table, wide, width, ending] = [
			this.#classes,
			this.#table,
			this.#wide,
			this.#width,
			this.#ending,
		];
		let state = ROOT;
		for (let at = 0; at < bytes.length; at++) {
			const kind = classes[bytes[at] as number] as number;
			if (kind === PASSED) continue;
			state = state < wide ? (table[state * width + kind] as number) : this.#step(state, kind);
			if (state >= ending) return "found";
		}
		return "clean";
	}

	#step(from: number, kind: number): number {
		for (let state = from; ; state = this.#shorter[state] as number) {
			if (state < this.#wide) return this.#table[state * this.#width + kind] as number;
			if (state >= this.#lastWide)
				return this.#table[(this.#wide + state - this.#lastWide) * this.#width + kind] as number;
			if (this.#onlyClass[state] === kind) return this.#onlyNext[state] as number;
		}
	}
}

/** Used while the automaton is built. */
class State {
	readonly steps = new Map<number, State>();
	readonly depth: number;
	end = -1;
	shorter: State = this;
	number = ROOT;

	constructor(depth: number) {
		this.depth = depth;
	}

	next(kind: number): State {
		const next = this.steps.get(kind);
		if (next) return next;
		return this.depth === 0 ? this : this.shorter.next(kind);
	}
}

class Trie {
	readonly #root = new State(0);

	add(word: readonly number[], index: number): void {
		let state = this.#root;
		for (const kind of word) {
			const next = state.steps.get(kind) ?? new State(state.depth + 1);
			state.steps.set(kind, next);
			state = next;
		}
		if (state !== this.#root && state.end < 0) state.end = index;
	}

	/** Numbers the states: those in which a word ends come last; within both kinds, those with looked-up steps are outermost. */
	finished(): {
		readonly states: readonly State[];
		readonly wide: number;
		readonly ending: number;
		readonly lastWide: number;
	} {
		const all = [this.#root];
		// By depth: the fallback of a step is known by then.
		for (const state of all)
			for (const [kind, next] of state.steps) {
				next.shorter = state.depth === 0 ? state : state.shorter.next(kind);
				if (next.end < 0) next.end = next.shorter.end;
				all.push(next);
			}
		const isWide = ({ depth, steps }: State) => depth < SHALLOW || steps.size > 1;
		const [ends, others] = [true, false].map((isEnd) => all.filter(({ end }) => end >= 0 === isEnd)) as [
			State[],
			State[],
		];
		const [wide, lastWide] = [others.filter(isWide), ends.filter(isWide)];
		const states = [
			...wide,
			...others.filter((state) => !isWide(state)),
			...ends.filter((state) => !isWide(state)),
			...lastWide,
		];
		for (const [number, state] of states.entries()) state.number = number;
		return {
			states,
			wide: wide.length,
			ending: states.length - ends.length,
			lastWide: states.length - lastWide.length,
		};
	}
}

const LINE_FEED = 10;
const RETURN = 13;
const INDENTS = " \t";

/** The last of the spaces and tabs after this position. */
function afterIndent(text: string, from: number): number {
	let at = from;
	while (at + 1 < text.length && INDENTS.includes(text.charAt(at + 1))) at++;
	return at;
}

/** One class for each character in a word, and for everything that counts as it. */
function classesOf(
	words: readonly string[],
	{ units, several, hasPairs }: Folding,
): { readonly classes: Uint16Array; readonly known: Uint16Array; readonly width: number } {
	const known = new Uint16Array(units.length).fill(NOWHERE);
	let width = SEVERAL + 1;
	for (const word of words)
		for (let at = 0; at < word.length; at++) {
			const unit = word.charCodeAt(at);
			if (known[unit] === NOWHERE) known[unit] = width++;
		}
	const classes = new Uint16Array(units.length);
	for (let unit = 0; unit < classes.length; unit++) {
		const counts = units[unit] as number;
		classes[unit] = counts === SKIPPED ? PASSED : (known[counts] as number);
	}
	for (const [unit, text] of several) if (isKnown(text)) classes[unit] = SEVERAL;
	if (hasPairs) for (const half of FOLDED_HALVES) classes[half] = SEVERAL;
	return { classes, known, width };

	function isKnown(text: string): boolean {
		for (let at = 0; at < text.length; at++) if (known[text.charCodeAt(at)] !== NOWHERE) return true;
		return false;
	}
}
