// Ways out of the workspace with the tools for files. Nothing is asked and nothing is checked here but the wall: approvals are off, so what
// fails, fails at the wall.
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Workbench } from "./workbench.ts";

const KEY = "the operator's secret";
const OTHERS = "notes of somebody else";

let bench: Workbench;
let beside: string;
beforeAll(async () => {
	bench = new Workbench();
	beside = join(bench.root, "beside");
	mkdirSync(join(beside, "folder"), { recursive: true });
	writeFileSync(join(beside, "notes"), OTHERS);
	writeFileSync(join(bench.home, "operator.secret"), KEY);
	const { work, home } = bench;
	mkdirSync(join(work, "sub"));
	const links: Record<string, string> = {
		home,
		key: join(home, "operator.secret"),
		"key-relative": relative(work, join(home, "operator.secret")),
		notes: join(beside, "notes"),
		beside,
		"beside-relative": "../beside",
		parent: "..",
		root: "/",
		chain1: "chain2",
		chain2: "sub/chain3",
		"sub/chain3": join(beside, "notes"),
		proc: "/proc/self/root",
		cwd: "/proc/self/cwd",
		new: join(beside, "planted"),
		"new-folder": join(beside, "made"),
		"new-in-home": join(home, "planted"),
		loop: "loop",
		etc: "/etc",
		shadow: "/etc/shadow",
	};
	for (const [name, target] of Object.entries(links)) symlinkSync(target, join(work, name));
	await bench.start({ config: { approvals: { mode: "off" } } });
}, 60_000);
afterAll(() => bench.end());

/** Owner: behind view, everything but Keryx's home can be read. */
const HOME_READS = [
	"HOME/operator.secret",
	"../home/operator.secret",
	"sub/../../home/operator.secret",
	"./././../home/./operator.secret",
	"WORK/../home/operator.secret",
	"home/operator.secret",
	"key",
	"key-relative",
	"parent/home/operator.secret",
	"root/HOME/operator.secret",
	"/proc/self/root/HOME/operator.secret",
	"/proc/1/root/HOME/operator.secret",
	"/proc/self/cwd/../home/operator.secret",
	"proc/HOME/operator.secret",
	"cwd/../home/operator.secret",
	"/dev/fd/../../../../HOME/operator.secret",
	"//HOME//operator.secret",
	"home/../home/operator.secret",
];
/** Member: in a box, nothing beside the workspace is there. */
const BESIDE_READS = [
	"BESIDE/notes",
	"../beside/notes",
	"notes",
	"beside/notes",
	"beside-relative/notes",
	"parent/beside/notes",
	"root/BESIDE/notes",
	"chain1",
	"/proc/self/root/BESIDE/notes",
	"/proc/1/root/BESIDE/notes",
	"proc/BESIDE/notes",
	"cwd/../beside/notes",
	"shadow",
	"loop",
];
/** Owner: behind view, nothing beside the workspace can be written. */
const WRITES = [
	"BESIDE/planted",
	"../beside/planted",
	"beside/planted",
	"beside-relative/planted",
	"beside-relative/deep/er/planted",
	"parent/beside/planted",
	"notes",
	"chain1",
	"new",
	"new-folder/planted",
	"new-in-home",
	"home/planted",
	"HOME/planted",
	"../home/operator.secret",
	"root/BESIDE/planted",
	"proc/BESIDE/planted",
	"cwd/../beside/planted",
	"/proc/self/root/BESIDE/planted",
	"/etc/keryx-planted",
	"etc/keryx-planted",
	"/usr/bin/keryx-planted",
	"../planted",
	"/proc/sys/kernel/core_pattern",
	"/boot/keryx-planted",
];

const real = (path: string) =>
	path
		.replace("HOME", bench.home.slice(path.startsWith("HOME") ? 0 : 1))
		.replace("WORK", bench.work)
		.replace("BESIDE", beside.slice(path.startsWith("BESIDE") ? 0 : 1));
const KERNEL =
	/No such file|Permission denied|Read-only file system|the wall hides|levels of symbolic links|not permitted|not a regular file|Directory nonexistent|cannot (create|open)|Not a directory|File exists/i;
const outside = () =>
	execFileSync("find", [beside, bench.home, "-newer", join(bench.work, "sub")], { encoding: "utf8" });

describe("what the wall stops", () => {
	test("there are more than thirty ways", () => {
		expect(HOME_READS.length + BESIDE_READS.length + WRITES.length).toBe(56);
	});

	test.each(HOME_READS)("reading Keryx's home as the owner: %s", async (path) => {
		expect(readFileSync(join(bench.home, "operator.secret"), "utf8")).toBe(KEY);
		const { content, isError } = await bench.call("read_file", { path: real(path) });
		expect([isError, content]).toEqual([true, expect.stringMatching(KERNEL)]);
		expect(content).not.toContain(KEY);
	});

	test.each(BESIDE_READS)("reading beside the workspace as a member: %s", async (path) => {
		const { content, isError } = await bench.call("read_file", { path: real(path) }, "bob");
		expect([isError, content]).toEqual([true, expect.stringMatching(KERNEL)]);
		expect(content).not.toContain(OTHERS);
	});

	test.each(WRITES)("writing beside the workspace as the owner: %s", async (path) => {
		const { content, isError } = await bench.call("write_file", { path: real(path), content: "planted" });
		expect([isError, content]).toEqual([true, expect.stringMatching(KERNEL)]);
		expect(outside()).not.toContain("planted");
		expect(readFileSync(join(beside, "notes"), "utf8")).toBe(OTHERS);
		expect(existsSync("/etc/keryx-planted") || existsSync(join(bench.root, "planted"))).toBe(false);
	});

	test("an edit through a link changes nothing outside", async () => {
		const edits = [{ old: "notes", new: "planted" }];
		for (const path of ["notes", "chain1", "beside/notes"])
			expect((await bench.call("edit_file", { path, edits })).content).toContain("Read-only file system");
		expect(readFileSync(join(beside, "notes"), "utf8")).toBe(OTHERS);
	});

	test("listing and searching follow no links out, and find nothing that is hidden", async () => {
		for (const as of ["ada", "bob"]) {
			const { content } = await bench.call("find_in_files", { pattern: `${KEY}|${OTHERS}` }, as);
			expect(content).toBe("Nothing was found in ..");
		}
		for (const path of ["home", "../home", bench.home, "parent/home"]) {
			expect((await bench.call("find_in_files", { pattern: "secret", path })).content).not.toContain(KEY);
			expect((await bench.call("list_files", { path, depth: 5 })).content).not.toContain("operator.secret");
		}
		for (const path of ["beside", "../beside", beside])
			expect((await bench.call("list_files", { path }, "bob")).isError).toBe(true);
	});

	test("the control: without a wall the same path leads out", async () => {
		// What stops the others is the wall alone: the owner may read beside the workspace, and does.
		expect((await bench.call("read_file", { path: "chain1" })).content).toBe(`     1\t${OTHERS}`);
		linkSync(join(beside, "notes"), join(bench.work, "hard"));
		expect((await bench.call("read_file", { path: "hard" }, "bob")).content).toContain(OTHERS);
	});
});
