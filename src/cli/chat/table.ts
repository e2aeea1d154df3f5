// Tables: columns side by side if they fit, otherwise one row after the other with its headings.
import type { Align, MarkdownBlock } from "../../gateway/index.ts";
import { inlineLines } from "./inline.ts";
import { type Line, type Look, lineColumns, span } from "./style.ts";
import { wrapLine } from "./wrap.ts";

type Table = Extract<MarkdownBlock, { readonly kind: "table" }>;
type Cells = readonly (readonly Line[])[];

const BAR = " │ ";

export function tableLines({ rows, align }: Table, width: number, colour: boolean): Line[] {
	const cells = rows.map((row, index) =>
		row.map((cell) => cellOf(cell, colour, index === 0 ? ["bold"] : [])),
	);
	const widths = align.map((_, column) => Math.max(1, ...cells.map((row) => lineColumns(row[column] ?? []))));
	const total = widths.reduce((sum, one) => sum + one, 0) + BAR.length * (widths.length - 1);
	return total <= width ? aligned(cells, widths, align) : rowByRow(cells, width);
}

function cellOf(cell: Table["rows"][number][number], colour: boolean, looks: readonly Look[]): Line {
	return inlineLines(cell, { colour, looks }).flatMap((line, index) =>
		index === 0 ? line : [span(" "), ...line],
	);
}

function aligned(cells: Cells, widths: readonly number[], align: readonly Align[]): Line[] {
	const lines = cells.map((row) =>
		widths.flatMap((width, column) => [
			...(column > 0 ? [span(BAR, "dim")] : []),
			...padded(row[column] ?? [], width, align[column]),
		]),
	);
	const rule = [span(widths.map((width) => "─".repeat(width)).join("─┼─"), "dim")];
	return [...lines.slice(0, 1), rule, ...lines.slice(1)];
}

function padded(cell: Line, width: number, align: Align | undefined): Line {
	const space = width - lineColumns(cell);
	const before = align === "right" ? space : align === "center" ? Math.floor(space / 2) : 0;
	return [span(" ".repeat(before)), ...cell, span(" ".repeat(space - before))];
}

function rowByRow([head = [], ...rows]: Cells, width: number): Line[] {
	if (rows.length === 0) return head.flatMap((cell) => wrapLine(cell, width));
	return rows.flatMap((row, index) => {
		const lines = row.flatMap((cell, column) => {
			const name = head[column] ?? [];
			if (lineColumns(cell) === 0) return [];
			const named = lineColumns(name) === 0 ? cell : [...name, span(": ", "bold"), ...cell];
			return wrapLine(named, width);
		});
		return index === 0 || lines.length === 0 ? lines : [[], ...lines];
	});
}
