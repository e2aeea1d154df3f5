import fc from "fast-check";
import { expect, test } from "vitest";
import { replayable } from "./replay.ts";

const replayed = (text: string, fromMiddle = false) =>
	replayable(Buffer.from(text), { fromMiddle }).toString();

test("text, colours, moves and modes are replayed as they are", () => {
	const drawn =
		"\x1b[?1049h\x1b[2J\x1b[3;4Hnäme 名\x1b[1;31m!\x1b[0m\r\n\tx\b\x1b7\x1b[5;10r\x1b8\x1b(0lq\x1b(B\x1b[?25l\x1b[>1u";
	expect(replayed(drawn)).toBe(drawn);
});

test.each([
	["where the cursor is", "\x1b[6n"],
	["what it is", "\x1b[c"],
	["what it is, too", "\x1b[>0c"],
	["what it is, of old", "\x1bZ"],
	["whether a mode is on", "\x1b[?2026$p"],
	["how large it is", "\x1b[18t"],
	["which keys it tells of", "\x1b[?u"],
	["its version", "\x1b[>0q"],
	["its colours", "\x1b]11;?\x07"],
	["its colours, ended otherwise", "\x1b]11;?\x1b\\"],
	["a setting", "\x1bP$qm\x1b\\"],
	["who is there", "\x05"],
	["where the cursor is, in the second set of controls", "\u009b6n"],
	["for its clipboard", "\x1b]52;c;?\x07"],
])("a terminal is not asked %s", (_what, question) => {
	expect(replayed(`a${question}b`)).toMatch(/^a(6n)?b$/);
});

test("what begins in the middle begins with the next line", () => {
	expect(replayed("1mhalf\nwhole", true)).toBe("whole");
	expect(replayed("no end", true)).toBe("no end");
});

test("whatever was printed, nothing is left that a terminal answers", () => {
	const part = fc.constantFrom(
		"\x1b",
		"[",
		"]",
		"6n",
		"c",
		">",
		"?",
		";",
		"P",
		"\x07",
		"\\",
		"Z",
		"1",
		"u",
		"\x05",
		"é",
	);
	fc.assert(
		fc.property(fc.string({ unit: part, maxLength: 30 }), (text) => {
			// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
			expect(replayed(text)).not.toMatch(/\x1b\[[>?]?[\d;]*[nc]|\x1b[\]PZ]|\x05|\x1b\[\?u/);
		}),
	);
});
