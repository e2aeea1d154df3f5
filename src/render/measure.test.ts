import fc from "fast-check";
import { expect, test } from "vitest";
import { reach, sizeOf } from "./measure.ts";
import { LIMIT_UNITS } from "./types.ts";

const text = fc.string({ unit: fc.constantFrom("a", "é", "中", "😀", "\n", "e\u0301"), maxLength: 60 });

test("a text is as long as its platform counts it", () => {
	expect(LIMIT_UNITS.map((unit) => sizeOf("a中😀", unit))).toEqual([4, 3, 8]);
	fc.assert(
		fc.property(text, (value) => {
			expect(sizeOf(value, "utf16")).toBe(value.length);
			expect(sizeOf(value, "codepoints")).toBe([...value].length);
			expect(sizeOf(value, "bytes")).toBe(new TextEncoder().encode(value).length);
		}),
	);
});

test("the reach is the furthest offset that fits, and is never inside a character", () => {
	fc.assert(
		fc.property(text, fc.constantFrom(...LIMIT_UNITS), fc.nat(80), (value, unit, room) => {
			const end = reach(value, 0, value.length, room, unit);
			let fitting = "";
			for (const char of value) {
				if (sizeOf(fitting + char, unit) > room) break;
				fitting += char;
			}
			expect(value.slice(0, end)).toBe(fitting);
		}),
		{ numRuns: 500 },
	);
});
