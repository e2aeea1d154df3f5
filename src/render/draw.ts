// Draws what a Markdown text says in a dialect. Recursion follows quotes and lists only, whose depth the parser bounds.
import { Canvas, type Handle } from "./canvas.ts";
import type { Dialect, Escapes, QuotePosition } from "./dialect.ts";
import { passesForAnother } from "./link-label.ts";
import type { Block, Inline, List, Style } from "./markdown/ast.ts";
import { sizeOf } from "./measure.ts";
import { alignedTable, flatTable } from "./tables.ts";
import type { MessageLimit } from "./types.ts";

export function draw(blocks: readonly Block[], dialect: Dialect, limit: MessageLimit): Canvas {
	const canvas = new Canvas(limit, dialect);
	const drawing = new Drawing(canvas, dialect, limit);
	blocks.forEach((block, index) => {
		// A heading stays with the text below it.
		if (blocks[index - 1]?.kind === "heading") canvas.newline(gapBefore(block));
		else canvas.markStart(gapBefore(block));
		drawing.block(block);
	});
	return canvas;
}

class Drawing {
	readonly #canvas: Canvas;
	readonly #dialect: Dialect;
	readonly #limit: MessageLimit;
	readonly #styles = new Map<Style, { depth: number; readonly handle: Handle }>();
	#quotes = 0;
	#lists = 0;

	constructor(canvas: Canvas, dialect: Dialect, limit: MessageLimit) {
		this.#canvas = canvas;
		this.#dialect = dialect;
		this.#limit = limit;
	}

	block(block: Block): void {
		switch (block.kind) {
			case "paragraph":
				this.#text(block.text);
				break;
			case "heading":
				this.#heading(block.level, block.text);
				break;
			case "code":
				this.#lines(block.value.split("\n"), block.language);
				break;
			case "quote":
				this.#quote(block.blocks);
				break;
			case "list":
				this.#list(block);
				break;
			case "table":
				this.#table(block);
				break;
			case "rule":
				this.#canvas.write("---");
				break;
			case "definition":
				if (!block.definition.used) this.#string(block.definition.source);
				break;
		}
	}

