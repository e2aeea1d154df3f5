// The law of splitting and the safety of each markup, for any text.
import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { describe, expect, test } from "vitest";
import {
	type Format,
	MARKUPS,
	type Markup,
	type Rendered,
	render,
	renderParts,
	type SplitPart,
	split,
} from "./index.ts";
import { sizeOf } from "./measure.ts";
import type { Element } from "./types.ts";

const RUNS = 300;

// biome-ignore format: a list of pieces, not of lines
const PIECES = [
	"word ", "longer sentence of text. ", "Is it? ", "中文字符，标点。", "שלום עולם ", "مرحبا ", "👨‍👩‍👧‍👦", "🇬🇷🇬🇷", "👍🏽", "e\u0301\u0302", "😀",
	"\ud83d", "\ude00", "\0", "\t", "\r\n", "\n", "\n\n", "\n\n\n", " ", "          ", "x".repeat(90), "\u200b", "\u00a0",
	"*", "**", "***", "_", "__", "~~", "`", "``", "```", "\\", "&", "&amp;", "<", ">", "<u>", "</u>", "<br>", "<b>", "</b>", "<script>",
	"**bold** ", "*it* ", "***both*** ", "~~gone~~ ", "`code & <x>` ", "`` a`b `` ", "\\*", "a_b_c", "**bo", "ld**", "<u></u>",
	"[text](https://a.example/x?y=1&z=2) ", "[**b** t](http://e.example)", "[", "](", ")", "[rel](/x) ", "[m](mailto:a@b.example)",
	`[long](https://e.example/${"p".repeat(60)}) `, "![alt](https://i.example/p.png) ", "[![a](http://b)](http://c) ", "<https://auto.example> ",
	"https://bare.example/a_b_c?d=e&f=g. ", "www.bare.example ", "[t](tg://user?id=1) ", "[https://fake](https://real.example) ",
	"@everyone ", "@here", "<@123> ", "<@!1>", "<@&9> ", "@", "everyone", "<!channel> ", "<@U123> ", "<#C1|x> ", "|", "||",
	"\n# Heading\n", "\n### Third *it*\n", "\n###### Six\n", "\nSetext\n===\n", "\n---\n", "\n- item\n", "\n- [x] done\n", "\n  - nested\n",
	"\n* a\n* b\n", "\n1. first\n2. second\n", "\n7) seven\n", "\n> quote\n", "\n> > deep\n", "\n> - a\n>   b\n", "\n- > q\n", "\n>".repeat(30),
	"- ".repeat(20), "\n    indented code\n", "\n```\ncode\n```\n", "\n```ts\nconst a = `b`;\n\nmore\n```\n", "\n~~~~\ntilde ``` fence\n~~~~\n",
	"\n```js\n", "\n- ```py\n  x = 1\n\n  y\n  ```\n", "\n> ```\n> q\n> ```\n", "\n    ```\n", "\n[d]: http://def.example\n", "[d] ", "[d][d]",
	"\n| a | b |\n|---|--:|\n| 1 | **2** |\n| x | [l](http://u) |\n", "# ", "> ", "1. ", "- ", "+ ", "-# ", "\x02", "\x1d", "\x03", "\x07",
];

const markdown = fc.oneof(
	fc
		.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary", maxLength: 6 })), {
			maxLength: 30,
		})
		.map((pieces) => pieces.join("")),
	fc
		.array(fc.tuple(fc.constantFrom(...PIECES), fc.integer({ min: 1, max: 12 })), { maxLength: 10 })
		.map((pieces) => pieces.map(([piece, count]) => piece.repeat(count)).join("")),
);
const limit = fc.record({
	max: fc.oneof(fc.integer({ min: 32, max: 80 }), fc.integer({ min: 81, max: 600 })),
	unit: fc.constantFrom("utf16", "codepoints", "bytes"),
} as const);

/** Renders and splits, and hands both to a check. */
function forAnyText(
	markup: Exclude<Markup, "markdown">,
	check: (whole: Rendered, parts: SplitPart[], format: Format) => void,
) {
	fc.assert(
		fc.property(markdown, limit, (source, limit) => {
			const format = { markup, limit };
			const whole = render(source, format);
			check(whole, split(whole, limit), format);
		}),
		{ numRuns: RUNS },
	);
}

const UNSEEN = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;

