// Exact replacements in a text.
import { expect, test } from "vitest";
import { applyEdits } from "../../src/tools/files/edits.ts";

const edited = (text: string, old: string, replacement: string) =>
	applyEdits(text, [{ old, new: replacement, all: false }]);

test("a file with CRLF throughout gets no other line endings", () => {
	expect(edited("one\r\ntwo\r\n", "one", "1\n1b")).toMatchObject({ text: "1\r\n1b\r\ntwo\r\n" });
	expect(edited("one\r\ntwo\r\n", "\ntwo", "\n2")).toMatchObject({ text: "one\r\n2\r\n" });
	expect(edited("one\r\ntwo\n", "one", "1\n1b"), "a mixed one is left as it is").toMatchObject({
		text: "1\n1b\r\ntwo\n",
	});
});

test("matches that overlap are more than one", () => {
	expect(edited("a\n\n\nb", "\n\n", "\n")).toMatchObject({
		problem: expect.stringContaining("occurs 2 times"),
	});
});
