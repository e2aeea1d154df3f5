import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesIn } from "./search-match.ts";
import { parseQuery } from "./search-query.ts";
import { previewOf, type SnippetPiece, snippetOf } from "./search-snippet.ts";

function snippet(text: string, query: string): readonly SnippetPiece[] {
	return snippetOf(text, matchesIn(text, parseQuery(query)));
}

function shown(pieces: readonly SnippetPiece[]): string {
	return pieces.map(({ text, marked }) => (marked ? `[${text}]` : text)).join("");
}

test("a short text is shown whole, with its marks", () => {
	expect(snippet("We deploy <b>today</b>", "deploy")).toEqual([
		{ text: "We ", marked: false },
		{ text: "deploy", marked: true },
		{ text: " <b>today</b>", marked: false },
	]);
});

test("of a long text the part with most of the words is shown, cut between words", () => {
	const text = `${"early quick words ".repeat(30)}and here a quick brown fox at last${" and later words".repeat(30)}`;
	const result = shown(snippet(text, "quick brown fox"));
	expect(result).toContain("[quick] [brown] [fox] at last");
	expect(result).toMatch(/^…(early|quick|\[quick\]|words) /);
	expect(result).toMatch(/ (and|later|words)…$/);
	expect(result.length).toBeLessThan(260);
});

test("a text without any match is shown from its beginning", () => {
	expect(shown(snippet("nothing here", "missing"))).toBe("nothing here");
	expect(snippet("", "missing")).toEqual([]);
});

test("nothing in a snippet can break a line, move a cursor or turn the writing", () => {
	expect(shown(snippet("a\u001b[31m red\r\n\u2028b \u202eleft\u0000 deploy\u0085", "deploy"))).toBe(
		"a [31m red b left [deploy] ",
	);
});

test("a character is never cut in two", () => {
	expect(shown(snippet("😀".repeat(300), "missing"))).toMatch(/^(😀)+…$/u);
	expect(shown(snippet(`x${"😀".repeat(300)}`, "missing"))).toMatch(/^x(😀)+…$/u);
	for (const odd of ["", "x"])
		expect(shown(snippet(`${"😀".repeat(301)}${odd}needle${"😀".repeat(300)}`, "needle"))).not.toContain(
			"\ufffd",
		);
});

test("whatever the text and the query, the pieces are well-formed, short, and the marks are of the text", () => {
	const unit = fc.constantFrom(...'ab  \n"*東京👍🏽\u200d\ud83d\ufe0f\u0301ก็\u202e');
	fc.assert(
		fc.property(fc.string({ unit, maxLength: 900 }), fc.string({ unit, maxLength: 12 }), (text, query) => {
			const pieces = snippet(text, query);
			for (const piece of pieces) {
				expect(piece.text).not.toBe("");
				expect(piece.text.isWellFormed()).toBe(true);
			}
			for (let n = 1; n < pieces.length; n++) expect(pieces[n]?.marked && pieces[n - 1]?.marked).toBe(false);
			expect(shown(pieces).length).toBeLessThan(420);
		}),
		{ numRuns: 1000 },
	);
});

test("a preview is the beginning on one line", () => {
	expect(previewOf("  one\n\ntwo\tthree ")).toBe("one two three");
	expect(Array.from(previewOf("😀".repeat(500)))).toHaveLength(120);
	expect(previewOf("x".repeat(120))).toBe("x".repeat(120));
	expect(previewOf("x".repeat(121))).toBe(`${"x".repeat(119)}…`);
});
