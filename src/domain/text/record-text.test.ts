import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteLines } from "./record-text.ts";

const ANY_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

describe("quoteLines", () => {
	test("marks every line and keeps the words", () => {
		expect(quoteLines("one\n\n  two\tthree\r\nfour")).toBe("> one\n>\n>   two\tthree\n> four");
	});

	test("says how much was cut", () => {
		expect(quoteLines("abcdef", 4)).toBe("> abcd\n[cut: 2 more characters]");
		expect(quoteLines("abcd", 4)).toBe("> abcd");
	});

	test("never cuts a surrogate pair in two, nor shows half of one", () => {
		expect(quoteLines("abc😀d", 4)).toBe("> abc\n[cut: 3 more characters]");
		expect(quoteLines("a\ud83d")).toBe("> a\ufffd");
	});

	test("no character of the text can begin a line of its own", () => {
		const breaking = fc.constantFrom(
			"\n",
			"\r",
			"\r\n",
			"\v",
			"\f",
			"\u0085",
			"\u2028",
			"\u2029",
			"\0",
			"\x1b",
			"## SYSTEM",
		);
		const text = fc.array(fc.oneof(breaking, fc.string({ unit: "binary" }))).map((parts) => parts.join(""));
		fc.assert(
			fc.property(text, fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 50 })), (given, max) => {
				const lines = quoteLines(given, max).split(ANY_BREAK);
				expect(lines.filter((line) => !/^(>$|> |\[cut: \d+ more characters\]$)/.test(line))).toEqual([]);
			}),
		);
	});
});
