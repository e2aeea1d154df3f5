// Ten everyday tasks by a scripted model, through the real tools, walls and gateway. The model plays a script; everything it sets off is real.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NO_SECRETS } from "../../src/secrets/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { createWebFetchTool } from "../../src/tools/index.ts";
import { type Called, Workbench } from "./workbench.ts";

type Step = readonly [tool: string, input: object];

let bench: Workbench;
beforeEach(() => {
	bench = new Workbench();
});
afterEach(() => bench.end());

/** The model takes these steps one after the other, then answers. Answers what each step gave. */
async function task(steps: readonly Step[], answer: string): Promise<Called[]> {
	await bench.start({
		script: {
			rules: [
				{
					when: "please",
					steps: [...steps.map(([name, input]) => ({ tools: [{ name, input }] })), { text: answer }],
				},
			],
			otherwise: [{ text: "?" }],
		},
		tools: [
			createWebFetchTool({
				clock: systemClock,
				secrets: NO_SECRETS,
				mode: () => "manual",
				limits: () => ({ allowPrivate: ["127.0.0.1"], bytes: 1_000_000, ms: 20_000 }),
			}),
		],
		config: { walls: { by_role: { owner: "view" } } },
	});
	const id = await bench.say("please");
	expect(bench.scene.texts().at(-1)).toBe(answer);
	return bench.results(id);
}

const output = (called: Called | undefined) =>
	JSON.parse(called?.content ?? "{}") as { output: string; exit_code: number };

