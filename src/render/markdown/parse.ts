// Parses Markdown.
import type { Block, Inline, ListItem } from "./ast.ts";
import { parseBlocks } from "./blocks.ts";
import { type Definitions, parseInline } from "./inline.ts";
import type { RawBlock, RawItem } from "./raw.ts";

/** Never throws, whatever the text; takes time in proportion to its length. */
export function parseMarkdown(source: string): readonly Block[] {
	const { blocks, definitions } = parseBlocks(source);
	return toBlocks(blocks, definitions);
}

function toBlocks(raw: readonly RawBlock[], definitions: Definitions): Block[] {
	return raw.map((block, index) => toBlock(block, isApart(block, raw[index - 1]), definitions));
}

function toBlock(raw: RawBlock, apart: boolean, definitions: Definitions): Block {
	switch (raw.kind) {
		case "paragraph":
			return { kind: "paragraph", apart, text: parseInline(raw.text, definitions) };
		case "heading":
			return { kind: "heading", apart, level: raw.level, text: parseInline(raw.text, definitions) };
		case "table":
			return {
				kind: "table",
				apart,
				align: raw.align,
				rows: raw.rows.map((row) => row.map((cell) => parseInline(cell, definitions))),
			};
		case "quote":
			return { kind: "quote", apart, blocks: toBlocks(raw.blocks, definitions) };
		case "list":
			return {
				kind: "list",
				apart,
				start: raw.start,
				delimiter: raw.marker === ")" ? ")" : ".",
				items: raw.items.map((item, index) => toItem(item, isApart(item, raw.items[index - 1]), definitions)),
			};
		case "code":
			return { kind: "code", apart, language: raw.language, value: raw.value };
		case "rule":
			return { kind: "rule", apart };
		case "definition":
			return { kind: "definition", apart, definition: raw.definition };
	}
}

function toItem(raw: RawItem, apart: boolean, definitions: Definitions): ListItem {
	const blocks = toBlocks(raw.blocks, definitions);
	const [first, ...rest] = blocks;
	const text = first?.kind === "paragraph" ? first.text[0] : undefined;
	const box = text?.kind === "text" ? /^\[([ xX])\]\s+(?=\S)/.exec(text.value) : null;
	if (first?.kind !== "paragraph" || text?.kind !== "text" || !box)
		return { checked: undefined, apart, blocks };
	const task: Inline = { kind: "text", value: text.value.slice(box[0].length) };
	return {
		checked: box[1] !== " ",
		apart,
		blocks: [{ ...first, text: [task, ...first.text.slice(1)] }, ...rest],
	};
}

function isApart(block: RawBlock | RawItem, before: RawBlock | RawItem | undefined): boolean {
	return before !== undefined && block.first - lastLine(before) > 1;
}

function lastLine(block: RawBlock | RawItem): number {
	if ("last" in block) return block.last;
	const inner = block.kind === "list" ? block.items.at(-1) : block.blocks.at(-1);
	return inner ? lastLine(inner) : block.first;
}
