// Lays out the live region, from the streaming answer down to the box, with or without enough room. The box comes first, then its hints,
// then what is above.
import { type BoxView, viewBox } from "./box.ts";
import type { EditorState, Menu } from "./editor-state.ts";
import { onOneLine, printable } from "./printable.ts";
import { type Line, lineColumns, span } from "./style.ts";
import { clipLine } from "./wrap.ts";

export interface LiveParts {
	/** Will be printed once finished; only the end is shown if there is too much. */
	readonly moving: readonly Line[];
	/** Current activity, right above the box. */
	readonly notes: readonly Line[];
	readonly editor: EditorState;
	/** Below the box, if nothing else is shown there. */
	readonly status: Line | null;
	/** There is text on the screen above. */
	readonly isBelowText: boolean;
}

export interface Layout {
	readonly lines: readonly Line[];
	readonly cursor: BoxView["cursor"];
}

const MENU_ROWS = 6;
const LEAST_DESCRIPTION = 12;
/** A lower screen has no rows to spare for empty ones. */
const ROOMY = 10;

export function layOut(parts: LiveParts, columns: number, rows: number): Layout {
	const height = Math.max(1, rows - 1);
	const { editor } = parts;
	const box = viewBox(editor.text, editor.cursor, columns, Math.max(1, Math.ceil(height * 0.6)));
	let left = height - box.rows.length;
	const below = belowBox(parts, columns).slice(0, left);
	left -= below.length;
	const notes = parts.notes.slice(0, left);
	left -= notes.length;
	const isSpaced = rows >= ROOMY && (parts.isBelowText || parts.moving.length > 0);
	const gap = isSpaced ? [[]].slice(0, left) : [];
	left -= gap.length;
	const moving = lastOf(parts.moving, left);
	const above = [...moving, ...gap, ...notes];
	const lines = [...above, ...box.rows, ...below];
	return {
		lines: lines.map((line) => clipLine(line, columns)),
		cursor: {
			row: above.length + box.cursor.row,
			column: Math.min(box.cursor.column, Math.max(0, columns - 1)),
		},
	};
}

/** As many lines as fit, the last ones; a sign replaces earlier ones. */
function lastOf(lines: readonly Line[], room: number): readonly Line[] {
	if (lines.length <= room) return lines;
	return room < 2 ? [] : [[span("…", "dim")], ...lines.slice(1 - room)];
}

function belowBox({ editor, status }: LiveParts, columns: number): Line[] {
	if (editor.search) return [searchLine(editor, columns)];
	if (editor.menu) return menuLines(editor.menu, columns);
	return status ? [status] : [];
}

function searchLine({ search, history }: EditorState, columns: number): Line {
	const query = printable(search?.query ?? "");
	const isMissing = query !== "" && search?.found === history.length;
	const label = isMissing ? "not found: " : "search: ";
	return clipLine([span(label, "dim"), span(query, isMissing ? "warn" : "bold")], columns);
}

function menuLines({ candidates, chosen }: Menu, columns: number): Line[] {
	const at = chosen ?? 0;
	const from = Math.max(0, Math.min(at - MENU_ROWS + 1, candidates.length - MENU_ROWS));
	const shown = candidates.slice(from, from + MENU_ROWS);
	const labels = shown.map(({ label }) => onOneLine(label));
	const width = Math.min(Math.max(...labels.map((label) => lineColumns([span(label)]))), columns - 2);
	const isDescribed = columns - width - 4 >= LEAST_DESCRIPTION;
	const lines = shown.map(({ description }, index): Line => {
		const isChosen = chosen === from + index;
		const label = clipLine([span(labels[index] ?? "", ...(isChosen ? (["bold"] as const) : []))], width);
		const space = " ".repeat(width - lineColumns(label) + 2);
		const about = isDescribed ? [span(space), span(onOneLine(description), "dim")] : [];
		return [span(isChosen ? "› " : "  ", "mine"), ...label, ...about];
	});
	const more = candidates.length - shown.length;
	return more > 0 ? [...lines, [span(`  ${more} more`, "dim")]] : lines;
}
