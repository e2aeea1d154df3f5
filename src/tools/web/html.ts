// Converts a web page to Markdown: its content without decoration. Accepts any bytes, in linear time, and yields now and then, so that
// other work continues.
import { decodeReferences } from "../../render/index.ts";

export interface ReadablePage {
	readonly title: string;
	readonly text: string;
}

/** Their content is code, data or decoration. */
const DROPPED = new Set(
	"script style template svg math iframe object canvas video audio select noscript textarea".split(" "),
);
/** Nothing in them is a tag until their end tag. */
const RAW = new Set("script style textarea title iframe noscript".split(" "));
const BLOCKS = new Set(
	"p div section article main header footer nav aside address form fieldset figure figcaption dl dt dd details summary table tbody thead tfoot ul ol hr".split(
		" ",
	),
);
const VOID = new Set("br hr img input meta link area base col embed source track wbr".split(" "));
const MARKS: Readonly<Record<string, string>> = { b: "**", strong: "**", i: "*", em: "*", code: "`" };
/** If a page marks its content and has this much of it, the rest is left out. */
const ENOUGH = 250;
const PAUSE_EVERY = 64 * 1024;

/** Yields where it may be interrupted. */
export function* readHtml(html: string, base: URL): Generator<void, ReadablePage> {
	const page = new Writer(base);
	let paused = 0;
	for (let at = 0; at < html.length; ) {
		if (at - paused > PAUSE_EVERY) {
			paused = at;
			yield;
		}
		const open = html.indexOf("<", at);
		if (open < 0) {
			page.text(html.slice(at));
			break;
		}
		if (open > at) page.text(html.slice(at, open));
		const token = readTag(html, open);
		if (token === null) {
			page.text("<");
			at = open + 1;
			continue;
		}
		at = token.end;
		if (token.kind === "close") page.close(token.name);
		else if (token.kind === "open") {
			page.open(token.name, token.attributes);
			if (VOID.has(token.name) || token.isClosed) continue;
			if (RAW.has(token.name)) {
				const end = endOfRaw(html, at, token.name);
				if (token.name === "title") page.title ||= decodeReferences(html.slice(at, end));
				at = end;
			}
		}
	}
	return page.finish();
}

type Token =
	| {
			readonly kind: "open";
			readonly name: string;
			readonly attributes: string;
			readonly isClosed: boolean;
			readonly end: number;
	  }
	| { readonly kind: "close"; readonly name: string; readonly end: number }
	| { readonly kind: "nothing"; readonly end: number };

/** Null: the sign is text. An unclosed one reaches to the end of the page. */
function readTag(html: string, open: number): Token | null {
	if (html.startsWith("<!--", open)) {
		const end = html.indexOf("-->", open + 4);
		return { kind: "nothing", end: end < 0 ? html.length : end + 3 };
	}
	const next = html.charCodeAt(open + 1);
	if (next === 0x21 || next === 0x3f) {
		const end = html.indexOf(">", open);
		return { kind: "nothing", end: end < 0 ? html.length : end + 1 };
	}
	const isClose = next === 0x2f;
	const start = open + (isClose ? 2 : 1);
	let at = start;
	while (isNameCharacter(html.charCodeAt(at))) at++;
	if (at === start || !isLetter(html.charCodeAt(start))) return null;
	const name = html.slice(start, at).toLowerCase();
	const from = at;
	for (let quote = 0; at < html.length; at++) {
		const code = html.charCodeAt(at);
		if (quote !== 0) {
			if (code === quote) quote = 0;
		} else if (code === 0x3e) break;
		// A quote opens a value only after =.
		else if ((code === 0x22 || code === 0x27) && html.charCodeAt(at - 1) === 0x3d) quote = code;
	}
	const end = Math.min(html.length, at + 1);
	if (isClose) return { kind: "close", name, end };
	return {
		kind: "open",
		name,
		attributes: html.slice(from, at),
		isClosed: html.charCodeAt(at - 1) === 0x2f,
		end,
	};
}

