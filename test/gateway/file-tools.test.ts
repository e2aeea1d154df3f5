// The tools for files through the whole gateway, behind real walls.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSecrets } from "../../src/secrets/index.ts";
import { OPERATOR } from "./support.ts";
import { Workbench } from "./workbench.ts";

let bench: Workbench;
beforeEach(() => {
	bench = new Workbench();
});
afterEach(() => bench.end());

const text = async (tool: string, input: object) => {
	const { content, isError } = await bench.call(tool, input);
	expect(isError, content).toBe(false);
	return content;
};
const problem = async (tool: string, input: object) => {
	const { content, isError } = await bench.call(tool, input);
	expect(isError, content).toBe(true);
	return content;
};

describe("read_file", () => {
	test("shows numbered lines, and says which of how many", async () => {
		await bench.start();
		bench.write("a.txt", "one\ntwo\nthree\n");
		expect(await text("read_file", { path: "a.txt" })).toBe("     1\tone\n     2\ttwo\n     3\tthree");
		expect(await text("read_file", { path: "a.txt", offset: 2, limit: 1 })).toBe(
			"     2\ttwo\n[lines 2 to 2 of 3; continue with offset 3]",
		);
		expect(await problem("read_file", { path: "a.txt", offset: 9 })).toContain("it has 3 lines");
		expect(await problem("read_file", { path: "none.txt" })).toContain("No such file or directory");
		expect(await problem("read_file", { path: "." })).toContain("it is a folder");
	});

	test("bounds its answer by lines, by characters and within a line", async () => {
		await bench.start();
		bench.write("lines", Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`).join("\n"));
		expect(await text("read_file", { path: "lines" })).toMatch(
			/ {2}1000\tline 1000\n\[lines 1 to 1000 of 3000; continue with offset 1001\]$/,
		);
		bench.write("wide", `${"x".repeat(100_000)}\nshort`);
		expect(await text("read_file", { path: "wide" })).toContain(
			"x [... 98000 characters left out]\n     2\tshort",
		);
		bench.write("many", Array(400).fill("y".repeat(1000)).join("\n"));
		const many = await text("read_file", { path: "many" });
		expect(many.length).toBeLessThan(51_000);
		expect(many).toMatch(/\[lines 1 to 49 of 400; continue with offset 50\]$/);
	});

	test("where a long line is cut, no part of a secret remains", async () => {
		await bench.start({ secrets: createSecrets(new Map([["KEY", "k3y-".repeat(10)]])) });
		bench.write("wide", `${"x".repeat(1990)}${"k3y-".repeat(10)}${"y".repeat(1000)}`);
		const read = await text("read_file", { path: "wide" });
		expect(read).toMatch(/^ +1\tx{1990} \[\.\.\. \d+ characters left out\]$/);
	});

	test("a secret over several lines is hidden in each of them, and lines keep their numbers", async () => {
		const lines = ["correct-horse", "battery-staple", "and-more"];
		await bench.start({ secrets: createSecrets(new Map([["KEY", lines.join("\n")]])) });
		bench.write("file", ["begin", ...lines, "end", ""].join("\n"));
		for (const offset of [1, 2, 3, 4])
			for (const limit of [1, 2, 5]) {
				const read = await text("read_file", { path: "file", offset, limit });
				expect(read).not.toMatch(/correct|horse|battery|staple|and-more/);
				if (offset + limit > 5) expect(read).toContain("     5\tend");
			}
	});

	test("a secret over several lines of a file that is too large to send is hidden, too", async () => {
		const lines = ["correct-horse", "battery-staple", "and-more"];
		await bench.start({ secrets: createSecrets(new Map([["KEY", lines.join("\n")]])) });
		bench.write("file", `${"row\n".repeat(200_000)}begin\n${lines.join("\n")}\nend\n`);
		const read = await text("read_file", { path: "file", offset: 200_001, limit: 5 });
		expect(read).not.toMatch(/correct|horse|battery|staple|and-more/);
		expect(read).toContain("200005\tend");
	});

	test("reads a part of a file that is too large to send", async () => {
		await bench.start();
		bench.write(
			"large",
			Array.from({ length: 200_000 }, (_, index) => `row ${index + 1} é`)
				.join("\n")
				.concat("\n"),
		);
		const part = await text("read_file", { path: "large", offset: 150_000, limit: 2 });
		expect(part).toBe(
			"150000\trow 150000 é\n150001\trow 150001 é\n[lines 150000 to 150001 of 200000; continue with offset 150002]",
		);
	});

	test.each([
		["utf-8 with BOM", Buffer.from("\ufeffgrün\n"), "grün"],
		["utf-16le", Buffer.from("\ufeffgrün\n", "utf16le"), "grün"],
		["utf-16be", Buffer.from("\ufeffgrün\n", "utf16le").swap16(), "grün"],
		["latin-1", Buffer.from("grün\n", "latin1"), "grün"],
	])("says that a file is %s", async (encoding, bytes, shown) => {
		await bench.start();
		bench.write("file", bytes);
		expect(await text("read_file", { path: "file" })).toBe(`     1\t${shown}\n[encoding ${encoding}]`);
		expect(await text("edit_file", { path: "file", edits: [{ old: "grün", new: "gräu" }] })).toContain(
			encoding,
		);
		const written = readFileSync(join(bench.work, "file"));
		expect(written.length).toBe(bytes.length);
		expect(await text("read_file", { path: "file" })).toContain("gräu");
	});

	test("says that a file is binary, and of what kind", async () => {
		await bench.start();
		bench.write("picture", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0", "latin1"));
		bench.write("odd", Buffer.from([1, 2, 0, 255]));
		expect(await problem("read_file", { path: "picture" })).toContain(
			"it is a binary file: a PNG picture, 11 bytes",
		);
		expect(await problem("read_file", { path: "odd" })).toContain("it is a binary file, 4 bytes");
		expect(await problem("edit_file", { path: "odd", edits: [{ old: "a", new: "b" }] })).toContain(
			"not a text file",
		);
	});

	test("does not wait for a pipe", async () => {
		await bench.start({ config: { approvals: { mode: "off" } } });
		await text("terminal", { command: "mkfifo pipe" });
		expect(await problem("read_file", { path: "pipe" })).toContain("it is not a regular file");
		expect(await problem("write_file", { path: "pipe", content: "x" })).toContain("it is not a regular file");
	});
});

describe("write_file", () => {
	test("writes a new file with its folders, and replaces one as a whole, with its mode", async () => {
		await bench.start();
		expect(await text("write_file", { path: "a/b/c.sh", content: "one\n" })).toBe(
			"Created a/b/c.sh (4 bytes).",
		);
		chmodSync(join(bench.work, "a/b/c.sh"), 0o755);
		expect(await text("write_file", { path: "a/b/c.sh", content: "" })).toBe("Replaced a/b/c.sh (0 bytes).");
		expect(bench.read("a/b/c.sh")).toBe("");
		expect(statSync(join(bench.work, "a/b/c.sh")).mode & 0o777).toBe(0o755);
		expect(readdirSync(join(bench.work, "a/b"))).toEqual(["c.sh"]);
	});

	test("writes what a shell would read otherwise, byte for byte", async () => {
		await bench.start();
		const content = `$(touch pwned) \`touch pwned\` '"\\n\${HOME}\n\r\n\u00e9\u{1f600}%s no newline`;
		const path = "-rf $(touch pwned) 'x\".txt";
		await text("write_file", { path, content });
		expect(bench.read(path)).toBe(content);
		expect(readdirSync(bench.work)).toEqual([path]);
		await text("edit_file", { path, edits: [{ old: "%s", new: "$(touch pwned)%d" }] });
		expect(bench.read(path)).toBe(content.replace("%s", () => "$(touch pwned)%d"));
		expect(readdirSync(bench.work)).toEqual([path]);
	});

	test("writes a large file whole", async () => {
		await bench.start();
		const written = "0123456789abcde\n".repeat(2000);
		await text("write_file", { path: "written", content: written });
		expect(bench.read("written") === written).toBe(true);
		const content = written.repeat(90);
		bench.write("large", content);
		await text("edit_file", { path: "large", edits: [{ old: "abcde\n", new: "ABCDE\n", all: true }] });
		expect(bench.read("large") === content.replaceAll("abcde", "ABCDE")).toBe(true);
	});

	test("writes through a link inside of the workspace, and keeps the link", async () => {
		await bench.start();
		bench.write("target", "before");
		symlinkSync("target", join(bench.work, "link"));
		await text("write_file", { path: "link", content: "after" });
		expect(bench.read("target")).toBe("after");
		expect(await text("list_files", {})).toContain("link -> target");
	});
});

describe("edit_file", () => {
	test("makes several exact replacements, all or none", async () => {
		await bench.start();
		bench.write("a.ts", "const a = 1;\nconst b = 2;\nconst c = 1;\n");
		const edits = [
			{ old: "const a = 1;", new: "const a = 10;" },
			{ old: "const b = 2;", new: "const b = 20;" },
		];
		expect(await text("edit_file", { path: "a.ts", edits })).toBe("Changed a.ts: 2 replacements. Line 1, 2.");
		const before = bench.read("a.ts");
		const failing = [
			...edits.map(({ old }) => ({ old: old.replace(";", "0;"), new: "x" })),
			{ old: "gone", new: "" },
		];
		expect(await problem("edit_file", { path: "a.ts", edits: failing })).toContain(
			"old of edit 3 was not found. Read the file and copy the text exactly. Nothing was changed.",
		);
		expect(bench.read("a.ts")).toBe(before);
		expect(await problem("edit_file", { path: "a.ts", edits: [{ old: "const", new: "let" }] })).toContain(
			"old occurs 3 times (lines 1, 2, 3)",
		);
		await text("edit_file", { path: "a.ts", edits: [{ old: "const", new: "let", all: true }] });
		expect(bench.read("a.ts")).toBe("let a = 10;\nlet b = 20;\nlet c = 1;\n");
	});

	test("keeps CRLF line endings, and says what is probably wrong with old", async () => {
		await bench.start();
		bench.write("dos.txt", "one\r\ntwo\r\nthree\r\n");
		await text("edit_file", { path: "dos.txt", edits: [{ old: "one\ntwo", new: "1\n2" }] });
		expect(bench.read("dos.txt")).toBe("1\r\n2\r\nthree\r\n");
		bench.write("tabs", "if (x) {\n\treturn 1;\n}\n");
		expect(
			await problem("edit_file", { path: "tabs", edits: [{ old: "{\n    return 1;", new: "" }] }),
		).toContain("with other spaces");
		expect(
			await problem("edit_file", { path: "tabs", edits: [{ old: "     1\tif (y)", new: "" }] }),
		).toContain("Leave out the line numbers");
	});
});

describe("list_files and find_in_files", () => {
	beforeEach(() => {
		bench.write("src/a.ts", "export const alpha = 1;\n");
		bench.write("src/deep/b.test.ts", "test('Alpha', () => alpha);\n");
		bench.write("README.md", "alpha\n");
		bench.write("node_modules/x/index.js", "alpha\n");
		bench.write(".git/config", "alpha\n");
		bench.write("odd\nname", "alpha beta: 7:\n");
		bench.write("bin", Buffer.from("alpha\0\xff", "latin1"));
	});

	test("where a long line is cut, no part of a secret remains", async () => {
		await bench.start({ secrets: createSecrets(new Map([["KEY", "k3y-".repeat(10)]])) });
		bench.write("wide", `${"x".repeat(290)}${"k3y-".repeat(10)}${"z".repeat(1000)}`);
		const found = await text("find_in_files", { pattern: "xx" });
		expect(found).toMatch(/^wide:1: x{290} \[\.\.\. \d+ characters left out\]$/);
	});

	test("lists a folder, or what fits a pattern below it", async () => {
		await bench.start();
		expect((await text("list_files", {})).split("\n")).toEqual([
			".git/",
			"README.md (6 bytes)",
			"bin (7 bytes)",
			"node_modules/",
			'"odd\\nname" (15 bytes)',
			"src/",
		]);
		expect(await text("list_files", { pattern: "**/*.ts" })).toBe(
			"src/a.ts (24 bytes)\nsrc/deep/b.test.ts (28 bytes)",
		);
		expect(await text("list_files", { path: "src", pattern: "*.{js,test.ts}" })).toBe(
			"src/deep/b.test.ts (28 bytes)",
		);
		expect(await text("list_files", { path: "node_modules", depth: 2 })).toContain("node_modules/x/index.js");
		expect(await text("list_files", { depth: 9, limit: 2 })).toMatch(/\[\d+ more left out; give a pattern/);
		expect(await problem("list_files", { path: "README.md" })).toContain("it is not a folder");
		expect(await text("list_files", { pattern: "*.nothing" })).toBe("Nothing in . fits *.nothing.");
	});

	test("finds lines, by expression or literally, with bounds", async () => {
		await bench.start();
		const found = (await text("find_in_files", { pattern: "^(export|test)" })).split("\n").toSorted();
		expect(found).toEqual([
			"src/a.ts:1: export const alpha = 1;",
			"src/deep/b.test.ts:1: test('Alpha', () => alpha);",
		]);
		expect(await text("find_in_files", { pattern: "alpha", literal: true, files: "*.md" })).toBe(
			"README.md:1: alpha",
		);
		expect(await text("find_in_files", { pattern: "(", literal: true, path: "src/a.ts" })).toContain(
			"Nothing was found",
		);
		expect(await text("find_in_files", { pattern: "beta" })).toBe('"odd\\nname":1: alpha beta: 7:');
		expect(await text("find_in_files", { pattern: "CONST", ignore_case: true, path: "src" })).toContain(
			"src/a.ts:1:",
		);
		expect(await problem("find_in_files", { pattern: "(" })).toContain("(");
		expect(await text("find_in_files", { pattern: "alpha", limit: 1 })).toMatch(
			/\[\d further lines left out\]$/,
		);
		expect(await text("find_in_files", { pattern: "alpha", path: ".git" })).toContain(".git/config:1:");
		bench.write("around", "1\n2\nhere\n4\n5\n6\n7\nhere\n");
		expect(await text("find_in_files", { pattern: "here", path: "around", context: 1 })).toBe(
			"around-2- 2\naround:3: here\naround-4- 4\naround-7- 7\naround:8: here",
		);
	});
});

describe("who may use them", () => {
	test("a guest has none of them, unless given", async () => {
		await bench.start({ config: { auth: { telegram: { allow: [{ id: "gus", role: "guest" }] } } } });
		expect((await bench.call("read_file", { path: "a" }, "gus")).content).toContain(
			"There is no tool named read_file",
		);
	});

	test("a guest who was given one is in a box", async () => {
		bench.write("a", "text");
		await bench.start({
			config: {
				auth: { telegram: { allow: [{ id: "gus", role: "guest" }] } },
				tools: { by_role: { guest: ["read_file"] } },
			},
		});
		expect((await bench.call("read_file", { path: "a" }, "gus")).content).toBe("     1\ttext");
	});

	test("readonly mode refuses writes before they begin, and its wall would", async () => {
		bench.write("a", "text");
		await bench.start({ config: { approvals: { mode: "readonly" } } });
		expect(await text("read_file", { path: "a" })).toBe("     1\ttext");
		for (const [tool, input] of [
			["write_file", { path: "a", content: "x" }],
			["edit_file", { path: "a", edits: [{ old: "t", new: "x", all: true }] }],
		] as const)
			expect((await bench.call(tool, input)).isError).toBe(true);
		expect(bench.read("a")).toBe("text");
		expect((await bench.scene.store.processes({ scope: OPERATOR, limit: 9 })).length).toBe(1);
	});

	test("a path that holds keys or starts programs later is asked about", async () => {
		await bench.start();
		mkdirSync(join(bench.work, ".git/hooks"), { recursive: true });
		bench.write(".env", "KEY=1");
		await bench.say(`call read_file ${JSON.stringify({ path: ".env" })}`);
		expect(bench.scene.texts().at(-1)).toContain("may contain a secret");
		await bench.say(`call write_file ${JSON.stringify({ path: ".git/hooks/pre-commit", content: "x" })}`);
		expect(bench.scene.texts().at(-1)).toContain("runs automatically later");
		expect(existsSync(join(bench.work, ".git/hooks/pre-commit"))).toBe(false);
	});

	test("a call leaves nothing of its process behind", async () => {
		await bench.start();
		bench.write("a", "text");
		await text("read_file", { path: "a" });
		await text("edit_file", { path: "a", edits: [{ old: "text", new: "next" }] });
		const rows = await bench.scene.store.processes({ scope: OPERATOR, limit: 9 });
		expect(rows.map(({ command, status, exitCode }) => [command, status, exitCode])).toEqual([
			["edit_file a", "exited", 0],
			["read_file a", "exited", 0],
		]);
	});
});
