// The input box as rows on the screen, and the cursor's position.
import { columnsOf, graphemes } from "../io/width.ts";
import { printable } from "./printable.ts";
import { type Line, span } from "./style.ts";

export interface BoxView {
	readonly rows: readonly Line[];
	readonly cursor: CellPosition;
}

export interface CellPosition {
	readonly row: number;
	readonly column: number;
}

const PROMPT = "> ";
const INDENT = "  ";

/** At most `height` rows around the cursor. */
export function viewBox(text: string, cursor: number, columns: number, height: number): BoxView {
	const { from, to } = stretch(text, cursor, height);
	const { rows, position } = layRows(
		text.slice(from, to),
		cursor - from,
		Math.max(2, columns - PROMPT.length),
	);
	const first = Math.max(0, Math.min(position.row - height + 1, rows.length - height));
	const lines = rows.slice(first, first + height).map((row, index) => {
		const isStart = from === 0 && first + index === 0;
		return [isStart ? span(PROMPT, "mine") : span(INDENT), span(row)];
	});
	return { rows: lines, cursor: { row: position.row - first, column: position.column + PROMPT.length } };
}

/** How many lines around the cursor are laid out: more cannot be seen, however much was pasted. */
function stretch(text: string, cursor: number, height: number): { from: number; to: number } {
	let from = cursor;
	for (let line = 0; line <= height && from >= 0; line++)
		from = from === 0 ? -1 : text.lastIndexOf("\n", from - 1);
	let to = cursor - 1;
	for (let line = 0; line <= height && to < text.length; line++)
		to = endOr(text.indexOf("\n", to + 1), text.length);
	return { from: from + 1, to };
}

function endOr(at: number, end: number): number {
	return at < 0 ? end : at;
}

function layRows(text: string, cursor: number, room: number): { rows: string[]; position: CellPosition } {
	const rows: string[] = [];
	let position: CellPosition = { row: 0, column: 0 };
	let row = "";
	let used = 0;
	const end = () => {
		rows.push(row);
		row = "";
		used = 0;
	};
	let at = 0;
	for (const character of graphemes(text)) {
		const isEnd = character === "\n";
		const shown = isEnd ? "" : printable(character);
		const width = isEnd ? 0 : widthOf(shown, character);
		if (used + width > room) end();
		if (at === cursor) position = { row: rows.length, column: used };
		row += shown;
		used += width;
		at += character.length;
		if (isEnd) end();
	}
	if (cursor >= at) {
		// After a full row the cursor has its own place.
		if (used >= room) end();
		position = { row: rows.length, column: used };
	}
	end();
	return { rows, position };
}

function widthOf(shown: string, character: string): number {
	return shown === character ? columnsOf(character) : shown.length;
}
