// Wraps lines to a width in display columns. Only the spaces at line breaks are lost.
import { columnsOf, graphemes } from "../io/width.ts";
import { type Line, type Look, lineColumns, type Span, span } from "./style.ts";

interface Cell {
	readonly text: string;
	readonly width: number;
	readonly looks: readonly Look[];
}

/** Breaks at spaces and next to wide characters; a longer word is cut. At least one line. */
export function wrapLine(line: Line, width: number): Line[] {
	if (lineColumns(line) <= width) return [line];
	const cells = cellsOf(line);
	const lines: Line[] = [];
	let from = 0;
	while (from < cells.length) {
		const { end, next } = breakAfter(cells, from, width);
		lines.push(spansOf(cells.slice(from, end)));
		from = next;
	}
	return lines;
}

/** Cuts at the width, as for code: every column counts there. */
export function cutLine(line: Line, width: number): Line[] {
	if (lineColumns(line) <= width) return [line];
	const cells = cellsOf(line);
	const lines: Line[] = [];
	for (let from = 0; from < cells.length; ) {
		const end = Math.max(from + 1, fitting(cells, from, width));
		lines.push(spansOf(cells.slice(from, end)));
		from = end;
	}
	return lines;
}

/** Its start, with an ellipsis if something is left out. */
export function clipLine(line: Line, width: number): Line {
	if (lineColumns(line) <= width) return line;
	if (width < 1) return [];
	const cells = cellsOf(line);
	let end = fitting(cells, 0, width - 1);
	while (end > 0 && cells[end - 1]?.text === " ") end--;
	return [...spansOf(cells.slice(0, end)), span("…", ...(cells[end]?.looks ?? []))];
}

function breakAfter(cells: readonly Cell[], from: number, width: number): { end: number; next: number } {
	const limit = Math.max(from + 1, fitting(cells, from, width));
	if (limit === cells.length) return { end: limit, next: limit };
	let end = limit;
	while (end > from && !isBreak(cells, end)) end--;
	// A line that starts with spaces keeps them; breaking inside them would give an empty line.
	const hasWord = cells.slice(from, end).some(({ text }) => text !== " ");
	if (!hasWord) return { end: limit, next: limit };
	let next = end;
	while (cells[next]?.text === " ") next++;
	while (cells[end - 1]?.text === " ") end--;
	return { end, next };
}

/** A line may end before this cell. */
function isBreak(cells: readonly Cell[], at: number): boolean {
	const before = cells[at - 1];
	const after = cells[at];
	if (before === undefined || after === undefined) return true;
	if (after.text === " " || before.text === " ") return true;
	return (before.width === 2 || after.width === 2) && !/^[\p{Pe}\p{Pf}\p{Po}]/u.test(after.text);
}

/** The end of the cells that fit. */
function fitting(cells: readonly Cell[], from: number, width: number): number {
	let room = width;
	let at = from;
	for (; at < cells.length; at++) {
		room -= cells[at]?.width ?? 0;
		if (room < 0) break;
	}
	return at;
}

function cellsOf(line: Line): Cell[] {
	return line.flatMap(({ text, looks }) =>
		graphemes(text).map((character) => ({ text: character, width: columnsOf(character), looks })),
	);
}

function spansOf(cells: readonly Cell[]): Span[] {
	const spans: { text: string; looks: readonly Look[] }[] = [];
	for (const { text, looks } of cells) {
		const last = spans.at(-1);
		if (last?.looks === looks) last.text += text;
		else spans.push({ text, looks });
	}
	return spans;
}
