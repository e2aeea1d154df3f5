// The blocks of a Markdown text, line by line: CommonMark with GitHub's tables and task lists. HTML blocks are not
// a kind of their own: their tags are text. Past MAX_DEPTH quotes and lists inside one another, markers are text too,
// so a line costs no more than its length times that depth.
import type { Align, Definition } from "./ast.ts";
import { unescapeText } from "./entities.ts";
import { Line } from "./line.ts";
import { definitionAt } from "./link-syntax.ts";
import type { Fence, RawBlock, RawDocument, RawItem, RawList, RawQuote, Span } from "./raw.ts";
import { trimSpace, trimSpaceEnd } from "./space.ts";
import { alignmentOf, cellsOf } from "./table-syntax.ts";

export const MAX_DEPTH = 16;

type Container = RawQuote | RawItem | { readonly kind: "document"; readonly blocks: RawBlock[] };

/** The block that the next line may still belong to. */
type Leaf = ParagraphLeaf | IndentedLeaf | TableLeaf | FenceLeaf;

interface ParagraphLeaf {
	readonly kind: "paragraph";
	readonly lines: string[];
	readonly first: number;
}

interface IndentedLeaf {
	readonly kind: "indented";
	readonly lines: string[];
	readonly first: number;
}

interface TableLeaf {
	readonly kind: "table";
	readonly align: readonly Align[];
	readonly rows: string[][];
	readonly first: number;
}

interface FenceLeaf {
	readonly kind: "fence";
	readonly lines: string[];
	readonly first: number;
	readonly marker: string;
	readonly language: string;
	readonly indent: number;
	readonly from: number;
	readonly inside: Fence["inside"];
}

const HEADING = /^(#{1,6})(?:[ \t]+(.*))?$/s;
const FENCE = /^(?:(`{3,})([^`]*)|(~{3,})(.*))$/s;
const SETEXT = /^(=+|-+)[ \t]*$/;
const RULE = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const BULLET = /^([-+*])(?=[ \t]|$)/;
const NUMBER = /^(\d{1,9})([.)])(?=[ \t]|$)/;

export function parseBlocks(source: string): RawDocument {
	const parser = new BlockParser();
	let at = 0;
	while (at < source.length) {
		const feed = source.indexOf("\n", at);
		const end = feed < 0 ? source.length : feed;
		parser.read(source.slice(at, source[end - 1] === "\r" && end > at ? end - 1 : end), at);
		at = feed < 0 ? source.length : feed + 1;
	}
	return parser.finish(source.length);
}

