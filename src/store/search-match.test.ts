import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { closenessOf, firstMatchesIn, frequencyOf, holdsAll, matchesIn, plainSign } from "./search-match.ts";
import { parseQuery } from "./search-query.ts";

/** What is marked in a text, each mark in brackets. */
function marked(text: string, query: string): string {
	let result = "";
	let at = 0;
	for (const { start, end } of matchesIn(text, parseQuery(query)).occurrences) {
		result += `${text.slice(at, start)}[${text.slice(start, end)}]`;
		at = end;
	}
	return result + text.slice(at);
}

test.each([
	["deploy", "We Deploy, they deployed: DEPLOY", "We [Deploy], they deployed: [DEPLOY]"],
	["dep*", "We Deploy, they depend", "We [Deploy], they [depend]"],
	["quick fox", "the quick brown fox", "the [quick] brown [fox]"],
	['"quick brown"', "quick brown, brown quick", "[quick brown], brown quick"],
	['"quick bro"*', "quick brown and quick broth", "[quick brown] and [quick broth]"],
	["cafe", "Café au lait", "[Café] au lait"],
	["C++", "C, C++ and C+", "C, [C++] and C+"],
	["/usr/bin", "usr bin, /usr/bin/env", "usr bin, [/usr/bin]/env"],
	["100%", "100 or 2100% or 100%", "100 or 2100% or [100%]"],
	["it's", "it's, it’s, it s", "[it's], [it’s], it s"],
	["user@example.com", "<user@example.com> user example com", "<[user@example.com]> user example com"],
	["東", "東京と東", "[東]京と[東]"],
	["東京", "東京都、京東", "[東京]都、京東"],
	["京都", "東京都", "東[京都]"],
	["東京都", "東京都庁", "[東京都]庁"],
	["手机app", "我的手机app！", "我的[手机app]！"],
	["ท", "ที่", "[ที่]"],
	["ｶﾞｲﾄﾞ", "ガイドブック", "[ガイド]ブック"],
	["서울", "서울에서", "[서울]에서"],
	["👍", "ok 👍🏽", "ok [👍]🏽"],
	["👍🏽", "👍 👍🏽 👍🏿", "👍 [👍🏽] 👍🏿"],
	["👨‍👩‍👧", "👨👩👧 👨‍👩‍👧", "👨👩👧 [👨‍👩‍👧]"],
	["🇩🇪", "🇫🇩🇪🇺 🇩🇪", "🇫🇩🇪🇺 [🇩🇪]"],
])("%s in %s", (query, text, expected) => {
	expect(marked(text, query)).toBe(expected);
});

describe("a text holds a query", () => {
	test.each([
		["C++", "I like c++ 11", true],
		["C++", "I like C and ++", false],
		["C++", "C C C C++", true],
		["100%", "Ｗｅ ａｒｅ １００％ sure", true],
		["it's", "it’s", true],
		["it's", "it is", false],
		["deplo*", "we deploy", true],
		["deplo*", "we re-deploy", true],
		["deplo*", "redeploy", false],
		["deplo*", "für Deployments", true],
		['"hello, world"', "Hello,\n world", true],
		['"hello, world"', "hello world", false],
		["a-b c-d", "a-b and c-d", true],
		["a-b c-d", "a-b and c d", false],
		["C++", "", false],
		["C++", "Ｃ＋＋ 東京", true],
	])("%s: %s: %s", (query, text, expected) => {
		expect(holdsAll(text, parseQuery(query))).toBe(expected);
	});
});

test("no text that holds a query is left out by its signs", () => {
	const unit = fc.constantFrom(
		..."c1 +-=<>/%#'\"@.．＋﹢⁺＝≠≮≯㎈℅…‥’“–−／％＃\u0338\u0301\u0327\ufe0f\xad\u2060\u200d\n東京ｶﾞ½é👍",
	);
	const text = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""));
	const query = fc.array(unit, { minLength: 1, maxLength: 4 }).map((units) => units.join(""));
	fc.assert(
		fc.property(text, query, text, (before, query, after) => {
			const whole = `${before}${query}${after}`;
			const groups = parseQuery(query);
			const found = new Set(matchesIn(whole, groups).occurrences.map(({ group }) => group));
			expect(holdsAll(whole, groups)).toBe(found.size === groups.length);
		}),
		{ numRuns: 3000 },
	);
});

test.each([
	["C++", "++"],
	["tea user@example.com", "@"],
	['say "a \\"', null],
	["Ｃ＋＋", "++"],
	["“東”、C", null],
	["tea", null],
])("a plain text that holds %s has these signs: %s", (query, expected) => {
	expect(plainSign(parseQuery(query))).toBe(expected);
});

describe("the score", () => {
	const groups = parseQuery("quick fox");
	const frequency = (text: string): number => frequencyOf(matchesIn(text, groups), groups.length);
	const closeness = (text: string): number => closenessOf(matchesIn(text, groups), groups);

	test("is higher for more hits, lower for a longer text, and never above one", () => {
		expect(frequency("quick fox, quick fox")).toBeGreaterThan(frequency("quick fox and more words"));
		expect(frequency(`quick fox ${"word ".repeat(500)}`)).toBeLessThan(frequency("quick fox"));
		expect(frequency("quick")).toBeLessThan(frequency("quick fox"));
		expect(frequency("quick fox ".repeat(1000))).toBeLessThanOrEqual(1);
		expect(frequency("nothing of it")).toBe(0);
		expect(frequency("")).toBe(0);
	});

	test("is higher the nearer the words stand", () => {
		expect(closeness("a quick fox")).toBe(1);
		expect(closeness("quick and then some fox")).toBeLessThan(closeness("quick brown fox"));
		expect(closeness("fox ... quick ... far away, then: quick fox")).toBe(1);
		expect(closeness("quick quick")).toBe(0);
	});
});

test("in a long text the first stretch with a match is enough, wherever it is", () => {
	const text = `${"word ".repeat(40_000)}needle${" word".repeat(40_000)} needle`;
	const { occurrences } = firstMatchesIn(text, parseQuery("needle"));
	expect(occurrences.map(({ start, end }) => [start, text.slice(start, end)])).toEqual([[200_000, "needle"]]);
	expect(firstMatchesIn(text, parseQuery("missing")).occurrences).toEqual([]);
});
