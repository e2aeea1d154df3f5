import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

const text = (value: unknown) => {
	const canonical = canonicalJson(value);
	return canonical.kind === "json" ? canonical.text : `refused: ${canonical.problem}`;
};

describe("canonical JSON", () => {
	test("the order of names is by UTF-16 units, at every depth", () => {
		expect(text({ b: 1, a: { d: [1, { z: 0, y: 1 }], c: null } })).toBe(
			'{"a":{"c":null,"d":[1,{"y":1,"z":0}]},"b":1}',
		);
		// The names of RFC 8785, 3.2.3: a surrogate pair sorts before U+FB33, though its code point is larger.
		expect(
			text({ "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 }),
		).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
	});

	test("numbers and strings have one form", () => {
		expect(text([Number("333333333.33333329"), 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
			"[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
		);
		expect(text('\u20ac$\u000f\nA\'B"\\"/')).toBe('"\u20ac$\\u000f\\nA\'B\\"\\\\\\"/"');
	});

	test("what has no form is refused: half a surrogate pair, no finite number, no JSON value, too deep", () => {
		expect(text({ a: "\ud800" })).toMatch(/^refused: .*surrogate/);
		expect(text({ "\udc00": 1 })).toMatch(/^refused: .*surrogate/);
		expect(text([Number.NaN])).toMatch(/^refused: .*finite/);
		expect(text({ a: undefined })).toMatch(/^refused: /);
		const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
		expect(text(deep)).toMatch(/^refused: .*deeper/);
	});

	test("the same value has the same bytes however it was written, and they mean the same value", () => {
		fc.assert(
			fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
				const written = JSON.stringify(value);
				const parsed = JSON.parse(written) as unknown;
				const once = text(parsed);
				if (once.startsWith("refused")) return;
				expect(JSON.parse(once)).toEqual(parsed);
				expect(text(JSON.parse(once))).toBe(once);
				expect(text(shuffled(parsed))).toBe(once);
			}),
		);
	});
});

function shuffled(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(shuffled);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.reverse()
			.map(([name, inner]) => [name, shuffled(inner)]),
	);
}