class BlockParser {
	readonly #root: { readonly kind: "document"; readonly blocks: RawBlock[] } = {
		kind: "document",
		blocks: [],
	};
	readonly #definitions = new Map<string, Definition>();
	readonly #fences: Fence[] = [];
	readonly #lineFroms: number[] = [];
	#stack: Container[] = [this.#root];
	#leaf: Leaf | undefined;
	#lineFrom = 0;
	/** How many of the open containers continue in the current line, and whether a new block began in it. */
	#matched = 1;
	#begun = false;

	read(text: string, from: number): void {
		this.#lineFrom = from;
		this.#lineFroms.push(from);
		const line = new Line(text);
		this.#matched = this.#matchContainers(line);
		this.#begun = false;
		if (this.#isContinued && this.#leaf && this.#feedCode(this.#leaf, line)) return;
		if (this.#beginBlocks(line)) return;
		this.#feedText(line);
	}

	finish(length: number): RawDocument {
		this.#closeLeaf(length);
		const { blocks } = this.#root;
		const starts = blocks.flatMap((block, index) => {
			return blocks[index - 1]?.kind === "heading" ? [] : (this.#lineFroms[block.first] ?? []);
		});
		return { blocks, definitions: this.#definitions, fences: this.#fences, starts };
	}

	get #lineNumber(): number {
		return this.#lineFroms.length - 1;
	}

	get #isContinued(): boolean {
		return !this.#begun && this.#matched === this.#stack.length;
	}

	get #container(): Container {
		return this.#stack.at(-1) ?? this.#root;
	}

	#matchContainers(line: Line): number {
		let matched = 1;
		for (; matched < this.#stack.length; matched++) {
			const container = this.#stack[matched];
			if (container?.kind === "quote" && !line.takeQuoteMarker()) break;
			if (container?.kind !== "item") continue;
			const isEmpty = container.blocks.length === 0 && matched === this.#stack.length - 1 && !this.#leaf;
			if (line.isBlank ? isEmpty : line.indent < container.width) break;
			line.takeIndent(line.isBlank ? Math.min(line.indent, container.width) : container.width);
		}
		return matched;
	}

	/** Code takes lines as they are. Returns whether it took this one. */
	#feedCode(leaf: Leaf, line: Line): boolean {
		if (leaf.kind === "fence") {
			const isClosing = line.indent < 4 && isClosingFence(line.content, leaf.marker);
			if (isClosing) this.#closeFence(leaf, this.#lineFrom, this.#lineFrom + line.length);
			else {
				line.takeIndent(Math.min(line.indent, leaf.indent));
				leaf.lines.push(line.rest);
			}
			return true;
		}
		if (leaf.kind !== "indented") return false;
		if (!line.isBlank && line.indent < 4) return false;
		line.takeIndent(Math.min(line.indent, 4));
		leaf.lines.push(line.rest);
		return true;
	}

	/** Opens the blocks that begin in this line. Returns whether the line is used up. */
	#beginBlocks(line: Line): boolean {
		while (!line.isBlank) {
			if (line.indent >= 4) {
				if (this.#leaf?.kind === "paragraph") return false;
				this.#begin();
				line.takeIndent(4);
				this.#leaf = { kind: "indented", lines: [line.rest], first: this.#lineNumber };
				return true;
			}
			const text = line.content;
			if (this.#beginLeaf(text, line.indent)) return true;
			const isDeep = this.#matched > MAX_DEPTH;
			if (!isDeep && text.startsWith(">")) this.#beginQuote(line);
			else if (isDeep || !this.#beginItem(line, text)) return this.#beginTable(text);
		}
		return false;
	}

	#beginLeaf(text: string, indent: number): boolean {
		const heading = HEADING.exec(text);
		if (heading) {
			this.#begin();
			const title = (heading[2] ?? "").replace(/^#+[ \t]*$/, "").replace(/[ \t]#+[ \t]*$/, "");
			this.#add({ kind: "heading", level: heading[1]?.length ?? 1, text: trimSpace(title), ...this.#here });
			return true;
		}
		const fence = FENCE.exec(text);
		if (fence) {
			this.#begin();
			this.#leaf = {
				kind: "fence",
				lines: [],
				first: this.#lineNumber,
				marker: fence[1] ?? fence[3] ?? "",
				language: unescapeText(trimSpace(fence[2] ?? fence[4] ?? "").split(/[ \t]/, 1)[0] ?? ""),
				indent,
				from: this.#lineFrom,
				inside: this.#stack.flatMap((one) =>
					one.kind === "document" ? [] : one.kind === "item" ? one.width : one.kind,
				),
			};
			return true;
		}
		if (this.#underline(text)) return true;
		if (!RULE.test(text)) return false;
		this.#begin();
		this.#add({ kind: "rule", ...this.#here });
		return true;
	}

	/** `===` or `---` makes the paragraph above it a heading. */
	#underline(text: string): boolean {
		const leaf = this.#leaf;
		const underline = SETEXT.exec(text);
		if (!underline || !this.#isContinued || leaf?.kind !== "paragraph") return false;
		const title = this.#takeDefinitions(leaf);
		this.#leaf = undefined;
		if (title === "") return false;
		const level = underline[1]?.startsWith("=") ? 1 : 2;
		this.#add({ kind: "heading", level, text: title, first: leaf.first, last: this.#lineNumber });
		return true;
	}

	/** A delimiter row makes the last line of the paragraph above it a table's head. */
	#beginTable(text: string): boolean {
		const leaf = this.#leaf;
		if (!this.#isContinued || leaf?.kind !== "paragraph") return false;
		const align = alignmentOf(text);
		const head = align && cellsOf(leaf.lines.at(-1) ?? "");
		if (!align || head?.length !== align.length) return false;
		leaf.lines.pop();
		this.#closeLeaf(this.#lineFrom);
		this.#leaf = { kind: "table", align, rows: [head], first: this.#lineNumber - 1 };
		return true;
	}

	#beginQuote(line: Line): void {
		this.#begin();
		line.takeQuoteMarker();
		const quote: RawQuote = { kind: "quote", first: this.#lineNumber, blocks: [] };
		this.#add(quote);
		this.#enter(quote);
	}

	#beginItem(line: Line, text: string): boolean {
		const [found, number, delimiter] = BULLET.exec(text) ? [text.charAt(0)] : (NUMBER.exec(text) ?? []);
		if (found === undefined) return false;
		const isEmpty = trimSpace(text.slice(found.length)) === "";
		const interrupts = this.#isContinued && this.#leaf?.kind === "paragraph";
		if (interrupts && (isEmpty || (number !== undefined && Number(number) !== 1))) return false;
		this.#begin();
		let width = line.indent + found.length;
		line.takeIndent(line.indent);
		line.take(found.length);
		const space = isEmpty || line.indent > 4 ? 1 : line.indent;
		line.takeIndent(Math.min(space, line.indent));
		width += space;
		const item: RawItem = { kind: "item", first: this.#lineNumber, width, blocks: [] };
		this.#listFor(delimiter ?? found, number === undefined ? undefined : Number(number)).items.push(item);
		this.#enter(item);
		return true;
	}

	#listFor(marker: string, start: number | undefined): RawList {
		const last = this.#container.blocks.at(-1);
		if (last?.kind === "list" && last.marker === marker) return last;
		const list: RawList = { kind: "list", first: this.#lineNumber, marker, start, items: [] };
		this.#add(list);
		return list;
	}

	#feedText(line: Line): void {
		if (line.isBlank) {
			this.#begin();
			return;
		}
		const text = line.content;
		if (this.#leaf?.kind === "paragraph" && !this.#begun) {
			this.#leaf.lines.push(text);
			return;
		}
		if (this.#isContinued && this.#leaf?.kind === "table") {
			this.#leaf.rows.push(cellsOf(text));
			return;
		}
		this.#begin();
		this.#leaf = { kind: "paragraph", lines: [text], first: this.#lineNumber };
	}

	/** Ends the blocks that do not continue in this line. */
	#begin(): void {
		if (this.#begun) return;
		this.#closeLeaf(this.#lineFrom);
		this.#stack.length = this.#matched;
		this.#begun = true;
	}

	#enter(container: Container): void {
		this.#stack.push(container);
		this.#matched = this.#stack.length;
	}

	get #here(): Span {
		return { first: this.#lineNumber, last: this.#lineNumber };
	}

	#add(block: RawBlock): void {
		this.#container.blocks.push(block);
	}

	#closeLeaf(at: number): void {
		const leaf = this.#leaf;
		this.#leaf = undefined;
		if (leaf?.kind === "fence") this.#closeFence(leaf, at, at);
		if (leaf?.kind === "table") this.#closeTable(leaf);
		if (leaf?.kind === "indented") this.#closeIndented(leaf);
		if (leaf?.kind === "paragraph") this.#closeParagraph(leaf);
	}

	#closeParagraph(leaf: ParagraphLeaf): void {
		const text = this.#takeDefinitions(leaf);
		if (text === "") return;
		this.#add({ kind: "paragraph", text, first: leaf.first, last: leaf.first + leaf.lines.length - 1 });
	}

	#closeTable({ align, rows, first }: TableLeaf): void {
		this.#add({ kind: "table", align, rows, first, last: first + rows.length });
	}

	#closeIndented({ lines, first }: IndentedLeaf): void {
		while (trimSpace(lines.at(-1) ?? "-") === "") lines.pop();
		this.#add({ kind: "code", language: "", value: lines.join("\n"), first, last: first + lines.length - 1 });
	}

	/** Adds the link definitions at the start of a paragraph; returns the text after them. */
	#takeDefinitions(leaf: ParagraphLeaf): string {
		const text = leaf.lines.join("\n");
		let at = 0;
		let first = leaf.first;
		for (let found = definitionAt(text, at); found; found = definitionAt(text, at)) {
			const { label, url } = found.value;
			const source = text.slice(at, found.end).trimEnd();
			const definition: Definition = { url, source, used: false };
			if (!this.#definitions.has(label)) this.#definitions.set(label, definition);
			const last = first + source.split("\n").length - 1;
			this.#add({ kind: "definition", definition, first, last });
			first = last + 1;
			at = found.end;
		}
		return trimSpaceEnd(text.slice(at));
	}

	#closeFence(leaf: FenceLeaf, at: number, to: number): void {
		this.#leaf = undefined;
		const { language, marker, from, inside, first } = leaf;
		const isClosed = to > at;
		this.#add({
			kind: "code",
			language,
			value: leaf.lines.join("\n"),
			first,
			last: first + leaf.lines.length + (isClosed ? 1 : 0),
		});
		const bodyFrom = this.#lineFroms[first + 1] ?? at;
		const bodyTo = isClosed ? Math.max(bodyFrom, at - 1) : at;
		this.#fences.push({ from, bodyFrom, bodyTo, to, marker, language, inside });
	}
}

function isClosingFence(text: string, marker: string): boolean {
	const run = trimSpaceEnd(text);
	return run.length >= marker.length && run === marker.charAt(0).repeat(run.length);
}
