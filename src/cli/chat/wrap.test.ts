import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, lineColumns, span } from "./style.ts";
import { clipLine, cutLine, wrapLine } from "./wrap.ts";

const words = fc.array(
	fc.oneof(
		fc.constantFrom(" ", "  ", "word", "名前", "👨‍👩‍👧", "e\u0301", "."),
		fc.string({ unit: "grapheme-ascii", maxLength: 30 }),
	),
	{ maxLength: 30 },
);
const line = words.map(
	(parts): Line => parts.map((text, index) => (index % 2 ? span(text, "bold") : span(text))),
);
const width = fc.integer({ min: 2, max: 40 });

test("text is broken at spaces", () => {
	expect(wrapped("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
	expect(wrapped("the  quick", 5)).toEqual(["the", "quick"]);
});

test("a word that is too long is cut", () => {
	expect(wrapped("a verylongword", 6)).toEqual(["a", "verylo", "ngword"]);
});

test("wide letters are broken anywhere but before a full stop", () => {
	expect(wrapped("名前名前。", 8)).toEqual(["名前名", "前。"]);
});

test("no line is too wide, and only spaces are lost", () => {
	fc.assert(
		fc.property(line, width, (value, room) => {
			const lines = wrapLine(value, room);
			expect(lines.length).toBeGreaterThan(0);
			for (const one of lines) expect(lineColumns(one)).toBeLessThanOrEqual(room);
			expect(lines.map(textOf).join("").replaceAll(" ", "")).toBe(textOf(value).replaceAll(" ", ""));
		}),
	);
});

test("a cut loses nothing and keeps every look", () => {
	fc.assert(
		fc.property(line, width, (value, room) => {
			const lines = cutLine(value, room);
			for (const one of lines) expect(lineColumns(one)).toBeLessThanOrEqual(room);
			expect(lines.map(textOf).join("")).toBe(textOf(value));
			expect(boldOf(lines.flat())).toBe(boldOf(value));
		}),
	);
});

test("a clipped line fits and says that something is missing", () => {
	fc.assert(
		fc.property(line, fc.integer({ min: 1, max: 40 }), (value, room) => {
			const clipped = clipLine(value, room);
			expect(lineColumns(clipped)).toBeLessThanOrEqual(room);
			if (lineColumns(value) <= room) expect(clipped).toEqual(value);
			else expect(textOf(clipped)).toMatch(/…$/);
		}),
	);
});

function wrapped(text: string, room: number): string[] {
	return wrapLine([span(text)], room).map(textOf);
}

function textOf(value: Line): string {
	return value.map(({ text }) => text).join("");
}

function boldOf(value: Line): string {
	return textOf(value.filter(({ looks }) => looks.includes("bold")));
}
