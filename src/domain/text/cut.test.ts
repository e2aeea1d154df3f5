import fc from "fast-check";
import { expect, test } from "vitest";
import { firstOf, lastOf } from "./cut.ts";

const NAMED = "\u0024{secret:DEPLOY_TOKEN}";
const piece = fc.constantFrom(
	NAMED,
	NAMED.replaceAll(/[${}_]/g, "\\$&"),
	"\u0024{secret:DEPLOY_TOKEN ",
	"a",
	" ",
	"🦊",
);

test("wherever a text is cut, no part of a secret's name remains, nor half a character", () => {
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 8 }), fc.nat(120), (pieces, most) => {
			const text = pieces.join("");
			for (const part of [firstOf(text, most), lastOf(text, most)]) {
				expect(part.length).toBeLessThanOrEqual(most);
				expect(part.isWellFormed()).toBe(true);
				const rest = part.replaceAll("\\", "").replaceAll(/\$\{secret:DEPLOY_TOKEN\b\}?/g, "");
				expect(rest).toMatch(/^[a 🦊]*$/u);
			}
			expect(text.startsWith(firstOf(text, most)) && text.endsWith(lastOf(text, most))).toBe(true);
			if (text.length <= most) expect(firstOf(text, most) + lastOf(text, most)).toBe(text + text);
		}),
		{ numRuns: 2000 },
	);
});

test("as much is kept as fits", () => {
	expect([firstOf(`ab${NAMED}`, 10), lastOf(`${NAMED}ab`, 10)]).toEqual(["ab", "ab"]);
	expect([firstOf("abcdef", 4), lastOf("abcdef", 4)]).toEqual(["abcd", "cdef"]);
	expect([firstOf("a🦊b", 2), lastOf("a🦊b", 2)]).toEqual(["a", "b"]);
});