	#blocks(blocks: readonly Block[]): void {
		blocks.forEach((block, index) => {
			if (index > 0) this.#canvas.newline(gapBefore(block));
			this.block(block);
		});
	}

	#heading(level: number, text: readonly Inline[]): void {
		const element = this.#dialect.heading(level);
		if (!element) {
			this.#open("bold");
			this.#text(text);
			this.#close("bold");
			return;
		}
		const handle = this.#canvas.open(element);
		this.#text(text);
		this.#canvas.close(handle);
	}

	#quote(blocks: readonly Block[]): void {
		const handle = this.#canvas.open(this.#quotes === 0 ? this.#dialect.quote : undefined);
		this.#canvas.pushPrefix(this.#dialect.quotePrefix(this.#quotePosition(handle)), handle);
		this.#quotes++;
		this.#blocks(blocks);
		this.#quotes--;
		this.#canvas.popPrefix();
		this.#canvas.close(handle);
	}

	#quotePosition({ element }: Handle): QuotePosition {
		if (element) return "outer";
		if (this.#lists > 0) return "listed";
		return this.#quotes > 0 || this.#dialect.quote ? "inner" : "outer";
	}

	#list({ items, start, delimiter }: List): void {
		items.forEach((item, index) => {
			if (index > 0) this.#canvas.newline(gapBefore(item));
			const number = start === undefined ? undefined : `${start + index}${delimiter} `;
			const { plain, markup } =
				number === undefined ? this.#dialect.bullet : { plain: number, markup: number };
			const box = item.checked === undefined ? "" : item.checked ? "[x] " : "[ ] ";
			const indent = " ".repeat(plain.length);
			this.#canvas.pushPrefix({
				first: { plain: plain + box, markup: markup + box },
				rest: { plain: indent, markup: indent },
				onBlank: false,
				reopen: "",
			});
			this.#lists++;
			this.#blocks(item.blocks);
			this.#lists--;
			this.#canvas.touch();
			this.#canvas.popPrefix();
		});
	}

	#table({ rows, align }: Block & { kind: "table" }): void {
		const cells = rows.map((row) => row.map(cellOf));
		this.#lines(this.#dialect.alignsTables ? alignedTable(cells, align) : flatTable(cells), "");
	}

	/** Lines unchanged: code, or a table. */
	#lines(lines: readonly string[], language: string): void {
		if (lines.every((line) => line.trim() === "")) return;
		const handle = this.#canvas.open(this.#dialect.fence(language));
		this.#canvas.hidePrefixes(handle.element !== undefined);
		this.#canvas.touch();
		lines.forEach((line, index) => {
			if (index > 0) this.#canvas.hardNewline();
			this.#put(line, handle.element ? this.#dialect.code : this.#dialect.text);
		});
		this.#canvas.close(handle);
		this.#canvas.hidePrefixes(false);
	}

	#text(text: readonly Inline[]): void {
		for (let at = 0; at < text.length; at++) {
			const part = text[at];
			if (part?.kind === "link") at = this.#link(text, at, part);
			else if (part) this.#inline(part);
		}
	}

	#inline(part: Exclude<Inline, { kind: "link" }>): void {
		switch (part.kind) {
			case "text":
			case "tag":
				this.#string(part.value);
				break;
			case "code": {
				const handle = this.#canvas.open(this.#dialect.codeSpan(part.value));
				this.#put(part.value, handle.element ? this.#dialect.code : this.#dialect.text);
				this.#canvas.close(handle);
				break;
			}
			case "url":
				this.#put(part.value, this.#dialect.url);
				break;
			case "break":
				this.#canvas.newline();
				break;
			case "open":
				this.#open(part.style);
				break;
			case "close":
				this.#close(part.style);
				break;
			case "unlink":
				break;
		}
	}

	/** A style inside itself adds nothing, so what is open at once is bounded. */
	#open(style: Style): void {
		const known = this.#styles.get(style);
		if (known) {
			known.depth++;
			return;
		}
		const element = this.#dialect.style(style, new Set(this.#styles.keys()));
		this.#styles.set(style, { depth: 1, handle: this.#canvas.open(element, style === "strike" ? "~~" : "") });
	}

	#close(style: Style): void {
		const known = this.#styles.get(style);
		if (!known || --known.depth > 0) return;
		this.#styles.delete(style);
		this.#canvas.close(known.handle, style === "strike" ? "~~" : "");
	}

	/** Returns the offset of the link's end. An image becomes a link to it, or only its description inside another link. */
	#link(text: readonly Inline[], at: number, link: Inline & { kind: "link" }): number {
		const end = endOfLink(text, at, link.image);
		const inner = link.image ? describe(text.slice(at + 1, end)) : text.slice(at + 1, end);
		const label = stringOf(inner).trim();
		const { url } = link;
		if (label === "" || label === url || `mailto:${label}` === url) {
			this.#put(label || url, this.#dialect.url);
			return end;
		}
		const suffix = ` (${plainOf(url, this.#dialect.url)})`;
		const isShort = sizeOf(suffix, this.#limit.unit) <= this.#limit.max / 4;
		const isHonest = !passesForAnother(label, url);
		const handle = this.#canvas.open(isShort && isHonest ? this.#dialect.link(url, label) : undefined);
		this.#text(inner.filter((part) => part.kind !== "link" && part.kind !== "unlink"));
		this.#canvas.close(handle, handle.element ? suffix : "");
		if (handle.element || url === "") return end;
		this.#canvas.write(" (");
		this.#put(url, this.#dialect.url);
		this.#canvas.write(")");
		return end;
	}

	#string(text: string): void {
		text.split("\n").forEach((line, index) => {
			if (index > 0) this.#canvas.newline();
			this.#put(line, this.#canvas.atLineStart ? this.#dialect.lineStart : this.#dialect.text);
		});
	}

	#put(line: string, { pattern, swap }: Escapes): void {
		if (line.search(pattern) < 0) {
			this.#canvas.write(line);
			return;
		}
		let at = 0;
		for (const match of line.matchAll(pattern)) {
			this.#canvas.write(line.slice(at, match.index));
			this.#canvas.writeAtom(swap(match[0]));
			at = match.index + match[0].length;
		}
		this.#canvas.write(line.slice(at));
	}
}

/** How many line ends come before it: as many as in the source, at most two. */
function gapBefore({ apart }: { readonly apart: boolean }): number {
	return apart ? 2 : 1;
}

function endOfLink(text: readonly Inline[], at: number, image: boolean): number {
	let depth = 0;
	for (let end = at; end < text.length; end++) {
		const part = text[end];
		if (part?.kind === "link" && part.image === image) depth++;
		if (part?.kind === "unlink" && part.image === image && --depth === 0) return end;
	}
	return text.length;
}

function describe(inner: readonly Inline[]): Inline[] {
	const value = stringOf(inner);
	return value === "" ? [] : [{ kind: "text", value }];
}

function plainOf(text: string, { pattern, swap }: Escapes): string {
	return text.replace(pattern, (match) => swap(match).plain);
}

/** The visible text, without markup. */
function stringOf(text: readonly Inline[]): string {
	let shown = "";
	for (const part of text) {
		if (part.kind === "break") shown += " ";
		else if ("value" in part) shown += part.value;
	}
	return shown;
}

/** The same for the plain text, including link targets and struck-out text. */
function cellOf(cell: readonly Inline[]): string {
	const links: { readonly url: string; readonly from: number }[] = [];
	let shown = "";
	for (const part of cell) {
		if (part.kind === "link") links.push({ url: part.url, from: shown.length });
		if (part.kind === "unlink") {
			const { url, from } = links.pop() ?? { url: "", from: 0 };
			const isOwnLabel = url.endsWith(shown.slice(from));
			if (isOwnLabel) shown = shown.slice(0, from) + url;
			else if (url !== "") shown += ` (${url})`;
		}
		if ((part.kind === "open" || part.kind === "close") && part.style === "strike") shown += "~~";
		shown += part.kind === "break" ? " " : "value" in part ? part.value : "";
	}
	return shown.replaceAll("\n", " ");
}
