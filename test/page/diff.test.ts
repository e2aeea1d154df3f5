import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffLine, linesBetween, unifiedLines } from "../../web/src/lib/diff.ts";

const textsOf = (lines: readonly DiffLine[], ...kinds: readonly DiffLine["kind"][]) =>
	lines.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);

describe("the difference of two texts", () => {
	const line = fc.constantFrom("", "a", "b", "c", "\ta b");
	const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));

	test("holds every line of both, in order and with its number", () => {
		fc.assert(
			fc.property(text, text, (before, after) => {
				const lines = linesBetween(before, after);
				expect(textsOf(lines, "same", "removed").join("\n")).toBe(before);
				expect(textsOf(lines, "same", "added").join("\n")).toBe(after);
				const old = lines.flatMap((one) => one.old ?? []);
				const now = lines.flatMap((one) => one.new ?? []);
				expect([old, now]).toEqual([old.map((_, n) => n + 1), now.map((_, n) => n + 1)]);
			}),
		);
	});

	test("names no line as changed that is the same in both", () => {
		fc.assert(
			fc.property(text, (same) => {
				expect(textsOf(linesBetween(same, same), "added", "removed")).toEqual([]);
			}),
		);
	});

	test("is all removed and all added where it would take too long to find out more", () => {
		const many = (word: string) => Array.from({ length: 3000 }, (_, n) => `${word} ${n}`).join("\n");
		const lines = linesBetween(many("old"), many("new"));
		expect(lines.map(({ kind }) => kind).filter((kind, n, all) => kind !== all[n - 1])).toEqual([
			"removed",
			"added",
		]);
	});
});

test("a unified diff is read by its hunks, with numbers, and without what stands before them", () => {
	const text =
		"diff --git a/f b/f\nindex 1..2\n--- a/f\n+++ b/f\n@@ -3,2 +3,3 @@ where\n same\n---gone\n+++come\n+more\n\\ No newline at end of file\n";
	expect(unifiedLines(text)).toEqual([
		{ kind: "hunk", text: "@@ -3,2 +3,3 @@ where" },
		{ kind: "same", text: "same", old: 3, new: 3 },
		{ kind: "removed", text: "--gone", old: 4 },
		{ kind: "added", text: "++come", new: 4 },
		{ kind: "added", text: "more", new: 5 },
		{ kind: "note", text: "No newline at end of file" },
	]);
});
