// Programs that start processes without end, or take memory without end, in a box with small limits: they end, and the machine does not
// notice. Where no cgroup can be made, that is said.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lookForCgroups, pruneCgroups } from "../../src/walls/index.ts";
import { read, WallScene } from "./scene.ts";

const cgroups = lookForCgroups();
const { pids, memory, problem } = cgroups;
const MB = 1024 * 1024;
const MOST = 61;
let scene: WallScene;

beforeAll(() => {
	scene = new WallScene();
});
afterAll(() => scene.close());

const BOMB = "bomb() { bomb | bomb & }; bomb; sleep 600";
/** Starts one after another until it cannot. */
const FORKS =
	'my $n = 0; while (1) { my $p = fork; last unless defined $p; if (!$p) { sleep 600 } $n++ } print "$n\\n"; exit 7';

if (pids !== null) {
	test("a program gets as many processes as its limit says, and is none the worse for it", async () => {
		const wall = scene.wall("box", { limits: { processes: MOST } });
		const { out, exit } = await scene.run(wall, `perl -e '${FORKS}'`);
		expect(exit).toEqual({ kind: "exited", code: 7, signal: null });
		// bubblewrap's two processes and perl itself are among them.
		expect(Number(out)).toBeGreaterThan(MOST - 8);
		expect(Number(out)).toBeLessThan(MOST);
		expect(scene.cgroups()).toEqual([]);
	});

	test("a fork bomb stays within its limit, ends when it is killed, and leaves no cgroup", async () => {
		const bomb = await scene.start(scene.wall("box", { limits: { processes: MOST } }), ["bash", "-c", BOMB]);
		const [folder = ""] = scene.cgroups();
		// Until it has been refused a process.
		while (!/max [1-9]/.test(read(join(folder, "pids.events")))) await delay(1);
		expect(Number(read(join(folder, "pids.current")))).toBeLessThanOrEqual(MOST);
		// Others are not bounded by it.
		expect((await scene.run(scene.wall("view"), "true")).exit).toMatchObject({ code: 0 });
		bomb.kill();
		expect(await bomb.exit).toEqual({ kind: "killed", signal: "SIGKILL" });
		expect(scene.cgroups()).toEqual([]);
	});

	test.each(["view", "mask", "box"] as const)("behind %s a program cannot leave its cgroup", async (kind) => {
		const wall = scene.wall(kind, { limits: { processes: MOST } });
		const { out } = await scene.run(
			wall,
			`for f in ${pids}/cgroup.procs /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/pids/cgroup.procs; do echo 0 >"$f" && echo LEFT; done; perl -e '${FORKS}'`,
		);
		expect(out).not.toContain("LEFT");
		expect(Number(out)).toBeLessThan(MOST);
	});

	test("a cgroup whose starter died is removed at the next start, one in use is not", async () => {
		const program = await scene.start(scene.wall("box", { limits: { processes: MOST } }), ["sleep", "600"]);
		const [used = ""] = scene.cgroups();
		const left = `${used.slice(0, -16)}${"0".repeat(16)}`;
		const others = join(pids, `keryx-000000000000-${randomBytes(8).toString("hex")}`);
		for (const folder of [left, others]) mkdirSync(folder);
		while (read(join(used, "cgroup.procs")) === "") await delay(1);
		pruneCgroups(cgroups, scene.home);
		expect([used, left, others].map((folder) => existsSync(folder))).toEqual([true, false, true]);
		rmdirSync(others);
		program.kill();
		await program.exit;
		expect(existsSync(used)).toBe(false);
	});
} else
	test("processes: nothing can be shown, no cgroup can be made here", () => {
		expect(problem).not.toBeNull();
	});

if (memory !== null)
	test("processes that take too much memory together are ended, each of which would not be too big", async () => {
		const wall = scene.wall("box", { limits: { totalMemoryBytes: 96 * MB } });
		const big = `perl -e '$x = "x" x 20_000_000; sleep 600'`;
		const { out, exit } = await scene.run(
			wall,
			`for i in 1 2 3 4 5 6 7 8 9 10; do ${big} & done; wait -n; echo "ended $?"; exit 7`,
		);
		expect(out).toBe("ended 137\n");
		expect(exit).toEqual({ kind: "exited", code: 7, signal: null });
		expect(scene.cgroups()).toEqual([]);
	});
else
	test("memory: nothing can be shown, no cgroup can be made here", () => {
		expect(problem).not.toBeNull();
	});