async function serve(body: string, type = "text/html; charset=utf-8") {
	const server = createServer((_, response) => response.writeHead(200, { "content-type": type }).end(body));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

const CHECK = "sh -c '. ./lib.sh; [ \"$(add 2 3)\" = 5 ] && echo passed || { echo failed; exit 1; }'";

test("find and fix a bug in a small repository", async () => {
	bench.write("lib.sh", 'add() {\n\techo "$(($1 - $2))"\n}\n');
	bench.write("test.sh", `${CHECK}\n`);
	const [failing, found, , , passing] = await task(
		[
			["terminal", { command: "sh test.sh" }],
			["find_in_files", { pattern: "add\\(\\)", files: "*.sh" }],
			["read_file", { path: "lib.sh" }],
			["edit_file", { path: "lib.sh", edits: [{ old: "$1 - $2", new: "$1 + $2" }] }],
			["terminal", { command: "sh test.sh" }],
		],
		"fixed",
	);
	expect(output(failing)).toMatchObject({ output: "failed\n", exit_code: 1 });
	expect(found?.content).toBe("lib.sh:1: add() {");
	expect(output(passing)).toMatchObject({ output: "passed\n", exit_code: 0 });
});

test("run the tests and mend the one that expects the wrong thing", async () => {
	bench.write("lib.sh", 'add() {\n\techo "$(($1 + $2))"\n}\n');
	bench.write("test.sh", `${CHECK.replace("= 5", "= 6")}\n`);
	const results = await task(
		[
			["terminal", { command: "sh test.sh" }],
			["read_file", { path: "test.sh" }],
			["edit_file", { path: "test.sh", edits: [{ old: '" = 6 ]', new: '" = 5 ]' }] }],
			["terminal", { command: "sh test.sh" }],
		],
		"mended",
	);
	expect([output(results[0]).exit_code, output(results[3]).exit_code]).toEqual([1, 0]);
});

test("rename a function across files", async () => {
	for (const name of ["a", "b", "c"])
		bench.write(`src/${name}.ts`, `import { oldName } from "./x";\noldName(); oldName();\n`);
	const [, , , , left] = await task(
		[
			["find_in_files", { pattern: "oldName", literal: true }],
			...["a", "b", "c"].map(
				(name): Step => [
					"edit_file",
					{ path: `src/${name}.ts`, edits: [{ old: "oldName", new: "newName", all: true }] },
				],
			),
			["find_in_files", { pattern: "oldName" }],
		],
		"renamed",
	);
	expect(left?.content).toBe("Nothing was found in ..");
	expect(bench.read("src/b.ts")).toBe(`import { newName } from "./x";\nnewName(); newName();\n`);
});

test("read a page and sum it up in a file", async () => {
	const page = await serve("<title>Herald</title><h1>Keryx</h1><p>A herald carries messages.</p>");
	const [fetched] = await task(
		[
			["web_fetch", { url: page.url }],
			["write_file", { path: "summary.md", content: "Keryx: a herald that carries messages.\n" }],
		],
		"summed up",
	);
	page.close();
	expect(fetched?.content).toContain("# Keryx\n\nA herald carries messages.");
	expect(bench.read("summary.md")).toContain("herald");
});

test("look around in an unknown repository and describe it", async () => {
	bench.write("package.json", '{ "name": "thing", "scripts": { "test": "true" } }\n');
	bench.write("src/index.js", "export const x = 1;\n");
	bench.write("node_modules/dep/index.js", "x");
	const [top, all, manifest] = await task(
		[
			["list_files", {}],
			["list_files", { pattern: "**/*.js" }],
			["read_file", { path: "package.json" }],
		],
		"a package named thing",
	);
	expect(top?.content.split("\n")).toEqual(["node_modules/", "package.json (51 bytes)", "src/"]);
	expect(all?.content).toBe("src/index.js (20 bytes)");
	expect(manifest?.content).toContain('"name": "thing"');
});

test("change a value in a configuration file and keep the rest", async () => {
	const before = "# Ports\r\nport: 80\r\nname: café\r\n";
	bench.write("app.yaml", Buffer.from(before, "latin1"));
	const [shown] = await task(
		[
			["read_file", { path: "app.yaml" }],
			["edit_file", { path: "app.yaml", edits: [{ old: "port: 80\nname", new: "port: 8080\nname" }] }],
			["terminal", { command: "wc -c < app.yaml" }],
		],
		"changed",
	);
	expect(shown?.content).toContain("[encoding latin-1; CRLF line endings]");
	expect(bench.read("app.yaml")).toBe(Buffer.from(before.replace("80", "8080"), "latin1").toString());
});

test("find an error in a large log", async () => {
	const lines = Array.from({ length: 60_000 }, (_, index) => `2026-01-01 INFO request ${index}`);
	lines[43_210] = "2026-01-01 ERROR disk full";
	bench.write("server.out", `${lines.join("\n")}\n`);
	const [found, around] = await task(
		[
			["find_in_files", { pattern: "ERROR|FATAL", path: "server.out" }],
			["read_file", { path: "server.out", offset: 43_210, limit: 3 }],
		],
		"the disk was full",
	);
	expect(found?.content).toBe("server.out:43211: 2026-01-01 ERROR disk full");
	expect(around?.content).toContain(" 43211\t2026-01-01 ERROR disk full\n 43212\t");
});

test("start a project: write files, run one, mend it", async () => {
	const results = await task(
		[
			["write_file", { path: "hello/bin/hello", content: '#!/bin/sh\necho "hello, $1"\n' }],
			["write_file", { path: "hello/README.md", content: "# hello\n" }],
			["terminal", { command: "sh hello/bin/hello Ada" }],
			["edit_file", { path: "hello/bin/hello", edits: [{ old: "hello, ", new: "Hello, " }] }],
			["terminal", { command: "sh hello/bin/hello Bob" }],
		],
		"made",
	);
	expect([output(results[2]).output, output(results[4]).output]).toEqual(["hello, Ada\n", "Hello, Bob\n"]);
});

test("turn data into a table", async () => {
	const data = await serve('[{"name":"ada","n":2},{"name":"bob","n":1}]', "application/json");
	const [fetched, , sorted] = await task(
		[
			["web_fetch", { url: data.url }],
			["write_file", { path: "data.csv", content: "name,n\nada,2\nbob,1\n" }],
			["terminal", { command: "tail -n +2 data.csv | sort -t, -k2n | head -n 1" }],
		],
		"bob has the least",
	);
	data.close();
	expect(fetched?.content).toContain('[{"name":"ada","n":2},{"name":"bob","n":1}]');
	expect(output(sorted).output).toBe("bob,1\n");
});

test("try something, see that it is worse, and have it undone", async () => {
	bench.write("style.css", "body { color: black; }\n");
	const [missed] = await task(
		[
			["edit_file", { path: "style.css", edits: [{ old: "color: white", new: "color: red" }] }],
			["edit_file", { path: "style.css", edits: [{ old: "color: black", new: "color: red" }] }],
			["write_file", { path: "theme/dark.css", content: "body { color: white; }\n" }],
		],
		"is red better?",
	);
	expect(missed).toMatchObject({ isError: true, content: expect.stringContaining("was not found") });
	expect(await bench.ask("/diff")).toContain("2 files");
	expect(await bench.ask("/undo --files")).toContain("1 file restored, 1 removed");
	expect([bench.read("style.css"), bench.read("theme/dark.css")]).toEqual(["body { color: black; }\n", null]);
});
