// `keryx checkpoint` and `keryx checkpoints`: beside a Keryx that runs and without one, on real folders with real git.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asJson, call, commandIn, type Run } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-cli-checkpoints-"));
const { keryx, start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let homes = 0;

interface Place {
	readonly home: string;
	readonly workspace: string;
	run(...args: readonly string[]): Promise<Run>;
	/** On a terminal of 100 columns. */
	shown(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Run>;
	put(file: string, text: string | Buffer): void;
	read(file: string): string;
}

/** A home whose terminal has a conversation. */
async function place(): Promise<Place> {
	const home = join(root, `home-${homes++}`);
	mkdirSync(home, { mode: 0o700 });
	const run = (...args: readonly string[]) => call(args, { env: { KERYX_HOME: home } });
	expect(await run("send", "hello")).toMatchObject({ code: 0 });
	const listed = asJson(await run("checkpoints", "list", "--json"));
	const { workspace } = listed as { workspace: string };
	return {
		home,
		workspace,
		run,
		shown: (args, env = {}) => call(args, { env: { KERYX_HOME: home, ...env }, columns: 100 }),
		put: (file, text) => writeFileSync(join(workspace, file), text),
		read: (file) => readFileSync(join(workspace, file), "utf8"),
	};
}

/** The whole ids, newest first. */
const ids = async ({ run }: Place): Promise<string[]> =>
	(await run("checkpoints", "list")).stdout
		.trimEnd()
		.split("\n")
		.map((line) => line.split("\t")[0] ?? "");

describe("checkpoints from the command line", () => {
	let here: Place;
	beforeAll(async () => {
		here = await place();
		here.put("a.txt", "one\n");
		here.put("debug.log", "not saved\n");
	});

	test("one is taken, and none where nothing has changed", async () => {
		const empty = await here.run("checkpoints", "list");
		expect(empty).toMatchObject({ code: 0, stdout: "" });
		expect(empty.stderr).toContain("`keryx checkpoint` saves one");
		expect(asJson(await here.run("checkpoints", "diff", "--json"))).toEqual({ files: [] });

		const taken = await here.run("checkpoint", "before", "the", "change");
		expect(taken.stdout).toMatch(/^Saved checkpoint [0-9a-f]{7} with 1 file\.\n$/);
		expect(taken.stderr).toBe("Not saved: 1 never saved (debug.log).\n");
		const again = await here.run("checkpoint", "--json");
		expect(asJson(again)).toMatchObject({
			kind: "unchanged",
			checkpoint: { kind: "manual", label: "before the change", files: 1 },
		});
		expect((await here.run("checkpoint")).stdout).toMatch(
			/^No files have changed since checkpoint [0-9a-f]{7}\./,
		);
	});

	test("they are listed as a table, as lines and as JSON", async () => {
		here.put("a.txt", "one\ntwo\n");
		await here.run("checkpoint", "\u001b[2J");
		const [newest = "", oldest = ""] = await ids(here);
		const table = await here.shown(["checkpoints", "list"], { NO_COLOR: "1" });
		const [head, first, second] = table.stdout.split("\n");
		expect(head).toMatch(/^id +taken +kind +label +files +changed$/);
		expect(first).toContain(newest.slice(0, 7));
		expect(first).toContain("\\u001b[2J");
		expect(first).toMatch(/ {2}\+1 -0 in 1 file$/);
		expect(second).toMatch(/ago {2}manual {2}before the change {2}1$/);
		expect(table.stderr).toContain(`Workspace: ${here.workspace}.`);
		const lines = (await here.run("checkpoints", "list")).stdout.split("\n").map((line) => line.split("\t"));
		expect(lines[0]?.slice(2)).toEqual(["manual", "\\u001b[2J", "1", "1", "1", "0", expect.any(String), ""]);
		expect(asJson(await here.run("checkpoints", "list", "--json")).checkpoints).toMatchObject([
			{ id: newest, changed: { files: 1, insertions: 1, deletions: 0 } },
			{ id: oldest, changed: null, excluded: [{ reason: "built_in", count: 1, examples: ["debug.log"] }] },
		]);
	});

	test("a diff is coloured and harmless on a terminal, and can be applied when piped", async () => {
		const [newest = "", oldest = ""] = await ids(here);
		here.put("a.txt", "one\n-- three\r\n\u001b[31m");
		const plain = await here.run("checkpoints", "diff", newest.slice(0, 7));
		expect(plain.stdout).toContain(
			"@@ -1,2 +1,3 @@\n one\n-two\n+-- three\r\n+\u001b[31m\n\\ No newline at end of file\n",
		);
		expect(await here.run("checkpoints", "diff")).toEqual(plain);
		const coloured = await here.shown(["checkpoints", "diff"]);
		expect(coloured.stdout).toContain("\u001b[31m-two\u001b[39m\n\u001b[32m+-- three\\u000d\u001b[39m\n");
		expect(coloured.stdout).toContain("\u001b[32m+\\u001b[31m\u001b[39m\n");
		expect(coloured.stdout.split("\n")[0]).toBe("\u001b[1mdiff --git a/a.txt b/a.txt\u001b[22m");
		const sober = await here.shown(["checkpoints", "diff"], { NO_COLOR: "1" });
		expect(sober.stdout).toContain("\n one\n-two\n+-- three\\u000d\n+\\u001b[31m\n");
		const counts = await here.run("checkpoints", "diff", oldest, "--to", newest, "--stat");
		expect(counts).toMatchObject({ stdout: "changed\t1\t0\ta.txt\n", stderr: "1 file, +1 -0\n" });
		expect(await here.run("checkpoints", "diff", oldest, "nowhere.txt")).toMatchObject({
			code: 0,
			stdout: "",
			stderr: "Nothing differs.\n",
		});
		expect(asJson(await here.run("checkpoints", "diff", oldest, "a.txt", "--json")).files).toMatchObject([
			{ path: "a.txt", status: "changed", insertions: 2, deletions: 0 },
		]);
	});

	test("a restore keeps what a person changed, says so, and is undone by what it names", async () => {
		const oldest = (await ids(here)).at(-1) ?? "";
		here.put("a.txt", "by a person\n");
		const dry = await here.run("checkpoints", "restore", oldest, "--dry-run");
		expect(dry.stdout).toBe("keep\ta.txt\tsomeone other than the agent changed it\n");
		expect(dry.stderr).toContain("would change nothing.\n--force also undoes");
		const forcedly = await here.run("checkpoints", "restore", oldest, "--dry-run", "--force");
		expect(forcedly).toMatchObject({ code: 0, stdout: "restore\ta.txt\t\n" });
		expect(forcedly.stderr).toContain("nothing was changed. Run it again without --dry-run to do it.");
		expect(here.read("a.txt")).toBe("by a person\n");

		const kept = await here.run("checkpoints", "restore", oldest.slice(0, 7));
		expect(kept).toMatchObject({ code: 0, stdout: dry.stdout.replace("keep", "kept") });
		expect(here.read("a.txt")).toBe("by a person\n");
		const forced = await here.run("checkpoints", "restore", oldest, "a.txt", "--force");
		expect(forced).toMatchObject({ code: 0, stdout: "restored\ta.txt\t\n" });
		expect(here.read("a.txt")).toBe("one\n");
		const [, undo = ""] = /^To undo this: keryx (.*)$/m.exec(forced.stderr) ?? [];
		expect((await here.run(...undo.split(" "), "--json")).code).toBe(0);
		expect(here.read("a.txt")).toBe("by a person\n");
		expect(asJson(await here.run("checkpoints", "restore", oldest, "--dry-run", "--json"))).toMatchObject({
			target: { id: oldest },
			restore: [],
			kept: [{ path: "a.txt", reason: "changed_since" }],
		});
	});

	test.each([
		["no id", [], 2],
		["an id that is an option", ["--", "--output=x"], 2],
		["an option that is none", ["--output=x"], 2],
		["an id that leads elsewhere", ["../../etc"], 2],
		["an id that is too short", ["abc"], 2],
		["an id that none has", ["0123456789"], 1],
		["a path out of the workspace", ["0123456789", "../x"], 2],
		["an absolute path", ["0123456789", "/etc/passwd"], 2],
		["one word too many", ["0123456789", "a", "b"], 2],
		["a conversation that is not there", ["0123456789", "--conversation", "none"], 1],
	] as const)("%s is refused by restore, with and without --dry-run", async (_name, args, code) => {
		for (const words of [
			["restore", ...args],
			["restore", "--dry-run", ...args],
		]) {
			const run = await here.run("checkpoints", ...words);
			expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringContaining("what to do: ") });
		}
	});

	test("a link that leads out of the workspace is not followed", async () => {
		const there = await place();
		mkdirSync(join(there.workspace, "folder"));
		there.put("folder/a.txt", "ours\n");
		const { checkpoint } = asJson(await there.run("checkpoint", "--json"));
		const outside = join(root, "outside");
		mkdirSync(outside);
		writeFileSync(join(outside, "a.txt"), "not ours\n");
		rmSync(join(there.workspace, "folder"), { recursive: true });
		symlinkSync(outside, join(there.workspace, "folder"));
		await there.run("checkpoints", "restore", checkpoint.id, "folder/a.txt", "--force");
		expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("not ours\n");
	});

	test("where a file that should go back cannot, the exit code says so", async () => {
		const there = await place();
		there.put("name", "a file\n");
		const { checkpoint } = asJson(await there.run("checkpoint", "--json"));
		rmSync(join(there.workspace, "name"));
		mkdirSync(join(there.workspace, "name"));
		there.put("name/kept.log", "never saved, so it is not touched\n");
		const run = await there.run("checkpoints", "restore", checkpoint.id, "--force");
		expect(run).toMatchObject({ code: 1, stdout: expect.stringContaining("kept\tname\t") });
	});

	test("a terminal without a conversation, and checkpoints that are off, say what to do", async () => {
		const bare = await call(["checkpoint"], { env: { KERYX_HOME: join(root, "bare") } });
		expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining("--conversation") });
		const file = join(here.home, "config.yaml");
		writeFileSync(file, "checkpoints: {enabled: false}\n");
		const refused = await here.run("checkpoint");
		expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("checkpoints.enabled") });
		rmSync(file);
	});

	test("help has examples and exit codes", async () => {
		for (const words of [
			["checkpoint"],
			["checkpoints", "list"],
			["checkpoints", "diff"],
			["checkpoints", "restore"],
		]) {
			const { stdout } = await call([...words, "--help"]);
			expect(stdout).toContain(`$ keryx ${words.join(" ")}`);
			expect(stdout).toContain("Exit codes: 0 ");
		}
		expect(await call(["checkpoints"])).toMatchObject({ code: 2 });
		expect(await call(["checkpoints", "restor"])).toMatchObject({
			code: 2,
			stderr: expect.stringContaining("did you mean restore?"),
		});
	});
});

