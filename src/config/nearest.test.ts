import fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance, nearest } from "./nearest.ts";

test.each([
	["idle_minuts", "idle_minutes"],
	["idel_minutes", "idle_minutes"],
	["MODE", "mode"],
	["dn", "dm"],
	["zzzz", undefined],
	["", undefined],
])("%j is taken for %j", (name, expected) => {
	expect(nearest(name, ["mode", "idle_minutes", "dm"])).toBe(expected);
});

test("a swap of neighbours, an insertion, a deletion and a replacement cost one each", () => {
	expect(["ab/ba", "a/ab", "ab/a", "a/b", "/", "abc/"].map((pair) => editDistance(...halves(pair)))).toEqual([
		1, 1, 1, 1, 0, 3,
	]);
});

test("the distance is symmetric, zero only for equal texts, and at most the longer length", () => {
	const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
	fc.assert(
		fc.property(text, text, (a, b) => {
			const distance = editDistance(a, b);
			expect(distance).toBe(editDistance(b, a));
			expect(distance === 0).toBe(a === b);
			expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
		}),
	);
});

function halves(pair: string): [string, string] {
	const [a = "", b = ""] = pair.split("/");
	return [a, b];
}
