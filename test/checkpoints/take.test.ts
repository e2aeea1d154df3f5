import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cacheFile, readCache } from "../../src/checkpoints/cache.ts";
import { FACTS } from "../../src/checkpoints/facts.ts";
import type { TakeOutcome } from "../../src/checkpoints/index.ts";
import type { RawPath } from "../../src/checkpoints/names.ts";
import { type Bench, filesOf, openBench, put, run, treeOf } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
	bench = await openBench();
});
afterAll(() => bench.end());

function idOf(outcome: TakeOutcome): string {
	if (outcome.kind === "failed") throw new Error(outcome.reason);
	return outcome.id;
}

/** The files that a checkpoint of this folder holds. */
async function saved(folder: string): Promise<string[]> {
	const outcome = await bench.checkpoints.take({ workspace: folder, label: "test" });
	if (outcome.kind === "failed") throw new Error(outcome.reason);
	const { tree, workspace } = outcome.checkpoint;
	const out = execFileSync("git", ["ls-tree", "-r", "-z", "--name-only", tree], {
		env: { PATH: process.env.PATH, GIT_DIR: join(bench.home, "checkpoints", workspace) },
		encoding: "latin1",
	});
	return out.split("\0").filter((path) => path !== "" && path !== FACTS);
}

describe("a checkpoint", () => {
	test("is not kept when files may have changed before the look at them was over", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "one\n");
		const late = new AbortController();
		const taking = bench.checkpoints.take({
			workspace: folder,
			label: "late",
			kind: "before",
			turn: "late",
			signal: late.signal,
		});
		late.abort();
		expect(await taking).toMatchObject({
			kind: "failed",
			code: "checkpoint.failed",
			reason: "it took too long",
		});
		expect(await bench.checkpoints.list(folder)).toEqual([]);
	});

	test("is taken once: nothing changed, and the last is returned", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "one\n");
		const first = await bench.checkpoints.take({ workspace: folder, label: "first" });
		const second = await bench.checkpoints.take({ workspace: folder, label: "second" });
		expect(first.kind).toBe("taken");
		expect(second).toMatchObject({ kind: "unchanged", id: idOf(first) });
		const listed = await bench.checkpoints.list(folder);
		expect(listed).toMatchObject([{ id: idOf(first), label: "first", files: 1, changed: null }]);
	});

	test("sees a change of the same size in the same moment, and one whose times were set back", async () => {
		const folder = bench.workspace();
		const old = new Date("2020-01-01T00:00:00Z");
		for (let n = 0; n < 20; n++) {
			put(folder, "a.txt", `value ${n % 10}\n`);
			if (n % 2 === 0) utimesSync(join(folder, "a.txt"), old, old);
			const outcome = await bench.checkpoints.take({ workspace: folder, label: `${n}` });
			expect(outcome.kind, `change ${n}`).toBe("taken");
		}
	});

	test("does not trust the times of a file that was changed just before: it is read again", async () => {
		const folder = bench.workspace();
		// On a busy machine the look may come later than that.
		await expect
			.poll(async () => {
				put(folder, "a.txt", "1");
				const outcome = await bench.checkpoints.take({ workspace: folder, label: "x" });
				if (outcome.kind === "failed") throw new Error(outcome.reason);
				const cache = readCache(cacheFile(join(bench.home, "checkpoints", outcome.checkpoint.workspace)));
				return [cache?.files.size, cache?.files.get("a.txt" as RawPath)];
			})
			.toMatchObject([1, { ctime: 0, size: 1 }]);
	});

	test("counts what changed against the one before", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1\n2\n3\n");
		put(folder, "b.txt", "1\n");
		await bench.checkpoints.take({ workspace: folder, label: "one" });
		put(folder, "a.txt", "1\n2\nthree\nfour\n");
		put(folder, "c.bin", Buffer.from([0, 1, 2, 255]));
		execFileSync("rm", [join(folder, "b.txt")]);
		const outcome = await bench.checkpoints.take({
			workspace: folder,
			label: "two",
			session: "s1",
			turn: "t1",
			kind: "after",
		});
		const [newest] = await bench.checkpoints.list(folder);
		expect(newest).toMatchObject({
			id: idOf(outcome),
			label: "two",
			session: "s1",
			turn: "t1",
			kind: "after",
			changed: { files: 3, insertions: 2, deletions: 2 },
		});
	});

	test("leaves out what is excluded, and says what and why", async () => {
		const folder = bench.workspace();
		put(folder, "src/a.ts", "a");
		put(folder, "node_modules/x/index.js", "x");
		put(folder, "src/node_modules/y.js", "x");
		put(folder, "dist/a.js", "x");
		put(folder, "build/a.js", "x");
		put(folder, "__pycache__/a.pyc", "x");
		put(folder, ".venv/bin/python", "x");
		put(folder, ".env", "SECRET=1");
		put(folder, "deep/.env.local", "SECRET=1");
		put(folder, "server.log", "x");
		put(folder, "big.bin", Buffer.alloc(1024 * 1024 + 1));
		put(folder, "fits.bin", Buffer.alloc(1024 * 1024));
		put(folder, ".gitignore", "*.tmp\n/private/\n!.env\n!dist\n");
		put(folder, "a.tmp", "x");
		put(folder, "private/x", "x");
		put(folder, "src/private/x", "kept: the rule is for the top");
		execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", join(folder, "pipe")]);
		expect(await saved(folder)).toEqual([".gitignore", "fits.bin", "src/a.ts", "src/private/x"]);
		const [{ excluded } = { excluded: [] }] = await bench.checkpoints.list(folder);
		expect(Object.fromEntries(excluded.map(({ reason, count }) => [reason, count]))).toEqual({
			built_in: 9,
			gitignore: 2,
			too_large: 1,
			special: 1,
		});
		expect(excluded.find(({ reason }) => reason === "special")?.examples).toEqual(["pipe"]);
	});

	test("follows a .gitignore that changes, above and below, and back again", async () => {
		const folder = bench.workspace();
		put(folder, "a.tmp", "1");
		put(folder, "sub/b.tmp", "2");
		put(folder, "sub/deep/c.txt", "3");
		expect(await saved(folder)).toEqual(["a.tmp", "sub/b.tmp", "sub/deep/c.txt"]);
		put(folder, ".gitignore", "*.tmp\n");
		expect(await saved(folder)).toEqual([".gitignore", "sub/deep/c.txt"]);
		put(folder, "sub/.gitignore", "!b.tmp\ndeep\n");
		expect(await saved(folder)).toEqual([".gitignore", "sub/.gitignore", "sub/b.tmp"]);
		execFileSync("rm", [join(folder, "sub/.gitignore")]);
		expect(await saved(folder)).toEqual([".gitignore", "sub/deep/c.txt"]);
		execFileSync("rm", [join(folder, ".gitignore")]);
		expect(await saved(folder)).toEqual(["a.tmp", "sub/b.tmp", "sub/deep/c.txt"]);
	});

	test("holds nested repositories as ordinary files, whatever their depth and state, under their own .gitignore", async () => {
		const folder = bench.workspace();
		run(folder, "init", "-q");
		put(folder, "top.txt", "top");
		mkdirSync(join(folder, "one/two/three"), { recursive: true });
		run(join(folder, "one"), "init", "-q");
		put(folder, "one/.gitignore", "secret\n");
		put(folder, "one/secret", "x");
		put(folder, "secret", "of another repository: not ignored");
		put(folder, "one/a.txt", "a");
		run(join(folder, "one"), "add", "-A");
		run(join(folder, "one"), "commit", "-qm", "x");
		run(join(folder, "one/two"), "init", "-q");
		put(folder, "one/two/b.txt", "b");
		put(folder, "one/two/three/.git", "gitdir: ../nowhere\n");
		put(folder, "one/two/three/c.txt", "c");
		const before = treeOf(folder);
		expect(await saved(folder)).toEqual([
			"one/.gitignore",
			"one/a.txt",
			"one/two/b.txt",
			"one/two/three/c.txt",
			"secret",
			"top.txt",
		]);
		put(folder, "one/two/d.txt", "d");
		expect(await saved(folder)).toContain("one/two/d.txt");
		execFileSync("rm", [join(folder, "one/two/d.txt")]);
		expect(treeOf(folder)).toEqual(before);
	});

	test("holds names of any bytes, links as links, and whether a file may be run", async () => {
		const folder = bench.workspace();
		const outside = bench.workspace();
		put(outside, "secret.txt", "secret");
		for (const name of [
			"-rf",
			"--output=x",
			"new\nline",
			'tab\tand "quotes"',
			"back\\slash",
			":(top)x",
			"*",
			"ünïcødé",
			" ",
			"~",
		])
			put(folder, name, name);
		writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff, 0xfe])]), "no text");
		put(folder, "empty", "");
		put(folder, "run.sh", "#!/bin/sh\n", 0o755);
		symlinkSync(outside, join(folder, "link-out"));
		symlinkSync("nowhere", join(folder, "broken"));
		put(folder, ".gitattributes", "* text eol=crlf\n*.txt filter=lfs\n");
		put(folder, "crlf.txt", "a\r\nb\n");
		const names = await saved(folder);
		expect(names).toHaveLength(17);
		expect(names).toContain("f\u00ff\u00fe");
		const before = filesOf(folder);
		const [checkpoint] = await bench.checkpoints.list(folder);
		execFileSync("sh", ["-c", 'find "$1" -mindepth 1 -delete', "sh", folder]);
		await bench.checkpoints.restore(folder, checkpoint?.id ?? "", { force: true });
		expect(filesOf(folder)).toEqual(before);
		expect(filesOf(outside)).toEqual({ "secret.txt": "file secret" });
	});

	test("of a folder with too many files is refused while counting, in words", async () => {
		const few = bench.again({ maxFiles: 3 });
		const folder = bench.workspace();
		for (let n = 0; n < 4; n++) put(folder, `node_modules/${n}`, "x");
		for (let n = 0; n < 3; n++) put(folder, `${n}`, "x");
		expect((await few.take({ workspace: folder, label: "fits" })).kind).toBe("taken");
		put(folder, "3", "x");
		expect(await few.take({ workspace: folder, label: "x" })).toMatchObject({
			kind: "failed",
			code: "checkpoint.too_many_files",
			reason: "the workspace has more than 3 files",
		});
	});

	test.each([
		["the root", () => "/"],
		["a home", () => homedir()],
		["Keryx's home", () => bench.home],
		["what Keryx's home is in", () => bench.folder],
		["where snapshots are kept", () => join(bench.home, "checkpoints")],
		["nothing", () => join(bench.folder, "nowhere")],
	])("of %s is refused", async (_, folder) => {
		mkdirSync(join(bench.home, "checkpoints"), { recursive: true });
		const outcome = await bench.checkpoints.take({ workspace: folder(), label: "x" });
		expect(outcome).toMatchObject({ kind: "failed", code: "checkpoint.refused" });
	});

	test("leaves the folder, its .git and the user's configuration alone", async () => {
		const folder = bench.workspace();
		run(folder, "init", "-q");
		put(folder, "a.txt", "a");
		run(folder, "add", "a.txt");
		run(folder, "config", "core.hooksPath", join(folder, "hooks"));
		put(folder, "hooks/post-commit", `#!/bin/sh\ntouch ${folder}/ran\n`, 0o755);
		const before = treeOf(folder);
		await bench.checkpoints.take({ workspace: folder, label: "x" });
		expect(treeOf(folder)).toEqual(before);
		expect(existsSync(join(folder, "ran"))).toBe(false);
	});

	test("that cannot be taken without git says so, and is recorded", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "a");
		const path = process.env.PATH;
		process.env.PATH = folder;
		try {
			const outcome = await bench.again().take({ workspace: folder, label: "x", turn: "t9" });
			expect(outcome).toMatchObject({
				kind: "failed",
				code: "checkpoint.no_git",
				reason: "checkpoints need git, but there is no git on the PATH",
			});
		} finally {
			process.env.PATH = path;
		}
		const events = await bench.store.events({ scope: { kind: "operator" }, after: "e0", limit: 1000 });
		expect(JSON.stringify(events)).toContain("checkpoint.no_git");
		expect(readdirSync(join(bench.home, "checkpoints")).filter((name) => name.includes("draft"))).toEqual([]);
	});
});
