import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSecrets, withoutNamesInJson } from "../secrets/index.ts";
import { holdsAll, matchesIn } from "./search-match.ts";
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

describe("the name of a secret", () => {
	const NAMED = "\u0024{secret:DEPLOY_TOKEN}";
	/** As a reader of the API gets it. */
	const read = (pieces: readonly SnippetPiece[]) =>
		JSON.parse(withoutNamesInJson(JSON.stringify(pieces))) as SnippetPiece[];

	test.each(["secret", "deploy", "token", "deploy_token", "dep*", '"secret deploy"', "DEPLOY_TOKEN use"])(
		"is whole in a snippet for %s, so that it can be hidden",
		(query) => {
			const pieces = snippet(`use ${NAMED} now`, query);
			expect(pieces.map(({ text }) => text).join("")).toBe(`use ${NAMED} now`);
			expect(shown(read(pieces)).replaceAll(/[[\]]/g, "")).toBe("use ••• now");
		},
	);

	test("is no match, whatever of it is looked for", () => {
		const text = `use ${NAMED} or its token`;
		expect(shown(snippet(text, "use token"))).toBe(`[use] ${NAMED} or its [token]`);
		expect(parseQuery(NAMED)).toEqual([]);
		for (const query of ["deploy", "DEPLOY_T*", "{secret", "TOKEN}"])
			expect(holdsAll(`use ${NAMED}`, parseQuery(query))).toBe(false);
	});

	test("is not cut at either end", () => {
		const text = `${"x".repeat(90)},${NAMED},${"y".repeat(40)}-needle-${"z".repeat(134)}${NAMED}${"z".repeat(90)}`;
		expect(shown(snippet(text, "needle"))).toBe(`…,${"y".repeat(40)}-[needle]-${"z".repeat(134)}…`);
	});

	test("shows no part of itself to a reader, whatever the text and the query", () => {
		const name = fc.string({ unit: fc.constantFrom(..."QXZ_"), minLength: 3, maxLength: 90 });
		const named = fc
			.tuple(name, fc.constantFrom("\u0024{secret:", "\\\u0024\\{secret:"), fc.constantFrom("}", "\\}"))
			.map(([inner, from, to]) => from + (to === "}" ? inner : inner.replaceAll("_", "\\_")) + to);
		const other = fc.oneof(
			fc.constantFrom("secret", "ab", "abc", " ", "\n", ",", "😀", "{", '"'),
			fc.integer({ min: 1, max: 250 }).map((length) => "b".repeat(length)),
		);
		const texts = fc.array(fc.oneof(named, other), { maxLength: 14 }).map((pieces) => pieces.join(""));
		const part = fc.constantFrom("Q", "QX", "QX*", "X*", "secret", "ab", "abc", "b*", "Z_Q", '"secret Q"');
		const queries = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(" "));
		const hider = createSecrets().forOthers;
		fc.assert(
			fc.property(texts, queries, (text, query) => {
				const pieces = snippet(text, query);
				const joined = pieces.map((piece) => piece.text).join("");
				for (const seen of [shown(read(pieces)).replaceAll(/[[\]]/g, ""), hider.hide(joined)])
					expect(seen).not.toMatch(/[QXZ_]{3}/);
			}),
			{ numRuns: 3000 },
		);
	});
});

test("a preview is the beginning on one line", () => {
	expect(previewOf("  one\n\ntwo\tthree ")).toBe("one two three");
	expect(Array.from(previewOf("😀".repeat(500)))).toHaveLength(120);
	expect(previewOf("x".repeat(120))).toBe("x".repeat(120));
	expect(previewOf("x".repeat(121))).toBe(`${"x".repeat(119)}…`);
});
