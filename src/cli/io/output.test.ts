import fc from "fast-check";
import { expect, test } from "vitest";
import { createOutput, escapeText, type Output } from "./output.ts";

function capture(
	print: (output: Output) => void,
	{ isTTY = false, columns = 80, json = false, env = {}, hide = (text: string) => text } = {},
): { stdout: string; stderr: string } {
	const written = { stdout: "", stderr: "" };
	const stream = (name: "stdout" | "stderr") => ({
		isTTY,
		columns,
		write: (text: string) => {
			written[name] += text;
		},
	});
	print(createOutput({ stdout: stream("stdout"), stderr: stream("stderr"), env }, { json, hide }));
	return written;
}

const table = (output: Output) =>
	output.table(
		["key", "value"],
		[
			["mode", "both"],
			["名前", "x"],
			["e\u0301", "y"],
		],
	);

test("a table on a terminal has a heading and columns that line up", () => {
	const { stdout } = capture(table, { isTTY: true, env: { NO_COLOR: "1" } });
	expect(stdout).toBe("key   value\nmode  both\n名前  x\ne\u0301     y\n");
});

test("a table that is piped has tabs, no heading and no colours", () => {
	expect(capture(table).stdout).toBe("mode\tboth\n名前\tx\ne\u0301\ty\n");
});

test("on a narrow terminal the elastic columns give way, the widest first, and no other", () => {
	const rows = [["a".repeat(30), "0123456789", "b".repeat(40)]];
	const print = (output: Output) => output.table(["x", "y", "z"], rows, { elastic: [0, 2] });
	const lines = capture(print, { isTTY: true, columns: 40, env: { NO_COLOR: "1" } }).stdout.split("\n");
	expect(lines[1]).toBe(`${"a".repeat(12)}…  0123456789  ${"b".repeat(12)}…`);
	expect(lines[1]).toHaveLength(40);
	expect(capture(print, { columns: 40 }).stdout).toBe(`${rows[0]?.join("\t")}\n`);
	const narrowest = capture(print, { isTTY: true, columns: 10, env: { NO_COLOR: "1" } }).stdout.split("\n");
	expect(narrowest[1]).toBe(`${"a".repeat(7)}…  0123456789  ${"b".repeat(7)}…`);
});

test("a text keeps its lines, tabs and spaces, and nothing else that moves a cursor", () => {
	const print = (output: Output) => output.text("a  \r\n\tb\u001b[2J\rc");
	expect(capture(print).stdout).toBe("a  \n\tb\\u001b[2J\nc\n");
});

test("what is handed on is changed on a terminal only", () => {
	const print = (output: Output) => output.raw("a\u001b[2J\n");
	expect(capture(print).stdout).toBe("a\u001b[2J\n");
	expect(capture(print, { isTTY: true }).stdout).toBe("a\\u001b[2J\n");
});

test("marked pieces are bold on a terminal", () => {
	const print = (output: Output) =>
		output.pieces([
			{ text: "a ", marked: false },
			{ text: "b\u001b", marked: true },
		]);
	expect(capture(print).stdout).toBe("a b\\u001b\n");
	expect(capture(print, { isTTY: true }).stdout).toBe("a \u001b[1mb\\u001b\u001b[22m\n");
});

test("progress is one line that replaces itself, on a terminal alone and never with --json", () => {
	const print = (output: Output) => {
		output.progress(null);
		output.progress("1 of 2 and more");
		output.progress(null);
		output.progress(null);
	};
	expect(capture(print, { isTTY: true, columns: 8 })).toEqual({
		stdout: "",
		stderr: "\r1 of 2…\u001b[K\r\u001b[K",
	});
	for (const options of [{}, { isTTY: true, json: true }, { isTTY: true, env: { TERM: "dumb" } }])
		expect(capture(print, options).stderr).toBe("");
});

test("a note is on stderr, and not with --json", () => {
	expect(capture((output) => output.note("a\u0007"))).toEqual({ stdout: "", stderr: "a\\u0007\n" });
	expect(capture((output) => output.note("a"), { json: true }).stderr).toBe("");
});

test.each([
	["on a terminal", true, {}, true],
	["when piped", false, {}, false],
	["when NO_COLOR is set", true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
	["when FORCE_COLOR is set", false, { FORCE_COLOR: "1" }, true],
	["on a dumb terminal", true, { TERM: "dumb" }, false],
	["when piped in CI", false, { CI: "true" }, false],
])("colours %s: %s %j -> %s", (_name, isTTY, env, expected) => {
	const { stdout } = capture((output) => output.heading("x"), { isTTY, env });
	expect(stdout.includes("\u001b[")).toBe(expected);
});

const hostile = fc.string({
	unit: fc.oneof(
		fc.constantFrom(
			"\u001b",
			"\u009b",
			"\u0085",
			"\u2028",
			"\u202e",
			"\u200b",
			"\r",
			"\n",
			"\t",
			"\ud800",
			"\u{e0041}",
		),
		fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
	),
});

test("no text can move the cursor, fake a line or hide in the output", () => {
	fc.assert(
		fc.property(hostile, (text) => {
			for (const print of [
				(output: Output) => output.line(text),
				(output: Output) => output.heading(text),
				(output: Output) => output.pairs([[text, text, text]]),
				(output: Output) => output.table([text], [[text]]),
				(output: Output) => output.value({ text }, "line"),
			]) {
				const { stdout } = capture(print);
				expect(stdout.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
				expect(stdout.at(-1)).toBe("\n");
			}
		}),
	);
});

test("JSON keeps every text exactly", () => {
	fc.assert(
		fc.property(hostile, (text) => {
			const { stdout } = capture((output) => output.value({ text }));
			expect(JSON.parse(stdout)).toEqual({ text });
		}),
	);
});

test("known secrets are taken out of text and JSON alike", () => {
	const hide = (text: string) => text.replaceAll('my "key"', "***");
	const print = (output: Output) => {
		output.line('it is my "key"');
		output.value({ at: 'my "key"' }, "line");
		output.warn('my "key"');
	};
	expect(capture(print, { hide })).toEqual({
		stdout: 'it is ***\n{"at":"***"}\n',
		stderr: "keryx: warning: ***\n",
	});
});

test("escapes name the character", () => {
	expect(escapeText("a\u001b[2J\u202e\n\u{E0041}b")).toBe("a\\u001b[2J\\u202e\\u000a\\u{e0041}b");
});
