// The cost of rendering follows the length of the text, counted in executed blocks of code, not in time.
import { expect, test } from "vitest";
import { startCounting } from "../../test/support/blocks.ts";
import { MARKUPS, type Markup } from "./types.ts";

const cost = startCounting(/\/render\//);
const { renderParts } = await import("./index.ts");

const KB = 1024;

/** An answer of every kind of syntax, over and over. */
const ANSWER = `# Title

Some **bold** text with \`code\`, a [link](https://e.example/a?b=1&c=2), *emphasis* and ~~struck~~ words. Then more.

- item one
  - item *two*

> quoted
> lines

\`\`\`ts
const a = b < c && d;
\`\`\`

| a | b |
|---|--:|
| 1 | 2 |

`;

test("an answer of 1 MB costs four times as much as one of 256 KB", () => {
	expect(growth(ANSWER, "telegram_html", 256 * KB)).toBeLessThan(4.2);
});

test.each(MARKUPS)("an answer that is four times as long costs four times as much in %s", (markup) => {
	expect(growth(ANSWER, markup, 16 * KB)).toBeLessThan(4.4);
});

test.each([
	"word ",
	"x",
	"\u0024{secret:",
	"\u0024{secret:_A_}",
	"&",
	"<",
	"*a ",
	"_a*b ",
	"**",
	"[",
	"[a](",
	'[a](b "',
	"![a",
	"`a``",
	"> ",
	"- ",
	"> a\n",
	"- a\n",
	"  - a\n",
	"|a|b|\n|-|-|\n",
	"|",
	"[a]: /b\n",
	"<u>",
	"</b>",
	"<a b='",
	"```\n",
	"\n",
	" ",
	"     x",
	"\t\n",
	"https://",
	"👨‍👩‍👧‍👦",
	"🇬🇷",
	"\u0301",
	"。",
])("a text of nothing but %j costs no more per character when it is longer", (piece) => {
	for (const markup of ["telegram_html", "irc"] as const)
		expect(growth(piece, markup, 4 * KB)).toBeLessThan(4.8);
});

/** How much more a text costs that is four times as long. */
function growth(piece: string, markup: Markup, length: number): number {
	return steps(piece, 4 * length, markup) / steps(piece, length, markup);
}

/** How often the blocks of code of this folder are run for a text of that length. */
function steps(piece: string, length: number, markup: Markup): number {
	const source = piece.repeat(Math.ceil(length / piece.length));
	return cost(() => renderParts(source, { markup, limit: { max: 512, unit: "utf16" } }));
}
