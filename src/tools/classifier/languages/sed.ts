// A program for sed -> which files it reads and writes, and whether it runs commands. One pass over the text.

export interface SedProgram {
	readonly reads: readonly string[];
	readonly writes: readonly string[];
	readonly runs: boolean;
	/** False when it is no program that sed is known to take. */
	readonly understood: boolean;
}

/** Commands that end with their letter. */
const SIMPLE = "=dDgGhHlnNpPqQxzF";
const BLANK = /[ \t]/;

export function readSed(script: string): SedProgram {
	return new SedReader(script).read();
}

class SedReader {
	readonly #text: string;
	#at = 0;
	readonly #reads: string[] = [];
	readonly #writes: string[] = [];
	#runs = false;

	constructor(text: string) {
		this.#text = text;
	}

	read(): SedProgram {
		let understood = true;
		while (understood && this.#skip(/[\s;}]/)) understood = this.#command();
		return { reads: this.#reads, writes: this.#writes, runs: this.#runs, understood };
	}

	/** False at the end of the text. */
	#skip(chars: RegExp): boolean {
		while (this.#at < this.#text.length && chars.test(this.#text[this.#at] as string)) this.#at++;
		return this.#at < this.#text.length;
	}

	#command(): boolean {
		if (!this.#addresses()) return false;
		if (!this.#skip(/[ \t!]/)) return false;
		const letter = this.#text[this.#at++] as string;
		if (letter === "{") return true;
		if (letter === "#") return this.#line() !== null;
		if (SIMPLE.includes(letter)) return this.#rest();
		switch (letter) {
			case "s":
				return this.#substitution();
			case "y":
				return this.#delimited(2) && this.#rest();
			case "r":
			case "R":
				this.#reads.push(this.#line());
				return true;
			case "w":
			case "W":
				this.#writes.push(this.#line());
				return true;
			case "e":
				this.#runs = true;
				this.#line();
				return true;
			case "a":
			case "i":
			case "c":
				this.#addedText();
				return true;
			case "b":
			case "t":
			case "T":
			case ":":
				while (this.#at < this.#text.length && !/[;\n}]/.test(this.#text[this.#at] as string)) this.#at++;
				return true;
			default:
				return false;
		}
	}

	/** Text for a, i and c: to the end of the line, further where the line ends with a backslash. */
	#addedText(): void {
		let line = this.#line();
		while (line.endsWith("\\") && this.#at < this.#text.length) line = this.#line();
	}

	/** A number may follow, and nothing else before the next command. */
	#rest(): boolean {
		if (!this.#skip(/[ \t\d]/)) return true;
		return /[;\n}#]/.test(this.#text[this.#at] as string);
	}

	#line(): string {
		const end = this.#text.indexOf("\n", this.#at);
		const line = this.#text.slice(this.#at, end < 0 ? undefined : end).trim();
		this.#at = end < 0 ? this.#text.length : end + 1;
		return line;
	}

	#addresses(): boolean {
		if (!this.#address()) return false;
		this.#skip(BLANK);
		if (this.#text[this.#at] !== ",") return true;
		this.#at++;
		this.#skip(BLANK);
		return this.#address();
	}

	/** There may be none. */
	#address(): boolean {
		const char = this.#text[this.#at];
		if (char === "$") this.#at++;
		else if (char === "/" || char === "\\") {
			if (char === "\\") this.#at++;
			if (!this.#delimited(1)) return false;
			while (/[IM]/.test(this.#text[this.#at] ?? "")) this.#at++;
		} else while (/[\d+~\uFDD0]/.test(this.#text[this.#at] ?? "")) this.#at++;
		return true;
	}

	#substitution(): boolean {
		if (!this.#delimited(2)) return false;
		for (;;) {
			const flag = this.#text[this.#at];
			if (flag === "e") this.#runs = true;
			if (flag === "w") {
				this.#at++;
				this.#writes.push(this.#line());
				return true;
			}
			if (flag === undefined || !/[gpiImMe\d]/.test(flag)) return this.#rest();
			this.#at++;
		}
	}

	/** This many texts, each ended by the character at this position. */
	#delimited(count: number): boolean {
		const delimiter = this.#text[this.#at];
		if (delimiter === undefined || /[\s\\]/.test(delimiter)) return false;
		this.#at++;
		for (let left = count; left > 0; this.#at++) {
			const char = this.#text[this.#at];
			if (char === undefined) return false;
			if (char === "\\") this.#at++;
			else if (char === "[" && delimiter !== "[" && left === count) this.#set(delimiter);
			else if (char === delimiter) left--;
		}
		return true;
	}

	/** A set in brackets may hold the delimiter, unless it is not closed on this line. */
	#set(delimiter: string): void {
		let at = this.#at + 1;
		if (this.#text[at] === "^") at++;
		if (this.#text[at] === "]") at++;
		const end = this.#text.indexOf("]", at);
		const inside = end < 0 ? "\n" : this.#text.slice(at, end);
		if (!inside.includes("\n") && inside.length < 200 && !inside.includes(`\\${delimiter}`)) this.#at = end;
	}
}