describe("as processes", () => {
	test("a Keryx that runs is asked over its socket", async () => {
		const { home, put, read, run } = await place();
		put("a.txt", "one\n");
		const gateway = await start(home);
		try {
			const env = { KERYX_HOME: home };
			const taken = await keryx(["checkpoint", "--json"], { env });
			const { id } = asJson(taken).checkpoint as { id: string };
			put("a.txt", "two\n");
			expect((await keryx(["checkpoints", "diff"], { env })).stdout).toContain("-one\n+two\n");
			expect(await run("checkpoints", "restore", id, "--force")).toMatchObject({ code: 0 });
			expect(read("a.txt")).toBe("one\n");
			expect(await run("checkpoints", "restore", "0123456")).toMatchObject({
				code: 1,
				stderr: expect.stringContaining("no checkpoint 0123456"),
			});
		} finally {
			await gateway.stop();
		}
	});

	test("without git it says what is missing, and so does the doctor", async () => {
		const { home } = await place();
		const env = { KERYX_HOME: home, PATH: join(root, "nothing") };
		const taken = await keryx(["checkpoint", "--json"], { env });
		expect(taken.code).toBe(1);
		expect(asJson(taken).error).toMatchObject({
			code: "checkpoint.no_git",
			hint: expect.stringContaining("install git"),
		});
		const { code, stdout } = await keryx(["doctor", "--quick"], { env });
		expect(code).toBe(1);
		expect(stdout).toMatch(/^WRONG {2}git: .*no git on the PATH\n {7}what to do: install git/m);
	});
});
