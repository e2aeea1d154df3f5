// An answer as HTML, from its Markdown. Every word is escaped, links lead to web and mail addresses only, and nothing is fetched: no
// pictures, no styles from elsewhere (I11).
import { type Block, type Inline, parseMarkdown } from "../../render/index.ts";

const LINK = /^(?:https?|mailto):/i;
const TAGS = { bold: "strong", italic: "em", underline: "u", strike: "s" } as const;

export function toHtml(markdown: string): string {
	const body = blocks(parseMarkdown(markdown.replace(/\r\n?/g, "\n")));
	return `<!DOCTYPE html><html><body style="font-family:sans-serif;line-height:1.45">${body}</body></html>`;
}

function blocks(all: readonly Block[]): string {
	return all.map(block).join("\n");
}

function block(one: Block): string {
	switch (one.kind) {
		case "paragraph":
			return `<p>${inlines(one.text)}</p>`;
		case "heading": {
			const level = Math.min(6, Math.max(1, one.level));
			return `<h${level}>${inlines(one.text)}</h${level}>`;
		}
		case "code":
			return `<pre style="background:#f4f4f4;padding:8px;white-space:pre-wrap"><code>${escaped(one.value)}</code></pre>`;
		case "quote":
			return `<blockquote style="border-left:3px solid #ccc;margin-left:0;padding-left:12px">${blocks(one.blocks)}</blockquote>`;
		case "list": {
			const items = one.items.map(
				({ checked, blocks: inside }) =>
					`<li>${checked === undefined ? "" : checked ? "☑ " : "☐ "}${tight(inside)}</li>`,
			);
			return one.start === undefined
				? `<ul>${items.join("")}</ul>`
				: `<ol start="${Math.trunc(one.start)}">${items.join("")}</ol>`;
		}
		case "table": {
			const cell = (tag: string, text: readonly Inline[], at: number) =>
				`<${tag} style="border:1px solid #ccc;padding:4px 8px;text-align:${one.align[at] ?? "left"}">${inlines(text)}</${tag}>`;
			const rows = one.rows.map(
				(row, n) => `<tr>${row.map((text, at) => cell(n === 0 ? "th" : "td", text, at)).join("")}</tr>`,
			);
			return `<table style="border-collapse:collapse">${rows.join("")}</table>`;
		}
		case "rule":
			return "<hr>";
		case "definition":
			return one.definition.used ? "" : `<p>${escaped(one.definition.source)}</p>`;
	}
}

/** A list item of one paragraph needs no space around it. */
function tight(inside: readonly Block[]): string {
	const [only] = inside;
	return inside.length === 1 && only?.kind === "paragraph" ? inlines(only.text) : blocks(inside);
}

function inlines(text: readonly Inline[]): string {
	const links: boolean[] = [];
	let html = "";
	for (const one of text) html += inline(one, links);
	return html;
}

/** `links`: whether each open link is shown as one. */
function inline(one: Inline, links: boolean[]): string {
	switch (one.kind) {
		case "text":
			return escaped(one.value).replaceAll("\n", "<br>");
		case "tag":
			return escaped(one.value);
		case "code":
			return `<code>${escaped(one.value)}</code>`;
		case "url":
			return LINK.test(one.value) ? anchor(one.value) + escaped(one.value) + END : escaped(one.value);
		case "break":
			return "<br>";
		case "open":
			return `<${TAGS[one.style]}>`;
		case "close":
			return `</${TAGS[one.style]}>`;
		case "link": {
			const isShown = LINK.test(one.url);
			links.push(isShown);
			return isShown ? anchor(one.url) : "";
		}
		case "unlink":
			return links.pop() ? END : "";
	}
}

const END = "</a>";

function anchor(url: string): string {
	return `<a href="${escaped(url.replace(/[\s\p{Cc}]/gu, ""))}">`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
	return text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}
