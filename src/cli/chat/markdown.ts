// Markdown on a terminal. Text is made printable after parsing: an entity can name any character.
import { type Block as MarkdownBlock, type List as MarkdownList, parseMarkdown } from "../../render/index.ts";
import { inlineLines } from "./inline.ts";
import { printable } from "./printable.ts";
import { createPaint, type Line, type Look, lineColumns, span } from "./style.ts";
import { tableLines } from "./table.ts";
import { clipLine, cutLine, wrapLine } from "./wrap.ts";

export interface MarkdownOptions {
	readonly columns: number;
	/** Without colours, meaningful styles are written out: `code`, # headings, ~~struck~~. */
	readonly colour: boolean;
}

/** Narrower than this, indentation is given up, not text. */
const NARROWEST = 8;

const RULE_COLUMNS = 40;

/** The lines to print, at most `columns` wide (at least 8); none for a text without visible content. Never throws. */
export function renderMarkdown(text: string, { columns, colour }: MarkdownOptions): string[] {
	const paint = createPaint(colour);
	return markdownLines(text, { columns, colour }).map((line) => paint(line).trimEnd());
}

export function markdownLines(text: string, { columns, colour }: MarkdownOptions): Line[] {
	const source = text.toWellFormed().replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd");
	const lines = blockLines(parseMarkdown(source), Math.max(columns, NARROWEST), colour);
	if (source.trim() === "" || lines.some((line) => lineColumns(line) > 0)) return lines;
	// If there is only empty syntax, it is shown as text.
	return source
		.trim()
		.split("\n")
		.flatMap((line) => wrapLine([span(printable(line))], Math.max(columns, NARROWEST)));
}

function blockLines(blocks: readonly MarkdownBlock[], width: number, colour: boolean): Line[] {
	const lines: Line[] = [];
	for (const block of blocks) {
		const shown = linesOf(block, width, colour);
		if (block.apart && lines.length > 0 && shown.length > 0) lines.push([]);
		for (const line of shown) lines.push(line);
	}
	return lines;
}

function linesOf(block: MarkdownBlock, width: number, colour: boolean): Line[] {
	switch (block.kind) {
		case "paragraph":
			return inlineLines(block.text, { colour }).flatMap((line) => wrapLine(line, width));
		case "heading": {
			const mark = colour ? [] : [span(`${"#".repeat(block.level)} `)];
			return inlineLines(block.text, { colour, looks: headingLooks(block.level) }).flatMap((line, index) =>
				wrapLine(index === 0 ? [...mark, ...line] : line, width),
			);
		}
		case "code":
			return codeLines(block.value, width);
		case "quote":
			return prefixed(block.blocks, [span("│ ", "dim")], [span("│ ", "dim")], width, colour);
		case "list":
			return listLines(block, width, colour);
		case "table":
			return tableLines(block, width, colour);
		case "rule":
			return [[span("─".repeat(Math.min(width, RULE_COLUMNS)), "dim")]];
		case "definition":
			if (block.definition.used) return [];
			return block.definition.source
				.split("\n")
				.flatMap((line) => wrapLine([span(printable(line), "dim")], width));
	}
}

function headingLooks(level: number): readonly Look[] {
	return level === 1 ? ["bold", "underline"] : ["bold"];
}

function codeLines(value: string, width: number): Line[] {
	const indent = " ".repeat(width < 40 ? 2 : 4);
	return value
		.split("\n")
		.flatMap((line) => cutLine([span(printable(line), "code")], width - indent.length))
		.map((line) => [span(indent), ...line]);
}

function listLines(list: MarkdownList, width: number, colour: boolean): Line[] {
	const { items, start, delimiter } = list;
	return items.flatMap((item, index) => {
		const marker = start === undefined ? "•" : `${start + index}${delimiter}`;
		const box = item.checked === undefined ? "" : item.checked ? "[x] " : "[ ] ";
		const first = [span(`${marker} `, "dim"), span(box)];
		const rest = [span(" ".repeat(marker.length + 1))];
		const lines = prefixed(item.blocks, first, rest, width, colour);
		return item.apart ? [[], ...lines] : lines;
	});
}

/** Blocks with a prefix before their first line and between them; the prefix has its own line if there is no room. */
function prefixed(
	blocks: readonly MarkdownBlock[],
	first: Line,
	rest: Line,
	width: number,
	colour: boolean,
): Line[] {
	const room = width - Math.max(lineColumns(first), lineColumns(rest));
	if (room < NARROWEST) {
		const lines = blockLines(blocks, width, colour);
		return first === rest ? lines : [clipLine(first, width), ...lines];
	}
	const lines = blockLines(blocks, room, colour);
	if (lines.length === 0) return [first];
	return lines.map((line, index) => [...(index === 0 ? first : rest), ...line]);
}
