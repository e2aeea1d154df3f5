// The parser against another one, micromark, with the few things switched off that Keryx leaves out.
import fc from "fast-check";
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { describe, expect, test } from "vitest";
import type { Block, Inline } from "./ast.ts";
import { MAX_DEPTH, parseBlocks } from "./blocks.ts";
import { parseMarkdown } from "./parse.ts";

const RUNS = 1500;

// biome-ignore format: a list of pieces, not of lines
const INLINE_PIECES = [
	"*", "**", "_", "__", "~~", "`", "``", "[", "]", "(", ")", "![", "](", "[a](b)", "[a]", "[a][b]", "<u>", "\\", "\\*", "&amp;", "&#65;", "&nope;",
	"<", ">", "a", "b c", " ", "  ", "\n", "  \n", "\\\n", "é", "中文", "。", ".", "!", '"', "'", "x_y", "(<b c>)", '(b "t")', "\u00a0",
];

// biome-ignore format: a list of pieces, not of lines
const BLOCK_PIECES = [
	...INLINE_PIECES, "\n", "\n\n", "\n> ", "\n>", "\n- ", "\n* ", "\n1. ", "\n1) ", "\n  ", "\n    ", "\n\t", "\n# ", "\n## x #", "\n---", "\n===",
	"\n```", "\n```ts\n", "\n~~~", "\n| a | b |\n|---|:-:|\n| 1 | 2 |", "\n|", " | ", "\n[a]: /u", "\n[b]: <v> 'w'", "- ", "> ", "1. ", "+ ", "# ",
	"***\n", "- [x] a", "- [ ] a", "\n   ", "\n-", "\n\n\n", "\n      ",
];

/** Where micromark itself leaves CommonMark: runs of three, markers side by side, empty items, code after a quote. */
const DISPUTED =
	/<!|[*_]{3}|\*[_~]|_[*~]|~[*_]|(?:[-+*]|\d[.)])[ \t]*$|^ *>[ >]*\n(?: {4}|\t)|^(?: {4}|\t).*\n[-:| ]+$/m;

describe("the parser agrees with micromark", () => {
	test("on the text inside a paragraph", () => {
		fc.assert(
			fc.property(fc.array(fc.constantFrom(...INLINE_PIECES), { maxLength: 14 }), (pieces) => {
				const source = `x${pieces.join("")}`;
				fc.pre(!DISPUTED.test(source));
				expect(outline(parseMarkdown(source))).toBe(outlineOf(source));
			}),
			{ numRuns: RUNS },
		);
	});

	test("on blocks", () => {
		fc.assert(
			fc.property(fc.array(fc.constantFrom(...BLOCK_PIECES), { maxLength: 16 }), (pieces) => {
				const source = `${pieces.join("")}\n\nend`;
				fc.pre(!DISPUTED.test(source));
				// They differ in whether the blank end of a quote makes a list loose.
				const compared = (text: string) =>
					source.includes(">") ? text.replace(/(<(?:list|li) \w+) \w+>/g, "$1>") : text;
				expect(compared(outline(parseMarkdown(source)))).toBe(compared(outlineOf(source)));
			}),
			{ numRuns: RUNS },
		);
	});
});

describe("the parser", () => {
	test.each([
		["***both***", "<p><italic><bold>both</bold></italic></p>"],
		["**a *b* c**", "<p><bold>a <italic>b</italic> c</bold></p>"],
		["snake_case_name", "<p>snake_case_name</p>"],
		["~~gone~~ ~5 to ~10", "<p><strike>gone</strike> ~5 to ~10</p>"],
		["<u>under</u> a<br>b", "<p><underline>under</underline> a<br>b</p>"],
		["<u>open **</u>**", "<p><u>open <bold></u></bold></p>"],
		["see https://a.example/b_c_d.", "<p>see https://a.example/b_c_d.</p>"],
		["(www.a.example/x)", "<p>(www.a.example/x)</p>"],
		["-\n-  x", "<list undefined false><li undefined false></li><li undefined false><p>x</p></li></list>"],
		["text:\n| a |\n|---|\n| 1 |", "<p>text:</p><table left><tr><td>a</td></tr><tr><td>1</td></tr></table>"],
		["<div>\n**b**\n</div>", "<p><div>\\n<bold>b</bold>\\n</div></p>"],
		["&hearts; &unknown;", "<p>♥ &unknown;</p>"],
	])("reads %j", (source, expected) => {
		expect(outline(parseMarkdown(source))).toBe(expected);
	});

	test("takes markers for text past the greatest depth, instead of going deeper", () => {
		const deep = parseMarkdown(`${"> ".repeat(5000)}end`);
		let depth = 0;
		let [block] = deep;
		for (; block?.kind === "quote"; [block] = block.blocks) depth++;
		expect(depth).toBe(MAX_DEPTH);
		expect(block && blockOutline(block)).toContain("> end");
	});

	test("says of a link definition whether a link uses it", () => {
		const blocks = parseMarkdown("[used] and [other]\n\n[used]: /a\n[unused]: /b");
		expect(blocks.flatMap((one) => (one.kind === "definition" ? [one.definition] : []))).toEqual([
			{ url: "/a", source: "[used]: /a", used: true },
			{ url: "/b", source: "[unused]: /b", used: false },
		]);
	});

	test("says where a fence stands in the source", () => {
		const source = "a\n\n> ```ts\n> code\n> ```\nb";
		const [fence] = parseBlocks(source).fences;
		expect(fence && source.slice(fence.from, fence.bodyFrom)).toBe("> ```ts\n");
		expect(fence && source.slice(fence.bodyFrom, fence.bodyTo)).toBe("> code");
		expect(fence && source.slice(fence.bodyTo, fence.to)).toBe("\n> ```");
		expect(fence).toMatchObject({ marker: "```", language: "ts", inside: ["quote"] });
	});
});