describe.each(MARKUPS.filter((markup) => markup !== "markdown"))("%s", (markup) => {
	test("every part is its slice of the whole, with nothing added but the tokens that balance it", () => {
		forAnyText(markup, (whole, parts) => {
			for (const { text, plain, opened, closed, closedAt, textRange, plainRange } of parts) {
				const slice = whole.text.slice(...textRange);
				expect(text).toBe(opened + slice.slice(0, closedAt) + closed + slice.slice(closedAt));
				expect(plain).toBe(whole.plain.slice(...plainRange));
				expect(slice.slice(closedAt).trim()).toBe("");
				expect(opened).toBe(
					openAt(whole, plainRange[0])
						.map((one) => one.reopen)
						.join(""),
				);
				const closers = openAt(whole, plainRange[1])
					.map((one) => one.close)
					.reverse()
					.join("");
				expect([closers, closers.replace(/^\n/, "")]).toContain(closed);
			}
		});
	});

	test("nothing but white space is lost between two parts", () => {
		forAnyText(markup, (whole, parts) => {
			let [plainAt, textAt] = [0, 0];
			for (const { plainRange, textRange } of [...parts, endOf(whole)]) {
				expect(whole.plain.slice(plainAt, plainRange[0])).toMatch(UNSEEN);
				expect(withoutTokens(whole, textAt, textRange[0])).toMatch(UNSEEN);
				[plainAt, textAt] = [plainRange[1], textRange[1]];
			}
		});
	});

	test("both twins of every part fit, show something, and break no character", () => {
		forAnyText(markup, (whole, parts, { limit }) => {
			for (const twin of parts.flatMap(({ text, plain }) => [text, plain])) {
				expect(sizeOf(twin, limit.unit)).toBeLessThanOrEqual(limit.max);
				expect(twin).not.toMatch(UNSEEN);
				expect(twin.isWellFormed()).toBe(true);
			}
			const characters = [...new Intl.Segmenter("en").segment(whole.plain)];
			if (characters.some(({ segment }) => sizeOf(segment, limit.unit) > limit.max / 2)) return;
			const offsets = new Set([...characters.map(({ index }) => index), whole.plain.length]);
			for (const { plainRange } of parts) for (const at of plainRange) expect(offsets).toContain(at);
		});
	});
});

test("Telegram gets well-formed HTML of its own tags in every part", () => {
	forAnyText("telegram_html", (whole, parts) => {
		const content = parseHtml(whole.text);
		for (const { text, textRange, opened, closed } of parts) {
			const shown = parseHtml(text);
			expect(content).toContain(shown);
			expect(text.length).toBe(textRange[1] - textRange[0] + opened.length + closed.length);
		}
	});
});

test("Discord gets balanced fences and no live mention, in the plain twin neither", () => {
	forAnyText("discord", (_, parts) => {
		for (const { text, plain } of parts) {
			expect(text.split("```").length % 2).toBe(1);
			for (const twin of [text, plain]) expect(twin).not.toMatch(/@everyone|@here|<@[!&]?\d/i);
		}
	});
});

test("Slack gets balanced fences, and angle brackets only around links", () => {
	forAnyText("slack", (_, parts) => {
		for (const { text, plain } of parts) {
			expect(text.split("```").length % 2).toBe(1);
			expect(text.replace(/<(?:https?:\/\/|mailto:)[^\s<>|]+\|[^<>]*>|^> /gim, "")).not.toMatch(/[<>]/);
			for (const twin of [text, plain]) expect(twin.replace(/&(?:amp|lt|gt);/g, "")).not.toContain("&");
			expect(plain).not.toMatch(/[<>]/);
		}
	});
});

test("IRC gets single lines, with no control codes but those for bold, italic, underline and reset, all undone at the end", () => {
	forAnyText("irc", (_, parts) => {
		for (const { text, plain } of parts) {
			const codes = controlCodes(text);
			expect(["\x02", "\x0f", "\x1d", "\x1f"]).toEqual(expect.arrayContaining(codes));
			expect(controlCodes(plain)).toEqual([]);
			const on = new Set<string>();
			for (const code of codes) {
				if (code === "\x0f") on.clear();
				else if (!on.delete(code)) on.add(code);
			}
			expect(on.size).toBe(0);
		}
	});
});

