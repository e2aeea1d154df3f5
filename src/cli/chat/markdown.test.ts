import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { columns } from "../io/width.ts";
import { renderMarkdown } from "./markdown.ts";

const plain = (text: string, width = 80) => renderMarkdown(text, { columns: width, colour: false });
const coloured = (text: string, width = 80) => renderMarkdown(text, { columns: width, colour: true });

describe("without colour", () => {
	test.each<[string, string[]]>([
		["# Head *er*\ntext", ["# Head er", "text"]],
		["one\ntwo\n\nthree", ["one", "two", "", "three"]],
		["**b** *i* `c` ~~s~~", ["b i `c` ~~s~~"]],
		["[t](https://e.example) <https://e.example>", ["t (https://e.example) https://e.example"]],
		["![cat](https://e.example/c.png)", ["cat (https://e.example/c.png)"]],
		["- a\n  goes on\n  - b\n- [x] c", ["• a", "  goes on", "  • b", "• [x] c"]],
		["9. a\n10. b\n\n    apart", ["9. a", "10. b", "", "    apart"]],
		["> said\n> > deeper", ["│ said", "│ │ deeper"]],
		["```sh\nls\n\n\tx\n```\nend", ["    ls", "", "        x", "end"]],
		[
			"| a | b |\n|---|--:|\n| 名前 | 1 |\n| x | 200 |",
			["a    │   b", "─────┼────", "名前 │   1", "x    │ 200"],
		],
		["a\n\n---\n\nb", ["a", "", "─".repeat(40), "", "b"]],
		["[]()", ["[]()"]],
		["", []],
	])("%j", (source, lines) => {
		expect(plain(source)).toEqual(lines);
	});

	test("there is not one escape code", () => {
		expect(plain("# *a* `b` [c](d)\n\n> e\n\n```\nf\n```").join("")).not.toContain("\x1b");
	});
});

describe("with colour", () => {
	test("marks become looks and the words stay", () => {
		const [line] = coloured("**b** and `c`");
		expect(line).toContain("\x1b[1mb\x1b[22m");
		expect(stripVTControlCharacters(line ?? "")).toBe("b and c");
	});

	test("a style that reaches over a line break is on in both lines and off at their ends", () => {
		const lines = coloured("**one two**", 8);
		expect(lines).toEqual(["\x1b[1mone two\x1b[22m"]);
		expect(coloured("**oneone twotwo**", 8)).toEqual(["\x1b[1moneone\x1b[22m", "\x1b[1mtwotwo\x1b[22m"]);
	});
});

describe("a narrow terminal", () => {
	test("text is wrapped with its indentation", () => {
		expect(plain("- a list of some words\n\n> a quote of some words", 20)).toEqual([
			"• a list of some",
			"  words",
			"",
			"│ a quote of some",
			"│ words",
		]);
	});

	test("code is cut, not wrapped", () => {
		expect(plain("```\nif (a) { return  bbbbbb; }\n```", 20)).toEqual(["  if (a) { return  b", "  bbbbb; }"]);
	});

	test("a table that is too wide is told row by row", () => {
		const table = "| Name | Reason |\n|---|---|\n| apple | red and round |\n| pear | |\n| | green |";
		expect(plain(table, 20)).toEqual([
			"Name: apple",
			"Reason: red and",
			"round",
			"",
			"Name: pear",
			"",
			"Reason: green",
		]);
	});

	test("deep lists give up their indentation, not their text", () => {
		const deep = Array.from({ length: 12 }, (_, depth) => `${"  ".repeat(depth)}- level${depth}`).join("\n");
		const lines = plain(deep, 20);
		expect(lines.join(" ")).toContain("level11");
		for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(20);
	});
});

test("a character named by an entity cannot reach the terminal", () => {
	expect(plain("&#27;[2J &#x202e;x `a\u001bb`")).toEqual(["\\u001b[2J \\u202ex `a\\u001bb`"]);
	expect(plain("```\n\u001b[2J\r\u0007\n```")).toEqual(["    \\u001b[2J", "    \\u0007"]);
});

const piece = fc.constantFrom(
	"# ",
	"- ",
	"1. ",
	"> ",
	"```",
	"\n",
	"\n\n",
	"  ",
	"|",
	"|-|-|",
	"**",
	"`",
	"~~",
	"[",
	"](u)",
	"<b>",
	"&#27;",
	"\u001b[31m",
	"word ",
	"longlonglonglonglongword",
	"名前",
	"👨‍👩‍👧",
	"e\u0301",
	"\t",
	"\u202e",
	"---",
	"[a]: /b",
);

test("whatever the text, no line is too wide, and nothing in it moves the cursor", () => {
	fc.assert(
		fc.property(
			fc.array(piece, { maxLength: 40 }),
			fc.integer({ min: 8, max: 90 }),
			fc.boolean(),
			(parts, width, colour) => {
				for (const line of renderMarkdown(parts.join(""), { columns: width, colour })) {
					// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are the only escapes there may be
					const text = line.replace(/\x1b\[\d+m/g, "");
					expect(columns(text)).toBeLessThanOrEqual(width);
					expect(text.replace(/\p{RGI_Emoji}/gv, "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
					if (!colour) expect(line).toBe(text);
				}
			},
		),
		{ numRuns: 500 },
	);
});
