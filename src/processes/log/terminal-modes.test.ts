import { expect, test } from "vitest";
import { TerminalModes } from "./terminal-modes.ts";

const RESET = "\x1b[0m\x1b(B\x0f";

function undone(...pieces: readonly string[]): string {
	const modes = new TerminalModes();
	for (const piece of pieces) modes.see(Buffer.from(piece));
	return modes.undo();
}

test.each([
	["nothing was switched", ["hello\x1b[31m"], ""],
	["its own screen, left last", ["\x1b[?1049h\x1b[?25l"], "\x1b[?25h\x1b[?1049l"],
	["several at once", ["\x1b[?1000;1006h"], "\x1b[?1000l\x1b[?1006l"],
	["what was switched back already", ["\x1b[?2004h\x1b[?25l", "\x1b[?2004l\x1b[?25h"], ""],
	["in two pieces", ["\x1b[?20", "04h"], "\x1b[?2004l"],
	["keys told of in full, twice", ["\x1b[>1u\x1b[>3u\x1b[<u\x1b[>1u"], "\x1b[<2u"],
	["a part of the screen that scrolls", ["\x1b[2;10r"], "\x1b7\x1b[r\x1b8"],
	["the keypad and other keys", ["\x1b=\x1b[>4;2m"], "\x1b[>4m\x1b>"],
])("%s is put back", (_name, pieces, expected) => {
	expect(undone(...pieces)).toBe(RESET + expected);
});

test("somebody who comes later gets the same", () => {
	const modes = new TerminalModes();
	const asked = "\x1b[?1h\x1b=\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?2004l\x1b[>4;2m\x1b[>1u";
	modes.see(Buffer.from(asked));
	const later = new TerminalModes();
	later.see(Buffer.from(modes.redo()));
	expect(modes.redo()).toBe("\x1b[?1049h\x1b[?1h\x1b[?25l\x1b=\x1b[>4;2m\x1b[>1u");
	expect(later.undo()).toBe(modes.undo());
});