test("Markdown is passed through: joined parts are the source, and no part leaves a fence open", () => {
	const roomy = limit.map(({ max, unit }) => ({ max: max + 150, unit }));
	fc.assert(
		fc.property(markdown, roomy, (source, limit) => {
			fc.pre(!/`{12}|~{12}/.test(source));
			const whole = render(source, { markup: "markdown", limit });
			expect(whole.text).toBe(source.toWellFormed().replaceAll("\0", "\ufffd"));
			const parts = split(whole, limit);
			let at = 0;
			for (const { textRange } of [...parts, endOf(whole)]) {
				expect(whole.text.slice(at, textRange[0])).toMatch(UNSEEN);
				at = textRange[1];
			}
			for (const { text, plain } of renderParts(source, { markup: "markdown", limit })) {
				expect(sizeOf(text, limit.unit)).toBeLessThanOrEqual(limit.max);
				expect(sizeOf(plain, limit.unit)).toBeLessThanOrEqual(limit.max);
				expect(plain).not.toMatch(UNSEEN);
				const after = fromMarkdown(`${text}\n\n# after`, {
					extensions: [{ disable: { null: ["htmlFlow", "htmlText"] } }],
				}).children.at(-1);
				expect(after?.type).toBe("heading");
			}
		}),
		{ numRuns: RUNS },
	);
});

test("no word of the answer is lost, whatever syntax stands around it", () => {
	const syntax = PIECES.filter((piece) => !/[a-z]{2}.*\]\(|\[d\]|`{3}|~{3}|http|www|<[a-z/]/.test(piece));
	fc.assert(
		fc.property(
			fc.constantFrom(...MARKUPS),
			fc.array(fc.constantFrom(...syntax), { maxLength: 20 }),
			limit,
			(markup, pieces, limit) => {
				const words = pieces.map((_, index) => `qq${index}zz`);
				const source = pieces.map((piece, index) => `${piece} ${words[index]} `).join("");
				const joined = renderParts(source, { markup, limit })
					.map(({ plain }) => plain)
					.join("");
				for (const word of words) expect(joined).toContain(word);
			},
		),
		{ numRuns: RUNS },
	);
});

/** All control characters of ASCII but the tab. */
function controlCodes(text: string): string[] {
	return [...text].filter((char) => (char < " " && char !== "\t") || char === "\x7f");
}

function endOf({ plain, text }: Rendered): Pick<SplitPart, "plainRange" | "textRange"> {
	return { plainRange: [plain.length, plain.length], textRange: [text.length, text.length] };
}

function openAt({ marks }: Rendered, at: number): Element[] {
	const open: Element[] = [];
	for (const mark of marks) {
		if (mark.at > at || (mark.at === at && !(mark.kind === "close" && mark.skip === 0))) break;
		if (mark.kind === "open" && mark.element) open.push(mark.element);
		if (mark.kind === "close") open.pop();
	}
	return open;
}

/** The markup between two offsets, without what marks put there. */
function withoutTokens({ text, marks }: Rendered, from: number, to: number): string {
	let shown = "";
	let at = from;
	for (const mark of marks) {
		if (mark.textAt < from || mark.textAt + mark.width > to || mark.kind === "swap") continue;
		shown += text.slice(at, mark.textAt);
		at = mark.textAt + mark.width;
	}
	return shown + text.slice(at, to);
}

/** A strict parser of Telegram's HTML; returns the text it shows. */
function parseHtml(html: string): string {
	const open: string[] = [];
	const token =
		/<(b|i|u|s|code|pre|blockquote)>|<(a) href="[^"<>\s]*">|<(code) class="language-[\w+#.-]+">|<\/(\w+)>|&(amp|lt|gt|quot);|([^<>&]+)/y;
	let shown = "";
	while (token.lastIndex < html.length) {
		const at = token.lastIndex;
		const match = token.exec(html);
		if (!match) throw new Error(`not HTML at ${at}: ${JSON.stringify(html.slice(at, at + 40))}`);
		const [, tag, link, code, closing, entity, text = ""] = match;
		const opening = tag ?? link ?? code;
		if (opening) {
			if (opening === "blockquote" && open.includes(opening)) throw new Error("a quote in a quote");
			open.push(opening);
		}
		if (closing && open.pop() !== closing) throw new Error(`</${closing}> closes nothing in ${html}`);
		shown += entity ? ({ amp: "&", lt: "<", gt: ">", quot: '"' }[entity] ?? "") : text;
	}
	if (open.length > 0) throw new Error(`left open: ${open} in ${html}`);
	return shown;
}
