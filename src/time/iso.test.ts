import fc from "fast-check";
import { expect, test } from "vitest";
import { isoTime } from "./iso.ts";

const LAST = 8.64e15;

test("any time has the text of a Date", () => {
	fc.assert(
		fc.property(
			fc.oneof(fc.integer({ min: -LAST, max: LAST }), fc.double({ min: -1e13, max: 1e13, noNaN: true })),
			fc.integer({ min: 0, max: 200_000_000 }),
			(at, later) => {
				for (const one of [at, Math.min(at + later, LAST)])
					expect(isoTime(one)).toBe(new Date(one).toISOString());
			},
		),
	);
});

test.each([LAST, -LAST, 0, -1, 86_399_999, 86_400_000])("%d, at an edge, has the text of a Date", (at) => {
	expect(isoTime(at)).toBe(new Date(at).toISOString());
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, LAST + 86_400_000])("%d is no time", (at) => {
	expect(() => isoTime(at)).toThrow(RangeError);
});
