import { expect, test } from "vitest";
import { boundaryLines, callLines, noticeLines, runningLine, userLines } from "./entries.ts";
import { type Line, lineColumns } from "./style.ts";

function texts(lines: readonly Line[]): string[] {
	return lines.map((line) => line.map(({ text }) => text).join(""));
}

function result(text: string, isError = false) {
	return { kind: "result", id: "c", name: "terminal", text, isError } as const;
}

const ls = { name: "terminal", args: '{"command":"ls -la"}' };

test.each([
	["a\nb\nc\n", false, "▸ terminal ls -la  ✓ 3 lines"],
	["only this\n", false, "▸ terminal ls -la  ✓ only this"],
	["", false, "▸ terminal ls -la  ✓ no output"],
	[
		"waiting for confirmation 4af1. A person decides.",
		false,
		"▸ terminal ls -la  ? waiting for confirmation 4af1",
	],
	["\nno such file\nmore", true, "▸ terminal ls -la  ✗ no such file"],
	["", true, "▸ terminal ls -la  ✗ failed"],
])("a call with the result %j (error: %s) is one line", (text, isError, expected) => {
	expect(texts(callLines(ls, result(text, isError), 80))).toEqual([expected]);
});

test("a call without a result says so", () => {
	expect(texts(callLines(ls, null, 80))).toEqual(["▸ terminal ls -la  no result"]);
});

test.each([
	['{"path":"a.txt","lines":3}', "▸ read path=a.txt lines=3"],
	['{"path":"a\\nb"}', "▸ read a b"],
	["just words", "▸ read just words"],
	['{"broken', '▸ read {"broken'],
	["{}", "▸ read "],
])("the arguments %s are told as %j", (args, expected) => {
	expect(texts([runningLine({ kind: "call", turn: "t", id: "c", name: "read", args }, 80)])).toEqual([
		expected,
	]);
});

test("on a narrow terminal the result stays in sight", () => {
	const long = { name: "terminal", args: `echo ${"x".repeat(200)}` };
	const many = "a\n".repeat(12);
	expect(texts(callLines(long, result(many), 40))).toEqual(["▸ terminal echo xxxxxxxxxxx…  ✓ 12 lines"]);
	expect(texts(callLines(long, result(many), 20))).toEqual(["▸ terminal echo xxx…", "  ✓ 12 lines"]);
	for (const columns of [80, 40, 20, 12])
		for (const text of [many, "y".repeat(200), ""])
			for (const line of callLines(long, result(text, true), columns))
				expect(lineColumns(line)).toBeLessThanOrEqual(columns);
});

test("messages of others have a name, one's own a mark", () => {
	const said = { kind: "user", text: "hello there\nsecond line", mine: true, author: "ann" } as const;
	expect(texts(userLines(said, 80))).toEqual(["> hello there", "  second line"]);
	expect(texts(userLines({ ...said, mine: false }, 80))).toEqual(["ann: hello there", "second line"]);
	expect(texts(userLines({ ...said, mine: false, author: null }, 80))[0]).toBe("someone: hello there");
	expect(texts(userLines(said, 10))).toEqual(["> hello", "  there", "  second", "  line"]);
});

test("names and notices cannot fake a line", () => {
	const said = { kind: "user", text: "x", mine: false, author: "a\n> \u001b[2J" } as const;
	expect(texts(userLines(said, 80))).toEqual(["a > \\u001b[2J: x"]);
	expect(texts(noticeLines("one\u202e\ntwo", 80))).toEqual(["one\\u202e", "two"]);
});

test.each([80, 40, 20])("a divider is one line across and fits %i columns", (columns) => {
	const short = boundaryLines("new session", columns);
	expect(texts(short)[0]).toMatch(/^── new session ─*$/);
	expect(short.length).toBe(1);
	for (const line of boundaryLines("a new session was begun because a day has passed", columns))
		expect(lineColumns(line)).toBeLessThanOrEqual(columns);
});
