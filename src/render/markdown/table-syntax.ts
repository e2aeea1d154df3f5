// The syntax of Markdown tables: delimiter rows and cells.
import type { Align } from "./ast.ts";
import { trimSpace } from "./space.ts";

const DELIMITER_ROW = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** The alignments in a delimiter row; undefined if the line is not one. */
export function alignmentOf(line: string): Align[] | undefined {
	if (!/[|:]/.test(line) || !DELIMITER_ROW.test(line)) return undefined;
	return cellsOf(line).map((cell) => {
		if (!cell.endsWith(":")) return "left";
		return cell.startsWith(":") ? "center" : "right";
	});
}

/** The cells of a row. A pipe in a cell is written with a backslash before it. */
export function cellsOf(line: string): string[] {
	const cells: string[] = [];
	let from = 0;
	for (let at = 0; at <= line.length; at++) {
		if (line[at] === "\\") {
			at++;
			continue;
		}
		if (at < line.length && line[at] !== "|") continue;
		cells.push(trimSpace(line.slice(from, at)).replaceAll("\\|", "|"));
		from = at + 1;
	}
	if (from <= line.length) cells.push(trimSpace(line.slice(from)).replaceAll("\\|", "|"));
	if (cells[0] === "" && trimSpace(line).startsWith("|")) cells.shift();
	if (cells.at(-1) === "") cells.pop();
	return cells;
}
