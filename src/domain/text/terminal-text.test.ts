import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readableLength, terminalText } from "./terminal-text.ts";

const ESC = "\u001b";

describe("terminalText", () => {
	test.each([
		["plain text\nstays\tas it is\n", "plain text\nstays\tas it is\n"],
		[`${ESC}[1;31mred${ESC}[0m`, "red"],
		["10%\r50%\r100%\ndone", "100%\ndone"],
		["longer\rabc", "abcger"],
		["line\r\nnext\r\n", "line\nnext\n"],
		[`working${"\r"}${ESC}[Kdone`, "done"],
		[`abc${ESC}[2Kx`, "   x"],
		[`abc${ESC}[1Gx`, "xbc"],
		[`abc${ESC}[2Dx`, "axc"],
		["ab\bc", "ac"],
		[`${ESC}]0;title\u0007text`, "text"],
		[`${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
		[`${ESC}Pq#0${ESC}\\after`, "after"],
		[`${ESC}(Btext${ESC}=`, "text"],
		["\u009b31mred", "red"],
		["bell\u0007 and nul\u0000", "bell and nul"],
		[`cut ${ESC}[3`, "cut "],
		[`cut ${ESC}`, "cut "],
		["👩‍💻 ü\rx", "x‍💻 ü"],
	])("%j reads as %j", (printed, read) => {
		expect(terminalText(printed)).toBe(read);
	});

	test("whatever is printed, no control character but tabs and line ends is left, and no line is lost", () => {
		const pieces = fc.constantFrom(
			ESC,
			"[",
			"]",
			"K",
			"2",
			";",
			"\r",
			"\n",
			"\b",
			"\u0007",
			"a",
			"ü",
			"😀",
			"\u009b",
		);
		fc.assert(
			fc.property(fc.array(fc.oneof(pieces, fc.string({ unit: "binary" })), { maxLength: 40 }), (parts) => {
				const printed = parts.join("");
				const read = terminalText(printed);
				expect(read).not.toMatch(/[\p{Cc}--[\n\t]]/v);
				expect(read.split("\n").length).toBe(printed.split("\n").length);
			}),
		);
	});

	test("a move far to the right costs nothing", () => {
		expect(terminalText(`${ESC}[999999Cx`).length).toBeLessThan(20_000);
	});
});

describe("readableLength", () => {
	const bytes = (text: string) => new TextEncoder().encode(text);
	test.each([
		["whole", 5],
		["", 0],
		[`a${ESC}[31m`, 6],
		[`a${ESC}[31`, 1],
		[`a${ESC}`, 1],
		[`a${ESC}]0;title`, 1],
		[`a${ESC}]0;t\u0007`, 7],
		[`a${ESC}(`, 1],
	])("%j", (text, length) => {
		expect(readableLength(bytes(text))).toBe(length);
	});

	test("an endless sequence is not waited for", () => {
		const data = bytes(`${ESC}]${"x".repeat(1000)}`);
		expect(readableLength(data)).toBe(data.length);
	});

	test("text that arrives in any pieces reads the same as in one", () => {
		fc.assert(
			fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, seed) => {
				const data = bytes(text);
				const cut = data.length === 0 ? 0 : seed % (data.length + 1);
				const first = readableLength(data.subarray(0, cut));
				const read = (piece: Uint8Array) => new TextDecoder().decode(piece);
				expect(read(data.subarray(0, first)) + read(data.subarray(first))).toBe(read(data));
				expect(cut - first).toBeLessThanOrEqual(256);
			}),
		);
	});

	test("bytes that are no text are not held back for ever", () => {
		fc.assert(
			fc.property(fc.uint8Array({ minLength: 300 }), (data) => {
				expect(data.length - readableLength(data)).toBeLessThanOrEqual(256);
			}),
		);
	});
});
