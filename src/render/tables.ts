// Tables as lines of text: columns of equal width where letters are of equal width, otherwise cells with bars between.
import type { Align } from "./markdown/ast.ts";

/** A wider cell shifts only its own row. */
const MAX_COLUMN = 32;

const WIDE =
	/[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const INVISIBLE = /[\p{M}\p{Cf}\p{Emoji_Modifier}]/u;

export function alignedTable(rows: readonly (readonly string[])[], align: readonly Align[]): string[] {
	const widths: number[] = [];
	for (const row of rows) {
		row.forEach((cell, column) => {
			widths[column] = Math.max(widths[column] ?? 3, Math.min(MAX_COLUMN, displayWidth(cell)));
		});
	}
	const lines = rows.map((row) =>
		row
			.map((cell, column) => pad(cell, widths[column] ?? 0, align[column]))
			.join(" | ")
			.trimEnd(),
	);
	const head = (rows[0] ?? []).map((_, column) => "-".repeat(widths[column] ?? 0)).join("-+-");
	return [...lines.slice(0, 1), head, ...lines.slice(1)];
}

export function flatTable(rows: readonly (readonly string[])[]): string[] {
	return rows.map((row) => row.join(" | "));
}

function pad(cell: string, width: number, align: Align | undefined): string {
	const space = Math.max(0, width - displayWidth(cell));
	if (align === "right") return " ".repeat(space) + cell;
	const before = align === "center" ? Math.floor(space / 2) : 0;
	return " ".repeat(before) + cell + " ".repeat(space - before);
}

function displayWidth(text: string): number {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: printable ASCII, the common case, is as wide as it is long
	if (/^[\x00-\x7f]*$/.test(text)) return text.length;
	let width = 0;
	for (const char of text) width += WIDE.test(char) ? 2 : INVISIBLE.test(char) ? 0 : 1;
	return width;
}
