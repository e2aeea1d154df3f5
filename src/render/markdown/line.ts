/** One line while its markers are taken off from the left. Columns count tabs as stops at every fourth. */
export class Line {
	readonly length: number;
	#rest: string;
	#column = 0;
	/** Leading white space of the rest: in columns, and in characters. */
	#indent = 0;
	#skip = 0;

	constructor(text: string) {
		this.length = text.length;
		this.#rest = text;
		this.#look();
	}

	get rest(): string {
		return this.#rest;
	}

	get indent(): number {
		return this.#indent;
	}

	get isBlank(): boolean {
		return this.#skip === this.#rest.length;
	}

	/** The rest without its leading white space. */
	get content(): string {
		return this.#rest.slice(this.#skip);
	}

	/** Takes this many columns of white space. The rest of a split tab becomes spaces. */
	takeIndent(columns: number): void {
		let left = columns;
		let taken = 0;
		while (left > 0 && taken < this.#skip) {
			const width = this.#rest[taken] === "\t" ? 4 - (this.#column % 4) : 1;
			this.#column += Math.min(width, left);
			taken++;
			left -= width;
		}
		this.#rest = " ".repeat(Math.max(0, -left)) + this.#rest.slice(taken);
		this.#look();
	}

	take(characters: number): void {
		this.#rest = this.#rest.slice(characters);
		this.#column += characters;
		this.#look();
	}

	/** Takes `>` and one column of white space after it, if the line starts with it. */
	takeQuoteMarker(): boolean {
		if (this.#indent >= 4 || this.#rest[this.#skip] !== ">") return false;
		this.takeIndent(this.#indent);
		this.take(1);
		this.takeIndent(Math.min(1, this.#indent));
		return true;
	}

	#look(): void {
		let column = this.#column;
		let at = 0;
		for (; at < this.#rest.length; at++) {
			const char = this.#rest[at];
			if (char === " ") column++;
			else if (char === "\t") column += 4 - (column % 4);
			else break;
		}
		this.#indent = column - this.#column;
		this.#skip = at;
	}
}
