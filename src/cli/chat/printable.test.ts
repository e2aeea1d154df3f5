import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeText } from "../io/output.ts";
import { onOneLine, printable, printableLines } from "./printable.ts";

test.each(["👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️‍🔥", "می‌خواهم", "क्‍ष", "naïve 名前"])("%s is shown as it is", (text) => {
	expect(printable(text)).toBe(text);
});

test.each([
	["pass\u200cword", "pass\\u200cword"],
	["\u200d👍", "\\u200d👍"],
	["a\u{e0067}", "a\\u{e0067}"],
	["\u001b[2J", "\\u001b[2J"],
	["\u202egnp", "\\u202egnp"],
	["a\tb", "a    b"],
	["a\nb", "a\\u000ab"],
])("%j is written as %s", (text, expected) => {
	expect(printable(text)).toBe(expected);
});

const EMOJI = /\p{RGI_Emoji}/gv;

test("only joiners inside emoji and joined scripts are let through", () => {
	const unit = fc.oneof(
		fc.constantFrom("\u200d", "\u200c", "\u{e0067}", "\u{e007f}", "👨", "👩", "🏴", "\u001b", "\u202e", "م"),
		fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
	);
	fc.assert(
		fc.property(fc.string({ unit }), (text) => {
			const shown = printable(text);
			const kept = shown.replace(EMOJI, "").replace(/(?<=\p{L}|\p{M})(?:\u200c|\u200d)(?=\p{L}|\p{M})/gu, "");
			expect(kept).toBe(escapeText(kept));
			if (!/\u200c|\u200d|[\u{e0020}-\u{e007f}]/u.test(text))
				expect(shown).toBe(escapeText(text.replaceAll("\t", "    ")));
		}),
	);
});

test("lines end at every kind of line end, and one line has none", () => {
	expect(printableLines("a\r\nb\rc\nd")).toEqual(["a", "b", "c", "d"]);
	expect(onOneLine(" a\r\n\tb\u0007 ")).toBe("a b\\u0007");
});
