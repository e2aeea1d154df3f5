import fc from "fast-check";
import { expect, test } from "vitest";
import { columns, columnsOf, graphemes } from "./width.ts";

test.each([
	["", 0],
	["abc", 3],
	["e\u0301", 1],
	["名前", 4],
	["。（", 4],
	["Ａ", 2],
	["한글", 4],
	["👍", 2],
	["👍🏽", 2],
	["👨‍👩‍👧‍👦", 2],
	["🇬🇷", 2],
	["❤️", 2],
	["❤", 1],
	["1️⃣", 2],
	["─│▸✓…", 5],
	["ﷺ", 1],
])("%j takes %i columns", (text, expected) => {
	expect(columns(text)).toBe(expected);
});

test("a text is as wide as its characters together", () => {
	fc.assert(
		fc.property(fc.string({ unit: "grapheme" }), (text) => {
			expect(graphemes(text).join("")).toBe(text);
			expect(columns(text)).toBe(graphemes(text).reduce((sum, one) => sum + columnsOf(one), 0));
		}),
	);
});
