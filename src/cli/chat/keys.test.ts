import { emitKeypressEvents } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createKeyReader, type Key } from "./keys.ts";

/** The keys that a terminal's bytes mean. */
async function keysOf(bytes: string): Promise<Key[]> {
	const input = new PassThrough();
	const read = createKeyReader();
	const keys: Key[] = [];
	emitKeypressEvents(input);
	input.on("keypress", (typed, terminalKey) => {
		const key = read(typed, terminalKey);
		if (key) keys.push(key);
	});
	const ended = new Promise((resolve) => input.on("end", resolve));
	input.end(bytes);
	await ended;
	return keys;
}

test.each<[string, string]>([
	["\r", "enter"],
	["\n", "newline"],
	["\x1b\r", "newline"],
	["\x1b\n", "newline"],
	["\x1b[D", "left"],
	["\x1b[1;5D", "word-left"],
	["\x1b[1;3C", "word-right"],
	["\x1bb", "word-left"],
	["\x1b[H", "home"],
	["\x1bOF", "end"],
	["\x1b[3~", "delete"],
	["\x7f", "backspace"],
	["\b", "backspace"],
	["\x1b\x7f", "kill-word"],
	["\t", "tab"],
	["\x1b[Z", "back-tab"],
	["\x01", "home"],
	["\x03", "interrupt"],
	["\x04", "end-of-input"],
	["\x05", "end"],
	["\x07", "escape"],
	["\x0b", "kill-end"],
	["\x0c", "clear"],
	["\x12", "search"],
	["\x15", "kill-start"],
	["\x17", "kill-word"],
	["\x19", "yank"],
])("%j is %s", async (bytes, kind) => {
	expect(await keysOf(bytes)).toEqual([{ kind }]);
});

test("letters of every script are text", async () => {
	const keys = await keysOf("aB 1名👍é");
	expect(keys.map((key) => (key.kind === "text" ? key.text : key.kind)).join("")).toBe("aB 1名👍é");
});

test("a paste is one text, whatever is in it", async () => {
	expect(await keysOf("\x1b[200~one\rtwo\t\x03\x1b[Ax\x1b[201~\r")).toEqual([
		{ kind: "text", text: "one\rtwo\t\x03\x1b[Ax" },
		{ kind: "enter" },
	]);
});

test("keys without a meaning are nothing", async () => {
	expect(await keysOf("\x1b[15~\x1bz\x1a\x1b[2~")).toEqual([]);
});
