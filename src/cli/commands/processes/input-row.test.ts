import { expect, test } from "vitest";
import { InputRow } from "./input-row.ts";

function typed(...pieces: readonly (string | Buffer)[]) {
	const row = new InputRow();
	const entries = pieces.flatMap((piece) => row.type(Buffer.from(piece)));
	return { entries, drawn: row.draw("", 80) };
}

const line = (text: string) => ({ kind: "line", text });

test.each([
	["letters and Enter", "né\r", [line("né")]],
	["a paste of lines", "a\nb\nc", [line("a"), line("b")]],
	["Backspace over a character of several parts", "x👩‍👩‍👧\x7fy\r", [line("xy")]],
	["Ctrl-U and Ctrl-W", "one\x15two three \x17four\r", [line("two four")]],
	["keys that have no letter", "a\x1b[A\x1b[1;5D\x1bOPb\r", [line("ab")]],
	["Ctrl-D in an empty row, and not in another", "a\x04\x15\x04", [{ kind: "end" }]],
	["Ctrl-C", "a\x03", [{ kind: "interrupt" }]],
])("%s", (_name, text, expected) => {
	expect(typed(text).entries).toEqual(expected);
});

test("a character in two pieces is one", () => {
	const bytes = Buffer.from("é");
	expect(typed(bytes.subarray(0, 1), bytes.subarray(1)).drawn).toBe("é");
});

test("what is too wide shows its end, and nothing that disturbs the terminal", () => {
	const row = new InputRow();
	row.type(Buffer.from("名前\u202e"));
	expect(row.draw("what is your ", 10)).toBe("名前\\u202e");
	expect(row.draw("what is your ", 12)).toBe("r 名前\\u202e");
});
