import {
	chmodSync,
	chownSync,
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import { createSecrets } from "../../src/secrets/index.ts";
import { type Bench, filesOf, openBench, put, takeTurn, treeOf } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
	bench = await openBench();
});
afterAll(() => bench.end());

const turn = (folder: string, work: () => void): Promise<string> => takeTurn(bench, folder, work);

async function refusal(attempt: Promise<unknown>): Promise<string> {
	try {
		await attempt;
	} catch (error) {
		if (error instanceof KeryxError) return error.code;
		throw error;
	}
	return expect.fail("it was not refused");
}

describe("a restore", () => {
	test("takes the agent's changes back, removes what it made, keeps what a person did since, and is undone by a restore", async () => {
		const folder = bench.workspace();
		put(folder, "changed.txt", "old\n");
		put(folder, "deleted.txt", "old\n");
		put(folder, "shared.txt", "old\n");
		put(folder, "persons.txt", "old\n");
		put(folder, "run.sh", "x", 0o644);
		put(folder, "node_modules/a.js", "old\n");
		const before = await turn(folder, () => {
			put(folder, "changed.txt", "agent\n");
			rmSync(join(folder, "deleted.txt"));
			put(folder, "shared.txt", "agent\n");
			put(folder, "made/by/agent.txt", "agent\n");
			chmodSync(join(folder, "run.sh"), 0o755);
			put(folder, "node_modules/a.js", "agent\n");
		});
		put(folder, "shared.txt", "agent\nperson\n");
		put(folder, "persons.txt", "person\n");
		put(folder, "new-persons.txt", "person\n");
		const torn = filesOf(folder);

		const plan = await bench.checkpoints.plan(folder, before);
		expect(plan).toMatchObject({
			restore: ["changed.txt", "deleted.txt", "run.sh"],
			remove: ["made/by/agent.txt"],
			kept: [
				{ path: "new-persons.txt", reason: "changed_since" },
				{ path: "persons.txt", reason: "changed_since" },
				{ path: "shared.txt", reason: "changed_since" },
			],
			untouched: [],
		});
		expect(filesOf(folder)).toEqual(torn);

		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({ restored: plan.restore, removed: plan.remove, kept: plan.kept });
		expect(filesOf(folder)).toEqual({
			"changed.txt": "file old\n",
			"deleted.txt": "file old\n",
			"new-persons.txt": "file person\n",
			"node_modules/a.js": "file agent\n",
			"persons.txt": "file person\n",
			"run.sh": "file x",
			"shared.txt": "file agent\nperson\n",
		});
		expect(existsSync(join(folder, "made"))).toBe(false);

		await bench.checkpoints.restore(folder, report.before.id);
		expect(filesOf(folder)).toEqual(torn);
	});

	test("goes back turn by turn: what a restore did is nobody's change", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1");
		const first = await turn(folder, () => put(folder, "a.txt", "2"));
		const second = await turn(folder, () => put(folder, "a.txt", "3"));
		expect(await bench.checkpoints.restore(folder, second)).toMatchObject({ restored: ["a.txt"], kept: [] });
		expect(await bench.checkpoints.restore(folder, first)).toMatchObject({ restored: ["a.txt"], kept: [] });
		expect(filesOf(folder)).toEqual({ "a.txt": "file 1" });
	});

	test("keeps a file that a person changed between two turns, and takes it back when forced", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1");
		const first = await turn(folder, () => put(folder, "a.txt", "2"));
		put(folder, "a.txt", "person");
		await turn(folder, () => put(folder, "a.txt", "person and agent"));
		expect(await bench.checkpoints.restore(folder, first)).toMatchObject({
			restored: [],
			kept: [{ path: "a.txt", reason: "changed_since" }],
		});
		await bench.checkpoints.restore(folder, first, { force: true });
		expect(filesOf(folder)).toEqual({ "a.txt": "file 1" });
	});

	test("counts a turn that was cut off as the agent's up to the next checkpoint", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1");
		const before = await bench.checkpoints.take({
			workspace: folder,
			label: "b",
			kind: "before",
			turn: "cut",
		});
		put(folder, "a.txt", "2");
		await bench.checkpoints.take({ workspace: folder, label: "next" });
		put(folder, "b.txt", "person");
		if (before.kind === "failed") throw new Error(before.reason);
		expect(await bench.checkpoints.restore(folder, before.id)).toMatchObject({
			restored: ["a.txt"],
			kept: [{ path: "b.txt" }],
		});
	});

	test("of one file or one folder leaves the others as they are", async () => {
		const folder = bench.workspace();
		put(folder, "a/x", "1");
		put(folder, "a/y", "1");
		put(folder, "ab", "1");
		const before = await turn(folder, () => {
			for (const path of ["a/x", "a/y", "ab"]) put(folder, path, "2");
		});
		await bench.checkpoints.restore(folder, before.slice(0, 7), { file: "a/x" });
		expect(filesOf(folder)).toEqual({ "a/x": "file 1", "a/y": "file 2", ab: "file 2" });
		await bench.checkpoints.restore(folder, before, { file: "a" });
		expect(filesOf(folder)).toEqual({ "a/x": "file 1", "a/y": "file 1", ab: "file 2" });
	});

	test("does not touch what is, or was, not saved", async () => {
		const folder = bench.workspace();
		const big = Buffer.alloc(1024 * 1024 + 10, "x");
		put(folder, "shrinks.bin", big);
		put(folder, "now-ignored.txt", "old");
		put(folder, "was-ignored.txt", "person's");
		put(folder, ".gitignore", "was-ignored.txt\n");
		const before = await turn(folder, () => {
			truncateSync(join(folder, "shrinks.bin"), 5);
			put(folder, ".gitignore", "now-ignored.txt\n");
			put(folder, "now-ignored.txt", "agent");
		});
		const report = await bench.checkpoints.restore(folder, before, { force: true });
		expect(report).toMatchObject({
			restored: [".gitignore"],
			removed: [],
			untouched: ["now-ignored.txt", "shrinks.bin", "was-ignored.txt"],
		});
		expect(filesOf(folder)).toMatchObject({
			"shrinks.bin": "file xxxxx",
			"now-ignored.txt": "file agent",
			"was-ignored.txt": "file person's",
		});
	});

	test("names what was not saved and is gone", async () => {
		const folder = bench.workspace();
		const big = Buffer.alloc(1024 * 1024 + 10, "x");
		put(folder, ".gitignore", "*.tmp\n");
		for (const path of ["a.tmp", "b.tmp", ".env", "node_modules/m/x", "build/o"]) put(folder, path, "x");
		put(folder, "large", big);
		const before = await turn(folder, () => {
			for (const path of ["a.tmp", ".env", "node_modules", "large"])
				rmSync(join(folder, path), { recursive: true });
		});
		const gone = [".env", "a.tmp", "large", "node_modules/"];
		const { untouched } = await bench.checkpoints.plan(folder, before);
		expect(untouched.toSorted()).toEqual(gone);
		const report = await bench.checkpoints.restore(folder, before);
		expect(report.untouched.toSorted()).toEqual(gone);
		expect(await bench.checkpoints.plan(folder, before, { file: "large" })).toMatchObject({
			untouched: ["large"],
		});
	});

	test("brings a file back that grew too large to be saved, unless somebody else changed it, and can be undone", async () => {
		const folder = bench.workspace();
		const big = "x".repeat(1024 * 1024 + 10);
		for (const name of ["grows", "theirs", "later"]) put(folder, name, "small");
		const before = await turn(folder, () => {
			put(folder, "grows", big);
			put(folder, "later", big);
		});
		put(folder, "theirs", big);
		put(folder, "later", `${big}person`);
		const torn = filesOf(folder);
		expect(await bench.checkpoints.plan(folder, before)).toMatchObject({ restore: ["grows"], remove: [] });
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({
			restored: ["grows"],
			kept: [
				{ path: "later", reason: "changed_since" },
				{ path: "theirs", reason: "changed_since" },
			],
			untouched: [],
		});
		expect(filesOf(folder)).toEqual({ ...torn, grows: "file small" });
		const undone = await bench.checkpoints.restore(folder, report.before.id);
		expect(undone).toMatchObject({ restored: ["grows"], kept: [] });
		expect(filesOf(folder)).toEqual(torn);
		await bench.checkpoints.restore(folder, undone.before.id);
		expect(filesOf(folder)).toEqual({ ...torn, grows: "file small" });
		const [change] = await bench.checkpoints.diff(folder, before, report.before.id);
		expect(change).toMatchObject({ path: "grows", status: "changed" });
	});

	test("does not replace what is too large to be saved before", async () => {
		const small = bench.again({ maxTotalMb: 1, maxFileMb: 1 });
		const folder = bench.workspace();
		put(folder, "grows", "small");
		const before = await takeTurn({ checkpoints: small }, folder, () =>
			put(folder, "grows", Buffer.alloc(1024 * 1024 + 10, "x")),
		);
		expect(await small.restore(folder, before)).toMatchObject({ restored: [], untouched: ["grows"] });
		expect(filesOf(folder).grows?.length).toBe(1024 * 1024 + 15);
	});

	test("gives every file exactly the permissions that it had", async () => {
		const folder = bench.workspace();
		const modes = { secret: 0o600, shared: 0o664, run: 0o711, all: 0o4755, plain: 0o644, none: 0o200 };
		const seen = () =>
			Object.fromEntries(
				readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o7777]),
			);
		for (const [name, mode] of Object.entries(modes)) put(folder, name, name, mode);
		const before = await turn(folder, () => {
			rmSync(join(folder, "secret"));
			put(folder, "shared", "agent", 0o600);
			for (const name of ["run", "all", "plain"]) chmodSync(join(folder, name), 0o666);
		});
		put(folder, "theirs", "x", 0o600);
		const torn = seen();
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({
			restored: ["all", "plain", "run", "secret", "shared"],
			kept: [{ path: "theirs" }],
		});
		expect(seen()).toEqual({ ...modes, theirs: 0o600 });
		await bench.checkpoints.restore(folder, report.before.id);
		expect(seen()).toEqual(torn);
	});

	/** Only root has files of others to give away. */
	const OTHER = process.geteuid?.() === 0 ? 1234 : process.geteuid?.();

	test("leaves a replaced file to its owner, and gives nobody Keryx's rights", async () => {
		const folder = bench.workspace();
		const isOther = OTHER !== process.geteuid?.();
		const theirs = (name: string) => chownSync(join(folder, name), OTHER ?? -1, OTHER === 1234 ? OTHER : -1);
		put(folder, "theirs", "old", 0o600);
		put(folder, "program", "theirs", 0o4755);
		put(folder, "own", "ours", 0o4755);
		theirs("theirs");
		theirs("program");
		chmodSync(join(folder, "program"), 0o4755);
		const before = await turn(folder, () => {
			put(folder, "theirs", "agent");
			rmSync(join(folder, "program"));
			rmSync(join(folder, "own"));
		});
		await bench.checkpoints.restore(folder, before);
		expect(filesOf(folder)).toEqual({ theirs: "file old", program: "program theirs", own: "program ours" });
		const [file, program, own] = ["theirs", "program", "own"].map((name) => statSync(join(folder, name)));
		expect([file?.uid, (file?.mode ?? 0) & 0o7777]).toEqual([OTHER, 0o600]);
		expect((program?.mode ?? 0) & 0o7777).toBe(isOther ? 0o755 : 0o4755);
		expect((own?.mode ?? 0) & 0o7777).toBe(0o4755);
	});

	test("changes no other name of the same file: neither its content nor its permissions", async () => {
		const folder = bench.workspace();
		const outside = bench.workspace();
		put(outside, "mode", "same", 0o644);
		put(outside, "text", "old", 0o644);
		for (const name of ["mode", "text"]) linkSync(join(outside, name), join(folder, name));
		const before = await turn(folder, () => {
			chmodSync(join(folder, "mode"), 0o600);
			put(folder, "text", "agent");
		});
		expect(await bench.checkpoints.restore(folder, before)).toMatchObject({ restored: ["mode", "text"] });
		expect(statSync(join(folder, "mode")).mode & 0o777).toBe(0o644);
		expect(statSync(join(outside, "mode")).mode & 0o777).toBe(0o600);
		expect(filesOf(folder)).toEqual({ mode: "file same", text: "file old" });
		expect(filesOf(outside)).toEqual({ mode: "file same", text: "file agent" });
	});

	test("takes back every name of a file that has several, and says nothing else of it", async () => {
		const folder = bench.workspace();
		for (const name of ["a", "d/b"]) {
			put(folder, name, "old\n");
			linkSync(join(folder, name), join(folder, `${name}-too`));
		}
		const before = await turn(folder, () => {
			put(folder, "a", "agent\n");
			put(folder, "d/b", "agent\n");
			linkSync(join(folder, "a"), join(folder, "a-made"));
		});
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({
			restored: ["a", "a-too", "d/b", "d/b-too"],
			removed: ["a-made"],
			kept: [],
		});
		expect(Object.values(filesOf(folder))).toEqual(Array(4).fill("file old\n"));
	});

	test("does not remove what was ignored when the turn began, though it came after the checkpoint it began with", async () => {
		const folder = bench.workspace();
		put(folder, ".gitignore", "*.tmp\n");
		await bench.checkpoints.take({ workspace: folder, label: "first" });
		put(folder, "persons.tmp", "person's");
		const before = await turn(folder, () => put(folder, ".gitignore", "\n"));
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({ restored: [".gitignore"], removed: [], untouched: ["persons.tmp"] });
		expect(filesOf(folder)).toMatchObject({ "persons.tmp": "file person's" });
	});

	test("is undone exactly, though what it put back is covered by rules that came meanwhile", async () => {
		const folder = bench.workspace();
		put(folder, "t.tmp", "old");
		put(folder, "out/deep/u", "old");
		const before = await turn(folder, () => {
			rmSync(join(folder, "t.tmp"));
			rmSync(join(folder, "out"), { recursive: true });
		});
		put(folder, ".gitignore", "*.tmp\nout/\n");
		const torn = filesOf(folder);
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({ restored: ["out/deep/u", "t.tmp"], kept: [{ path: ".gitignore" }] });
		expect(filesOf(folder)).toMatchObject({ "out/deep/u": "file old", "t.tmp": "file old" });

		// Rules that change in between, and a look that knows nothing of the earlier ones, forget nothing.
		put(folder, ".gitignore", "*.tmp\nout/\nmore\n");
		put(folder, "out/persons", "person's");
		await bench.checkpoints.take({ workspace: folder, label: "meanwhile" });
		const { workspace } = report.before;
		rmSync(join(bench.home, "checkpoints", workspace, "scan.cache"));
		const undone = await bench.checkpoints.restore(folder, report.before.id);
		expect(undone).toMatchObject({ removed: ["out/deep/u", "t.tmp"], untouched: [] });
		expect(filesOf(folder)).toEqual({
			...torn,
			".gitignore": "file *.tmp\nout/\nmore\n",
			"out/persons": "file person's",
		});
		await bench.checkpoints.restore(folder, undone.before.id);
		expect(filesOf(folder)).toMatchObject({ "out/deep/u": "file old", "t.tmp": "file old" });
	});

	test("puts a file where a folder is, and a folder where a file is", async () => {
		const folder = bench.workspace();
		put(folder, "a", "file");
		put(folder, "b/c/d", "deep");
		mkdirSync(join(folder, "empty"));
		const before = await turn(folder, () => {
			rmSync(join(folder, "a"));
			put(folder, "a/x/y", "agent");
			rmSync(join(folder, "b"), { recursive: true });
			put(folder, "b", "agent");
			put(folder, "empty/made", "agent");
		});
		const torn = treeOf(folder);
		const report = await bench.checkpoints.restore(folder, before);
		expect(report.kept).toEqual([]);
		expect([...treeOf(folder)].sort()).toEqual([
			["a", "file file"],
			["b/", "folder"],
			["b/c/", "folder"],
			["b/c/d", "file deep"],
			["empty/", "folder"],
		]);
		await bench.checkpoints.restore(folder, report.before.id);
		expect(treeOf(folder)).toEqual(torn);
	});

	test("goes through no link: not in place of a folder, nor of a file", async () => {
		const folder = bench.workspace();
		const outside = bench.workspace();
		put(outside, "x", "outside");
		put(outside, "target", "outside");
		put(folder, "sub/x", "1");
		put(folder, "file", "1");
		const before = await turn(folder, () => {
			put(folder, "sub/x", "2");
			put(folder, "file", "2");
		});
		renameSync(join(folder, "sub"), join(folder, "moved"));
		symlinkSync(outside, join(folder, "sub"));
		rmSync(join(folder, "file"));
		symlinkSync(join(outside, "target"), join(folder, "file"));
		const report = await bench.checkpoints.restore(folder, before);
		expect(report.kept.map(({ path }) => path).sort()).toEqual(["file", "moved/x", "sub", "sub/x"]);
		expect(filesOf(outside)).toEqual({ target: "file outside", x: "file outside" });
		await bench.checkpoints.restore(folder, before, { force: true });
		expect(filesOf(folder)).toEqual({ file: "file 1", "sub/x": "file 1" });
		expect(filesOf(outside)).toEqual({ target: "file outside", x: "file outside" });
	});

	test("does not write through a link that somebody else has put in the place of a folder", async () => {
		const folder = bench.workspace();
		const outside = bench.workspace();
		put(outside, "x", "outside");
		put(folder, "sub/x", "1");
		put(folder, "sub/y", "1");
		put(folder, "made/x", "1");
		const before = await turn(folder, () => {
			rmSync(join(folder, "sub"), { recursive: true });
			rmSync(join(folder, "made"), { recursive: true });
		});
		symlinkSync(outside, join(folder, "sub"));
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({
			restored: ["made/x"],
			kept: [
				{ path: "sub", reason: "changed_since" },
				{ path: "sub/x", reason: "in_the_way" },
				{ path: "sub/y", reason: "in_the_way" },
			],
		});
		expect(filesOf(outside)).toEqual({ x: "file outside" });
	});

	test.each([
		"",
		"abc",
		"--output=x",
		"../../x",
		"HEAD",
		"abcdef0 ",
		"ABCDEF0",
		"abcdefg",
		"a".repeat(41),
		"abcdef0\n",
	])("of %j is refused: it is no id", async (id) => {
		const folder = bench.workspace();
		expect(await refusal(bench.checkpoints.restore(folder, id))).toBe("argument.invalid");
		expect(await refusal(bench.checkpoints.plan(folder, id))).toBe("argument.invalid");
		expect(await refusal(bench.checkpoints.diff(folder, id, "now"))).toBe("argument.invalid");
		expect(await refusal(bench.checkpoints.diff(folder, "abcdef0", id))).toBe("argument.invalid");
	});

	test.each([
		"",
		"/etc/passwd",
		"../x",
		"a/../../x",
		"a/./b",
		"a//b",
		"a/",
		".git/config",
		"a/.GIT/x",
		"a\0b",
		'"\\056\\056/x"',
	])("of the file %j is refused: it is not inside", async (file) => {
		const folder = bench.workspace();
		expect(await refusal(bench.checkpoints.restore(folder, "abcdef0", { file }))).toBe("argument.invalid");
		expect(await refusal(bench.checkpoints.diff(folder, "abcdef0", "now", { file }))).toBe(
			"argument.invalid",
		);
	});

	test("of a checkpoint of another workspace is refused", async () => {
		const [one, other] = [bench.workspace(), bench.workspace()];
		put(one, "a", "1");
		const id = await turn(one, () => put(one, "a", "2"));
		expect(await refusal(bench.checkpoints.restore(other, id))).toBe("store.not_found");
	});
});

