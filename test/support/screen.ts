// A terminal, as far as a chat needs one: what a person would see of the written bytes. An unknown sequence
// fails the test, so that nothing unforeseen passes. When narrowed, it wraps rows that are too wide, like current terminals.

interface Row {
	/** One per column; "" for the second half of a wide character. */
	cells: string[];
	/** It continues in the next row: the terminal wrapped it, not the writer. */
	isBroken: boolean;
}

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

export class Screen {
	#columns: number;
	#rows: number;
	#lines: Row[] = [];
	/** The first line on the screen; earlier ones have scrolled away. */
	#top = 0;
	#row = 0;
	#column = 0;
	#wraps = true;
	isCursorShown = true;
	isPasteBracketed = false;

	constructor(columns: number, rows: number) {
		this.#columns = columns;
		this.#rows = rows;
		this.#fill();
	}

	/** The screen without trailing empty rows. */
	get shown(): string[] {
		return textOf(this.#lines.slice(this.#top, this.#top + this.#rows));
	}

	/** The same with everything that has scrolled away. */
	get all(): string[] {
		return textOf(this.#lines);
	}

	/** The text left of the cursor in its row, and the text right of it. */
	get atCursor(): readonly [left: string, right: string] {
		const { cells } = this.#line;
		return [cells.slice(0, this.#column).join(""), cells.slice(this.#column).join("").trimEnd()];
	}

	write(bytes: string): void {
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal reads
		for (const [token] of bytes.matchAll(/\x1b\[([?\d;]*)([A-Za-z])|[^\x1b]|\x1b/gu)) {
			// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
			const sequence = /^\x1b\[([?\d;]*)([A-Za-z])$/.exec(token);
			if (sequence) this.#obey(sequence[1] ?? "", sequence[2] ?? "");
			else if (token === "\r") this.#column = 0;
			else if (token === "\n") this.#feed();
			else if (/\p{Cc}/u.test(token)) throw new Error(`the screen was sent ${JSON.stringify(token)}`);
			else this.#put(token);
		}
	}

	resize(columns: number, rows: number): void {
		const place = this.#row;
		const lines: Row[] = [];
		let cursor = { row: 0, column: 0 };
		for (let at = 0; at < this.#lines.length; at++) {
			const first = at;
			const cells: string[] = [];
			let used = this.#column;
			for (; ; at++) {
				const { cells: more = [], isBroken = false } = this.#lines[at] ?? {};
				if (at < place) used += more.length;
				cells.push(...more);
				if (!isBroken) break;
			}
			if (first <= place && place <= at)
				cursor = { row: lines.length + Math.floor(used / columns), column: used % columns };
			for (let from = 0; from === 0 || from < cells.length; from += columns)
				lines.push({ cells: cells.slice(from, from + columns), isBroken: from + columns < cells.length });
		}
		while (lines.length - 1 > cursor.row && lines.at(-1)?.cells.length === 0) lines.pop();
		this.#lines = lines;
		this.#columns = columns;
		this.#rows = rows;
		this.#top = Math.max(0, lines.length - rows);
		this.#row = cursor.row;
		this.#column = cursor.column;
		this.#fill();
	}

	get #line(): Row {
		const line = this.#lines[this.#row];
		if (!line) throw new Error("the cursor is off the screen");
		return line;
	}

	#fill(): void {
		while (this.#lines.length < this.#top + this.#rows) this.#lines.push({ cells: [], isBroken: false });
	}

	#feed(): void {
		this.#row++;
		if (this.#row >= this.#top + this.#rows) this.#top++;
		this.#fill();
	}

	#put(token: string): void {
		const before = this.#line.cells[this.#column - 1] === "" ? this.#column - 2 : this.#column - 1;
		const last = this.#line.cells[before];
		if (last !== undefined && [...characters.segment(last + token)].length === 1) {
			this.#line.cells[before] = last + token;
			return;
		}
		const width = isWide(token) ? 2 : 1;
		if (this.#column + width > this.#columns) {
			if (!this.#wraps) this.#column = this.#columns - width;
			else {
				this.#line.isBroken = true;
				this.#feed();
				this.#column = 0;
			}
		}
		const { cells } = this.#line;
		while (cells.length < this.#column) cells.push(" ");
		cells[this.#column] = token;
		if (width === 2) cells[this.#column + 1] = "";
		this.#column += width;
	}

	#obey(given: string, final: string): void {
		const count = Number(given || 1);
		const code = given + final;
		if (final === "m") return;
		if (final === "A") this.#row = Math.max(this.#top, this.#row - count);
		else if (final === "C") this.#column = Math.min(this.#columns - 1, this.#column + count);
		else if (code === "K") this.#eraseLine();
		else if (code === "J") {
			this.#eraseLine();
			for (const line of this.#lines.slice(this.#row + 1)) empty(line, 0);
		} else if (code === "H") {
			this.#row = this.#top;
			this.#column = 0;
		} else if (code === "2J") for (const line of this.#lines.slice(this.#top)) empty(line, 0);
		else if (code === "?7l" || code === "?7h") this.#wraps = code === "?7h";
		else if (code === "?25l" || code === "?25h") this.isCursorShown = code === "?25h";
		else if (code === "?2004l" || code === "?2004h") this.isPasteBracketed = code === "?2004h";
		else if (code !== "?2026h" && code !== "?2026l") throw new Error(`the screen was sent ESC [ ${code}`);
	}

	/** With the cursor after a full row, the last character is deleted, as on a real terminal. */
	#eraseLine(): void {
		empty(this.#line, Math.min(this.#column, this.#columns - 1));
	}
}

function empty(line: Row, from: number): void {
	line.cells.length = Math.min(line.cells.length, from);
	line.isBroken = false;
}

function textOf(lines: readonly Row[]): string[] {
	const texts = lines.map(({ cells }) => cells.join("").trimEnd());
	while (texts.at(-1) === "") texts.pop();
	return texts;
}

function isWide(token: string): boolean {
	return /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uff01-\uff60]|\p{Emoji_Presentation})/u.test(
		token,
	);
}
