import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecrets, NameStream, withoutNames, withoutNamesInJson } from "./index.ts";

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

test("text that comes in pieces is hidden as if it had come whole, and little of it waits", () => {
	const texts = fc.array(fc.oneof(piece, fc.constantFrom("$", "{", "secret:", "sec", "ret", ":")), {
		maxLength: 12,
	});
	fc.assert(
		fc.property(texts, fc.array(fc.nat(40)), (pieces, cuts) => {
			const text = pieces.join("");
			const stream = new NameStream();
			let shown = "";
			let at = 0;
			for (const to of [...cuts.sort((a, b) => a - b), text.length]) {
				shown += stream.push(text.slice(at, to));
				at = Math.max(at, Math.min(to, text.length));
				expect(withoutNames(text.slice(0, at)).length - shown.length).toBeLessThanOrEqual(12);
			}
			expect(shown + stream.end()).toBe(withoutNames(text));
		}),
		{ numRuns: 5000 },
	);
});

test("what is streamed to others has no names either", () => {
	const stream = createSecrets().forOthers.stream();
	const shown = ["so \u0024{sec", "ret:A_", "B} and", " \u0024{"].map((text) => stream.push(text));
	expect([...shown, stream.end()].join("")).toBe("so ••• and \u0024{");
});

test("a name without an end costs no more than other text", () => {
	const stream = new NameStream();
	expect(stream.push("so: \u0024{secret:")).toBe("so: •••");
	for (let n = 0; n < 100_000; n++) expect(stream.push("ABCDEFGHIJ")).toBe("");
	expect(stream.push("} and")).toBe(" and");
});

test.each([
	["a line break", "ls # \u0024{secret:A\nrm\tx", "ls # •••\nrm\tx"],
	["a line break that JSON has written", 'ls # \u0024{secret:A\\nrm"', 'ls # •••\\nrm"'],
	["a backslash", "\u0024{secret:A\\rm\\x}", "•••\\rm\\x}"],
])("what follows a name after %s is shown", (_, text, shown) => {
	expect(withoutNames(text)).toBe(shown);
});

test.each([NAMED, "\\\u0024\\{secret:A\\_B\\}", "\\\\\u0024\\\\{secret:A\\\\_B\\\\}", "\u0024{secret:A_"])(
	"%s is a name",
	(text) => {
		expect(withoutNames(`a ${text} b`)).toBe("a ••• b");
	},
);