describe("a diff", () => {
	test("names each file with its lines and its text, to another checkpoint or to now", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1\n2\n");
		put(folder, "b.bin", Buffer.from([0, 1, 2]));
		put(folder, "link", "file");
		put(folder, "gone.txt", "x\n");
		const before = await turn(folder, () => {
			put(folder, "a.txt", "1\ntwo\n");
			put(folder, "b.bin", Buffer.from([0, 1, 3]));
			rmSync(join(folder, "link"));
			symlinkSync("a.txt", join(folder, "link"));
			rmSync(join(folder, "gone.txt"));
			put(folder, "new\nline.txt", "diff --git a/x b/x\n");
		});
		const [after] = await bench.checkpoints.list(folder);
		const diffs = await bench.checkpoints.diff(folder, before, after?.id ?? "");
		expect(diffs).toMatchObject([
			{ path: "a.txt", status: "changed", insertions: 1, deletions: 1, binary: false, cut: false },
			{ path: "b.bin", status: "changed", binary: true },
			{ path: "gone.txt", status: "deleted", deletions: 1 },
			{ path: "link", status: "changed" },
			{ path: "new\nline.txt", status: "added", insertions: 1 },
		]);
		expect(diffs[0]?.text).toContain("-2\n+two\n");
		expect(diffs[3]?.text).toContain("new file mode 120000");
		expect(diffs[4]?.text).toContain("+diff --git a/x b/x\n");
		put(folder, "a.txt", "1\n");
		const now = await bench.checkpoints.diff(folder, before, "now", { file: "a.txt" });
		expect(now).toMatchObject([{ path: "a.txt", insertions: 0, deletions: 1 }]);
		expect(await bench.checkpoints.list(folder)).toHaveLength(2);
	});

	test.each(["\r", "\u2028", "\u2029", "\u0085"])(
		"is not misled by a line that goes on with a heading after %j",
		async (end) => {
			const folder = bench.workspace();
			put(folder, "a.txt", "a\n");
			put(folder, "b.txt", "b\n");
			const before = await turn(folder, () => {
				put(folder, "a.txt", `x${end}diff --git a/b.txt b/b.txt\n--- a/b.txt${end}+++ b/b.txt\n`);
				put(folder, "b.txt", "harm\n");
			});
			const [first, second, ...others] = await bench.checkpoints.diff(folder, before, "now");
			expect(others).toEqual([]);
			expect(first?.text).toContain(`+x${end}diff --git a/b.txt b/b.txt\n`);
			expect(second?.path).toBe("b.txt");
			expect(second?.text).toMatch(/^diff --git a\/b\.txt b\/b\.txt\nindex .*\+harm\n$/s);
		},
	);

	test("says of every file whether its text is whole, also of the one where there was no more room", async () => {
		const folder = bench.workspace();
		const text = `${"ü".repeat(49)}\n`.repeat(600);
		const before = await turn(folder, () => {
			for (let n = 100; n < 260; n++) put(folder, `file-${n}`, text);
		});
		const diffs = await bench.checkpoints.diff(folder, before, "now");
		const whole = diffs[0]?.text.length;
		expect(diffs.filter(({ cut }) => cut).length).toBeGreaterThan(0);
		for (const diff of diffs) expect(diff.cut).toBe(diff.text.length !== whole);
	});

	test("cuts what is too long and says so", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "");
		const before = await turn(folder, () => put(folder, "a.txt", "a line of text\n".repeat(10_000)));
		const [diff] = await bench.checkpoints.diff(folder, before, "now");
		expect(diff).toMatchObject({ insertions: 10_000, cut: true });
		expect(diff?.text.length).toBe(64 * 1024);
	});

	test("cuts beside a secret, not inside it", async () => {
		const value = "k3y-".repeat(10);
		const careful = await openBench({}, createSecrets(new Map([["KEY", value]])));
		const folder = careful.workspace();
		put(folder, "a.txt", "");
		const fill = (length: number): void =>
			put(folder, "a.txt", `${"x".repeat(length)}${value}${"y".repeat(100_000)}\n`);
		const before = await takeTurn(careful, folder, () => fill(1));
		const [diff] = await careful.checkpoints.diff(folder, before, "now");
		fill(64 * 1024 - (diff?.text.indexOf("+x") ?? 0) - 11);
		const [cut] = await careful.checkpoints.diff(folder, before, "now");
		expect(cut?.cut).toBe(true);
		expect(cut?.text.slice(-20)).toBe("x".repeat(20));
		await careful.end();
	});
});