function outline(blocks: readonly Block[]): string {
	return blocks.map(blockOutline).join("");
}

function blockOutline(block: Block): string {
	switch (block.kind) {
		case "paragraph":
			return `<p>${textOutline(block.text)}</p>`;
		case "heading":
			return `<h${block.level}>${textOutline(block.text)}</h>`;
		case "code":
			return `<pre ${JSON.stringify(block.language)}>${JSON.stringify(block.value.trimEnd())}</pre>`;
		case "quote":
			return `<quote>${block.blocks.map(blockOutline).join("")}</quote>`;
		case "rule":
			return "<hr>";
		case "definition":
			return "";
		case "list": {
			const items = block.items.map(
				(item) =>
					`<li ${item.checked} ${item.blocks.some((one) => one.apart)}>${item.blocks.map(blockOutline).join("")}</li>`,
			);
			return `<list ${block.start} ${block.items.some((one) => one.apart)}>${items.join("")}</list>`;
		}
		case "table": {
			const rows = block.rows.map((row) =>
				(row.length > 0 ? row : [[]]).map((cell) => `<td>${textOutline(cell)}</td>`).join(""),
			);
			return `<table ${block.align}>${rows.map((row) => `<tr>${row}</tr>`).join("")}</table>`;
		}
	}
}

/** What stands in an image's brackets is its description: text only. */
function textOutline(text: readonly Inline[]): string {
	let images = 0;
	return text
		.map((inline) => {
			if (inline.kind === "unlink" && inline.image && --images > 0) return "";
			if (inline.kind === "link" && inline.image && images++ > 0) return "";
			if (images === 0 || (inline.kind === "link" && inline.image)) return inlineOutline(inline);
			if (inline.kind === "code") return inline.value;
			return inline.kind === "text" || inline.kind === "tag" ? inlineOutline(inline) : "";
		})
		.join("");
}

function inlineOutline(inline: Inline): string {
	switch (inline.kind) {
		case "text":
			return JSON.stringify(inline.value).slice(1, -1);
		case "url":
		case "tag":
			return inline.value;
		case "code":
			return `<code>${JSON.stringify(inline.value.replace(/ +/g, " ").trim())}</code>`;
		case "break":
			return "<br>";
		case "open":
			return `<${inline.style}>`;
		case "close":
			return `</${inline.style}>`;
		case "link":
			return inline.image ? `<img ${inline.url}>` : `<a ${inline.url}>`;
		case "unlink":
			return inline.image ? "</img>" : "</a>";
	}
}

function outlineOf(source: string): string {
	const root = fromMarkdown(source, {
		extensions: [gfm({ singleTilde: false }), { disable: { null: ["htmlFlow"] } }],
		mdastExtensions: [gfmFromMarkdown()],
	});
	const urls = new Map<string, string>();
	const collect = (node: Nodes): void => {
		if (node.type === "definition" && !urls.has(node.identifier)) urls.set(node.identifier, node.url);
		if ("children" in node) for (const child of node.children) collect(child);
	};
	collect(root);
	const inner = (node: Nodes): string => ("children" in node ? node.children.map(show).join("") : "");
	const show = (node: Nodes): string => {
		switch (node.type) {
			case "root":
				return inner(node);
			case "paragraph":
				return `<p>${inner(node)}</p>`;
			case "heading":
				return `<h${node.depth}>${inner(node)}</h>`;
			case "code":
				return `<pre ${JSON.stringify(node.lang ?? "")}>${JSON.stringify(node.value.trimEnd())}</pre>`;
			case "blockquote":
				return `<quote>${inner(node)}</quote>`;
			case "thematicBreak":
				return "<hr>";
			case "list": {
				return `<list ${node.start ?? undefined} ${node.spread}>${inner(node)}</list>`;
			}
			case "listItem":
				return `<li ${node.checked ?? undefined} ${node.spread}>${typeof node.checked === "boolean" ? inner(node).replace(/^<p> +/, "<p>") : inner(node)}</li>`;
			case "table":
				return `<table ${node.align?.map((one) => one ?? "left")}>${inner(node)}</table>`;
			case "tableRow":
				return `<tr>${inner(node)}</tr>`;
			case "tableCell":
				return `<td>${inner(node)}</td>`;
			case "text":
				return JSON.stringify(node.value).slice(1, -1);
			case "html":
				return node.value;
			case "inlineCode":
				return `<code>${JSON.stringify(node.value.replace(/[ \n]+/g, " ").trim())}</code>`;
			case "break":
				return "<br>";
			case "strong":
				return `<bold>${inner(node)}</bold>`;
			case "emphasis":
				return `<italic>${inner(node)}</italic>`;
			case "delete":
				return `<strike>${inner(node)}</strike>`;
			case "link":
				return `<a ${node.url}>${inner(node)}</a>`;
			case "linkReference":
				return `<a ${urls.get(node.identifier)}>${inner(node)}</a>`;
			case "image":
				return `<img ${node.url}>${JSON.stringify(node.alt).slice(1, -1)}</img>`;
			case "imageReference":
				return `<img ${urls.get(node.identifier)}>${JSON.stringify(node.alt).slice(1, -1)}</img>`;
			case "definition":
			case "footnoteDefinition":
			case "footnoteReference":
			case "yaml":
				return "";
		}
	};
	return show(root);
}
