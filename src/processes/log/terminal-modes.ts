// Tracks the terminal modes a program sets, to set them for a late viewer, and reset them afterwards.

/** On in a fresh terminal: line wrap, visible cursor. */
const USUALLY_ON: ReadonlySet<string> = new Set(["7", "25"]);
/** The alternate screen; left last, so that everything else is reset on both. */
const OTHER_SCREEN: ReadonlySet<string> = new Set(["47", "1047", "1049"]);
/** An unfinished sequence is kept for the next piece, up to this length. */
const LONGEST = 64;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal reads
const SEQUENCE = /\x1b(?:\[([?<=>]?)([\d;]*)([@-~])|([=>]))/g;

export class TerminalModes {
	/** Those that differ from a fresh terminal. */
	readonly #changed = new Set<string>();
	/** Stacked keyboard modes. */
	#keyboards: string[] = [];
	#modifiers = "";
	#hasKeypad = false;
	#hasRegion = false;
	#rest = "";

	see(data: Buffer): void {
		const text = this.#rest + data.toString("latin1");
		for (const [whole, prefix = "", numbers = "", final = "", keypad] of text.matchAll(SEQUENCE)) {
			if (keypad !== undefined) this.#hasKeypad = keypad === "=";
			else this.#obey(whole, prefix, numbers, final);
		}
		const last = text.lastIndexOf("\x1b");
		const isUnfinished =
			last >= 0 && text.length - last < LONGEST && text.slice(last).match(SEQUENCE) === null;
		this.#rest = isUnfinished ? text.slice(last) : "";
	}

	/** Sets the same modes in a fresh terminal. */
	redo(): string {
		const switched = (mode: string) => `\x1b[?${mode}${USUALLY_ON.has(mode) ? "l" : "h"}`;
		return [
			...this.#modes(true).map(switched),
			...this.#modes(false).map(switched),
			this.#hasKeypad ? "\x1b=" : "",
			this.#modifiers,
			...this.#keyboards,
		].join("");
	}

	/** Resets everything. */
	undo(): string {
		const back = (mode: string) => `\x1b[?${mode}${USUALLY_ON.has(mode) ? "h" : "l"}`;
		return [
			"\x1b[0m\x1b(B\x0f",
			this.#keyboards.length > 0 ? `\x1b[<${this.#keyboards.length}u` : "",
			this.#modifiers === "" ? "" : "\x1b[>4m",
			this.#hasKeypad ? "\x1b>" : "",
			// Without the surrounding two, it would move the cursor to the top.
			this.#hasRegion ? "\x1b7\x1b[r\x1b8" : "",
			...this.#modes(false).map(back),
			...this.#modes(true).map(back),
		].join("");
	}

	#modes(areScreens: boolean): string[] {
		return [...this.#changed].filter((mode) => OTHER_SCREEN.has(mode) === areScreens);
	}

	#obey(whole: string, prefix: string, numbers: string, final: string): void {
		if (prefix === "?" && (final === "h" || final === "l")) {
			for (const mode of numbers.split(";")) {
				if ((final === "h") === USUALLY_ON.has(mode)) this.#changed.delete(mode);
				else this.#changed.add(mode);
			}
		} else if (final === "u" && prefix === ">") this.#keyboards.push(whole);
		else if (final === "u" && prefix === "<")
			this.#keyboards = this.#keyboards.slice(0, -Math.max(1, Number(numbers)));
		else if (final === "r" && prefix === "") this.#hasRegion = numbers !== "";
		else if (final === "m" && prefix === ">") this.#modifiers = whole;
	}
}
