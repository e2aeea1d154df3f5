import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanTitle, cutTitle, successorTitle } from "./title.ts";

const FAMILY = "👨‍👩‍👧‍👦";

test("a title of which nothing can be seen is none", () => {
	for (const text of [
		"",
		" ",
		"\u200b\u2060",
		"\u3164",
		"\u115f\u1160",
		"\uffa0 \u2800",
		"\ufe0f\u034f",
		"\u{e0041}",
	])
		expect(cleanTitle(text)).toBe("");
	expect(cleanTitle("\u3164a")).not.toBe("");
});

test("an emoji of several parts stays one, and joiners elsewhere go", () => {
	for (const emoji of [FAMILY, "🏳️‍🌈", "👩🏽‍🚀", "🇩🇪", "1️⃣", "❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👍🏿"])
		expect(cleanTitle(`trip ${emoji} home`)).toBe(`trip ${emoji} home`);
	expect(cleanTitle("a\u200db")).toBe("a b");
	expect(cleanTitle("a\u200d👨")).toBe("a 👨");
	expect(cleanTitle("👨\u200db")).toBe("👨 b");
	expect(cleanTitle("x\u{e0068}\u{e0069}")).toBe("x");
	expect(cleanTitle("\u202egnp.exe")).toBe("gnp.exe");
});

test("cutting leaves what is shown as one character whole", () => {
	expect(cleanTitle(`${"a".repeat(97)}${FAMILY}`)).toBe("a".repeat(97));
	expect(cleanTitle(`${"a".repeat(93)}${FAMILY}`)).toBe(`${"a".repeat(93)}${FAMILY}`);
	expect(cutTitle(`${FAMILY}${FAMILY}`, 13)).toBe(FAMILY);
	expect(successorTitle(`${"a".repeat(93)}${FAMILY}`)).toBe(`${"a".repeat(93)} #2`);
	expect(Array.from(cleanTitle(`e${"\u0301".repeat(500)}`))).toHaveLength(100);
});

test("the same text is the same title, composed or not", () => {
	expect(cleanTitle("Cafe\u0301 Zu\u0308rich")).toBe("Café Zürich");
});

test("whatever is written, the title is short, is on one line, and stays what it is", () => {
	fc.assert(
		fc.property(fc.string({ unit: "grapheme", maxLength: 150 }), (text) => {
			const title = cleanTitle(text);
			expect(Array.from(title).length).toBeLessThanOrEqual(100);
			expect(title).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
			expect(cleanTitle(title)).toBe(title);
		}),
		{ seed: 17 },
	);
});
