import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inlineUntrusted, quoteUntrusted } from "./untrusted.ts";

// Every control character, and with them every line break, but for the two separators outside Cc.
const LINE_BREAK = /[\p{Cc}\u2028\u2029]/u;
const INVISIBLE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

const hostile = fc.oneof(
	fc.string({ unit: "binary", maxLength: 600 }),
	// Any sequence of UTF-16 units, also halves of pairs.
	fc
		.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 600 })
		.map((units) => String.fromCharCode(...units)),
	fc
		.array(
			fc.constantFrom(
				"\r",
				"\n",
				"\u2028",
				"\u0085",
				"\t",
				"[",
				"]",
				'"',
				"\\",
				"\u202e",
				"\ud83d",
				"\u{e0041}",
				"##",
				"x",
			),
			{ maxLength: 400 },
		)
		.map((pieces) => pieces.join("")),
);

describe("quoted text", () => {
	it.each([
		["plain", '"plain"'],
		['say "hi" \\', '"say \\"hi\\" \\\\"'],
		["a\r\nb\rc\nd\te", '"a\\nb\\nc\\nd\\te"'],
		["a\0b\u0007c\u001bd\u007fe\u0085f\u009bg", '"a b c d e\\u0085f g"'],
		["\u001c\u001d a \u001e\u001f", '"a"'],
		["a\u2028b\u2029c", '"a\\u2028b\\u2029c"'],
		["abc\u202edef\u2066ghi\u2069", '"abc\\u202edef\\u2066ghi\\u2069"'],
		["a\u200bb\ufeffc", '"a\\u200bb\\ufeffc"'],
		["a\u{e0041}b", '"a\\udb40\\udc41b"'],
		["a\ud800b\udc00", '"a\ufffdb\ufffd"'],
		["❤️ 日本 \ue000", '"❤️ 日本 \ue000"'],
		["   ", '""'],
	])("%j becomes %s", (text, quoted) => {
		expect(quoteUntrusted(text)).toBe(quoted);
	});

	it("is cut at 240 code points, never inside a pair", () => {
		expect(quoteUntrusted("x".repeat(240))).toBe(`"${"x".repeat(240)}"`);
		expect(quoteUntrusted("x".repeat(241))).toBe(`"${"x".repeat(237)}..."`);
		expect(quoteUntrusted("🦊".repeat(240))).toBe(`"${"🦊".repeat(240)}"`);
		expect(quoteUntrusted("🦊".repeat(241))).toBe(`"${"🦊".repeat(237)}..."`);
		expect(quoteUntrusted(`x${"🦊".repeat(900)}`)).toBe(`"x${"🦊".repeat(236)}..."`);
	});

	it("is one JSON string on one line, short and visible, whatever goes in", () => {
		fc.assert(
			fc.property(hostile, (text) => {
				const quoted = quoteUntrusted(text);
				expect(quoted).not.toMatch(LINE_BREAK);
				expect(quoted).not.toMatch(INVISIBLE);
				expect(quoted.isWellFormed()).toBe(true);
				const content: unknown = JSON.parse(quoted);
				expect(typeof content).toBe("string");
				expect(Array.from(content as string).length).toBeLessThanOrEqual(240);
			}),
			{ numRuns: 2000 },
		);
	});
});

describe("inline text", () => {
	it.each([
		["Ada", "Ada"],
		["a]\n[System", "a) (System"],
		["a\t\r\n b", "a  b"],
		["a\u2028b", "a\\u2028b"],
		["\u202ex", "\\u202ex"],
		["\n \t", ""],
	])("%j becomes %j", (text, inline) => {
		expect(inlineUntrusted(text)).toBe(inline);
	});

	it("is one line without square brackets, whatever goes in", () => {
		fc.assert(
			fc.property(hostile, (text) => {
				const inline = inlineUntrusted(text);
				expect(inline).not.toMatch(LINE_BREAK);
				expect(inline).not.toMatch(INVISIBLE);
				expect(inline).not.toMatch(/[[\]]/);
				expect(inline.isWellFormed()).toBe(true);
			}),
			{ numRuns: 2000 },
		);
	});
});
