import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutNames, withoutNamesInJson } from "./index.ts";

const NAMED = "\u0024{secret:A_B}";
const piece = fc.constantFrom(
	"\u0024{secret:",
	NAMED,
	NAMED.replaceAll(/[${}_]/g, "\\$&"),
	"}",
	"\\",
	"\n",
	"\t",
	'"',
	"_",
	"rm",
	" ",
	"\u0001",
	"é",
);

test("in JSON the same is hidden as in its texts, and it stays JSON", () => {
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
			const text = pieces.join("");
			const hidden = JSON.parse(withoutNamesInJson(JSON.stringify({ [text]: [text] }))) as object;
			expect(hidden).toEqual({ [withoutNames(text)]: [withoutNames(text)] });
		}),
		{ numRuns: 1000 },
	);
});

test.each([
	["a line break", "ls # \u0024{secret:A\nrm\tx", "ls # ***\nrm\tx"],
	["a line break that JSON has written", 'ls # \u0024{secret:A\\nrm"', 'ls # ***\\nrm"'],
	["a backslash", "\u0024{secret:A\\rm\\x}", "***\\rm\\x}"],
])("what follows a name after %s is shown", (_, text, shown) => {
	expect(withoutNames(text)).toBe(shown);
});

test.each([NAMED, "\\\u0024\\{secret:A\\_B\\}", "\\\\\u0024\\\\{secret:A\\\\_B\\\\}", "\u0024{secret:A_"])(
	"%s is a name",
	(text) => {
		expect(withoutNames(`a ${text} b`)).toBe("a *** b");
	},
);