function isLetter(code: number): boolean {
	return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isNameCharacter(code: number): boolean {
	return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x3a;
}

function endOfRaw(html: string, from: number, name: string): number {
	const end = new RegExp(`</${name}`, "gi");
	end.lastIndex = from;
	return end.exec(html)?.index ?? html.length;
}

const MOST_ATTRIBUTES = 4096;

function attribute(attributes: string, name: string): string | undefined {
	const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(
		attributes.slice(0, MOST_ATTRIBUTES),
	);
	const value = found?.[1] ?? found?.[2] ?? found?.[3];
	return value === undefined ? undefined : decodeReferences(value);
}

/** What readers of the page do not see is not shown to the model either. */
function isHidden(attributes: string): boolean {
	return /(?:^|\s)hidden(?:[\s=]|$)|display\s{0,4}:\s{0,4}none/i.test(attributes.slice(0, MOST_ATTRIBUTES));
}

/** Joins the pieces: separate blocks, single spaces. */
class Writer {
	title = "";
	readonly #base: URL;
	readonly #parts: string[] = [];
	#length = 0;
	/** The end of the output: decides about spaces and lines. */
	#last = "\n";
	#breaks = 0;
	/** The outermost omitted element, and how many of its name are open in it. */
	#dropped: { readonly name: string; depth: number } | null = null;
	#preformatted = 0;
	readonly #lists: { readonly ordered: boolean; count: number }[] = [];
	readonly #links: ({ readonly target: string; readonly begin: number } | null)[] = [];
	#cells = 0;
	#main: { readonly part: number; readonly length: number; depth: number; readonly name: string } | null =
		null;
	#best: { readonly from: number; readonly to: number; readonly length: number } | null = null;

	constructor(base: URL) {
		this.#base = base;
	}

	text(raw: string): void {
		if (this.#dropped) return;
		const text = decodeReferences(raw);
		if (this.#preformatted > 0) {
			this.#write(text);
			return;
		}
		const squeezed = text.replaceAll(/[ \t\n\r\f\u00a0]+/g, " ");
		const needsNoSpace = this.#breaks > 0 || /\s/.test(this.#last.charAt(this.#last.length - 1));
		this.#write(needsNoSpace ? squeezed.replace(/^ /, "") : squeezed);
	}

	open(name: string, attributes: string): void {
		if (this.#dropped) {
			if (this.#dropped.name === name) this.#dropped.depth++;
			return;
		}
		if (DROPPED.has(name) || isHidden(attributes)) {
			if (!VOID.has(name) && !RAW.has(name)) this.#dropped = { name, depth: 1 };
			return;
		}
		if (BLOCKS.has(name)) this.#break(2);
		const heading = /^h([1-6])$/.exec(name);
		if (heading) {
			this.#break(2);
			this.#write(`${"#".repeat(Number(heading[1]))} `);
		}
		if ((name === "main" || name === "article") && !this.#main)
			this.#main = { part: this.#parts.length, length: this.#length, depth: 0, name };
		else if (this.#main?.name === name) this.#main.depth++;
		switch (name) {
			case "br":
				if (this.#preformatted > 0) this.#write("\n");
				else this.#break(1);
				return;
			case "hr":
				this.#write("---");
				this.#break(2);
				return;
			case "pre":
				this.#break(2);
				this.#write("```\n");
				this.#preformatted++;
				return;
			case "blockquote":
				this.#break(2);
				this.#write("> ");
				return;
			case "ul":
			case "ol":
				this.#lists.push({ ordered: name === "ol", count: 0 });
				return;
			case "li":
				this.#item();
				return;
			case "tr":
				this.#cells = 0;
				this.#break(1);
				return;
			case "td":
			case "th":
				this.#write(this.#cells++ === 0 ? "| " : " | ");
				return;
			case "img":
				this.text(attribute(attributes, "alt") ?? "");
				return;
			case "a": {
				const target = this.#target(attribute(attributes, "href"));
				if (target !== null) this.#write("[");
				this.#links.push(target === null ? null : { target, begin: this.#parts.length });
				return;
			}
			default:
				if (MARKS[name] !== undefined && this.#preformatted === 0) this.#write(MARKS[name]);
		}
	}

	close(name: string): void {
		if (this.#dropped) {
			if (this.#dropped.name === name && --this.#dropped.depth === 0) this.#dropped = null;
			return;
		}
		if (name === "pre" && this.#preformatted > 0) {
			this.#preformatted--;
			this.#write(this.#last.endsWith("\n") ? "```" : "\n```");
			this.#break(2);
			return;
		}
		if (name === "a") {
			const link = this.#links.pop();
			// A link without text is dropped.
			if (link && link.begin === this.#parts.length) this.#parts.pop();
			else if (link) this.#write(`](${link.target})`);
		}
		if (name === "ul" || name === "ol") this.#lists.pop();
		if (MARKS[name] !== undefined && this.#preformatted === 0) this.#write(MARKS[name]);
		if (BLOCKS.has(name) || /^(h[1-6]|blockquote)$/.test(name)) this.#break(2);
		if (this.#main?.name === name && this.#main.depth-- === 0) {
			const length = this.#length - this.#main.length;
			if (length > (this.#best?.length ?? 0))
				this.#best = { from: this.#main.part, to: this.#parts.length, length };
			this.#main = null;
		}
	}

	finish(): ReadablePage {
		const best = this.#best && this.#best.length >= ENOUGH ? this.#best : null;
		const parts = best ? this.#parts.slice(best.from, best.to) : this.#parts;
		const lines = parts.join("").split("\n");
		const text = lines.map((line) => line.trimEnd()).join("\n");
		return {
			title: this.title.replaceAll(/\s+/g, " ").trim(),
			text: text.replaceAll(/\n{3,}/g, "\n\n").trim(),
		};
	}

	#item(): void {
		this.#break(1);
		const list = this.#lists.at(-1);
		const indent = "  ".repeat(Math.min(10, Math.max(0, this.#lists.length - 1)));
		this.#write(`${indent}${list?.ordered ? `${++list.count}.` : "-"} `);
	}

	/** Null if there is nothing to follow. */
	#target(href: string | undefined): string | null {
		if (href === undefined || href.startsWith("#") || !URL.canParse(href, this.#base.href)) return null;
		const { protocol, href: whole } = new URL(href, this.#base);
		return /^(https?|mailto):$/.test(protocol) ? whole.replaceAll("(", "%28").replaceAll(")", "%29") : null;
	}

	#break(lines: number): void {
		this.#breaks = Math.max(this.#breaks, this.#length === 0 ? 0 : lines);
	}

	#write(text: string): void {
		if (text === "") return;
		if (this.#breaks > 0) {
			this.#parts.push("\n".repeat(this.#breaks));
			this.#breaks = 0;
		}
		this.#parts.push(text);
		this.#length += text.length;
		this.#last = text;
	}
}
