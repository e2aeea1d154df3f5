// The few rows at the bottom of the screen that are redrawn. Everything above is ordinary text, written once. A drawing is one string,
// and leaves the cursor where expected.
import type { CellPosition } from "./box.ts";

export interface LiveRow {
	readonly text: string;
	/** In columns, without colour codes. */
	readonly width: number;
}

export interface Frame {
	/** Lines for the record, written above. */
	readonly above: readonly string[];
	/** At least one, and at most the screen's rows. */
	readonly rows: readonly LiveRow[];
	readonly cursor: CellPosition;
}

const ESC = "\x1b[";
/** Terminals that support it show the drawing at once; others ignore it. */
const BEGIN = `${ESC}?2026h${ESC}?25l`;
const END = `${ESC}?25h${ESC}?2026l`;
/** A row whose width the terminal measures differently must not become two. */
const NO_WRAP = `${ESC}?7l`;
const WRAP = `${ESC}?7h`;
const TO_LINE_END = `${ESC}K`;
/** From the second column: from the first, some terminals start a new screen and keep the old one as text. */
const TO_SCREEN_END = `${ESC}K${ESC}C${ESC}J\r`;

export class LiveRegion {
	#rows: readonly LiveRow[] = [];
	#cursor: CellPosition = { row: 0, column: 0 };
	#columns = 0;
	#isBroken = false;

	/** The bytes of the next frame; "" if nothing changed. */
	draw({ above, rows, cursor }: Frame, columns: number): string {
		if (above.length === 0 && columns === this.#columns && this.#isShown(rows, cursor)) return "";
		const start = BEGIN + this.#toTop(columns);
		const record = above.length === 0 ? "" : TO_SCREEN_END + above.map((line) => `${line}\r\n`).join("");
		const last = rows.length - 1;
		const drawn = rows.map(({ text }, index) => (index === last ? TO_SCREEN_END : TO_LINE_END) + text);
		this.#rows = rows;
		this.#cursor = cursor;
		this.#columns = columns;
		this.#isBroken = false;
		return (
			start +
			record +
			NO_WRAP +
			drawn.join("\r\n") +
			WRAP +
			up(last - cursor.row) +
			right(cursor.column) +
			END
		);
	}

	/**
	 * The terminal was resized. A narrower one wraps rows that were drawn before; for rows drawn just now this is unknown. If we wrongly
	 * assume wrapping, text above would be lost; otherwise some of the rows remain.
	 */
	resized(isBroken: boolean): void {
		this.#isBroken = isBroken;
	}

	/** Erases it; the next frame starts in the same place. */
	erase(columns: number): string {
		const text = this.#toTop(columns) + TO_SCREEN_END;
		this.forget();
		return text;
	}

	/** The screen was cleared. */
	forget(): void {
		this.#rows = [];
		this.#cursor = { row: 0, column: 0 };
	}

	#isShown(rows: readonly LiveRow[], { row, column }: CellPosition): boolean {
		if (rows.length !== this.#rows.length) return false;
		if (row !== this.#cursor.row || column !== this.#cursor.column) return false;
		return rows.every(({ text }, index) => text === this.#rows[index]?.text);
	}

	#toTop(columns: number): string {
		const { row, column } = this.#cursor;
		if (!this.#isBroken) return up(row);
		const above = this.#rows.slice(0, row).map(({ width }) => Math.max(1, Math.ceil(width / columns)));
		return up(above.reduce((sum, one) => sum + one, Math.floor(column / columns)));
	}
}

function up(rows: number): string {
	return rows > 0 ? `\r${ESC}${rows}A` : "\r";
}

function right(columns: number): string {
	return columns > 0 ? `${ESC}${columns}C` : "";
}
