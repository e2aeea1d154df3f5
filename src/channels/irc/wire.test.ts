import fc from "fast-check";
import { expect, test } from "vitest";
import { formatLine, isWord, parseLine, pictured, withoutFormats } from "./wire.ts";

test("a line has tags, a prefix, a command and parameters, each as it was written", () => {
	const line =
		"@time=2026-01-02T03:04:05.678Z;account=ada;+x=a\\:b\\sc\\\\d\\r\\n;flag :ada!~ada@host PRIVMSG #room :hello :there ";
	const message = parseLine(line);
	expect(message).toMatchObject({
		prefix: "ada!~ada@host",
		nick: "ada",
		command: "PRIVMSG",
		params: ["#room", "hello :there "],
	});
	expect(Object.fromEntries(message?.tags ?? [])).toEqual({
		time: "2026-01-02T03:04:05.678Z",
		account: "ada",
		"+x": "a;b c\\d\r\n",
		flag: "",
	});
	expect(parseLine("PING")).toMatchObject({ command: "PING", params: [], prefix: "" });
	expect(parseLine(":server 353 me = #a  :@x y")?.params).toEqual(["me", "=", "#a", "@x y"]);
	expect(parseLine("privmsg a :")?.params).toEqual(["a", ""]);
	for (const wrong of ["", " ", ":only", "@tags", "12", "!"]) expect(parseLine(wrong)).toBeNull();
});

test("whatever is sent is one line with one command, and says what was meant", () => {
	fc.assert(
		fc.property(fc.string({ unit: "binary" }), (text) => {
			const line = formatLine("PRIVMSG", ["#room", text]);
			// biome-ignore lint/suspicious/noControlCharactersInRegex: what ends a line
			expect(line).not.toMatch(/[\r\n\0\x01]/);
			expect(parseLine(line)).toMatchObject({
				command: "PRIVMSG",
				params: ["#room", pictured(text.toWellFormed())],
			});
		}),
	);
});

test("a target that could be more than a target is refused", () => {
	fc.assert(
		fc.property(fc.string({ unit: "binary" }), (target) => {
			if (isWord(target))
				expect(parseLine(formatLine("PRIVMSG", [target, "x"]))?.params).toEqual([target, "x"]);
			else expect(() => formatLine("PRIVMSG", [target, "x"])).toThrow();
		}),
	);
	for (const target of ["a b", "a,b", ":a", "", "a\r\nQUIT", "a\0"]) expect(isWord(target)).toBe(false);
});

test("nothing that a server sends breaks the reader", () => {
	fc.assert(
		fc.property(fc.string({ unit: "binary" }), (line) => {
			parseLine(line);
			parseLine(`@${line} :a!b@c PRIVMSG x :${line}`);
		}),
	);
});

test("formats are taken out, words stay", () => {
	expect(withoutFormats("\x02bold\x02 \x0304,12red\x03 \x04ff0000hex\x0f 5\x035,6")).toBe("bold red hex 5");
});
