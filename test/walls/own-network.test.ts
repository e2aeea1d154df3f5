// A box with its own network, on a machine made for this: it reaches what is outside, by names too, and nothing on this machine.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { probeBoxNetwork, probeWalls, readMachine } from "../../src/walls/index.ts";
import { SEED } from "../support/seed.ts";

const RUNS = 3 * Number(process.env.KERYX_CRASH_RUNS ?? 6);
const isRoot = process.getuid?.() === 0;

interface Told {
	readonly uid: number;
	readonly probe: unknown;
	readonly network: { readonly out: string; readonly exit: unknown };
	readonly descriptors: readonly string[];
	readonly onTerminal: unknown;
	readonly killed: readonly string[];
	readonly during: readonly string[];
	readonly ended: unknown;
}

interface Ends {
	readonly uid: number;
	readonly ofSignal: unknown;
	readonly ofMemory: { readonly inCgroup: readonly string[] } | null;
	readonly ofLauncher: unknown;
}

async function onItsOwnMachine(file: string, who: "root" | "user", ...args: string[]): Promise<unknown> {
	const top = mkdtempSync("/var/tmp/keryx-net-");
	chmodSync(top, 0o755);
	try {
		const child = fileURLToPath(new URL(file, import.meta.url));
		const node = [process.execPath, "--disable-warning=ExperimentalWarning", child, top, who, ...args];
		const machine = ["-n", "-m", "--propagation", "private"];
		const { stdout } = await promisify(execFile)("unshare", [...machine, ...node]);
		return JSON.parse(stdout);
	} finally {
		rmSync(top, { recursive: true, force: true });
	}
}

if (isRoot)
	describe.each(["root", "user"] as const)("as %s", (who) => {
		test("a box's own network leads outside, not to this machine, and ends with its program", async () => {
			const { uid, probe, network, descriptors, onTerminal, killed, during, ended } = (await onItsOwnMachine(
				"./own-network-child.ts",
				who,
			)) as Told;
			expect(uid === 0).toBe(who === "root");
			expect(probe).toEqual({ isPossible: true });
			expect(network).toMatchObject({ out: "outside /a\noutside /b\n", exit: { kind: "exited", code: 7 } });
			// The program gets no descriptor of what was done for its network.
			expect(descriptors[0]).toBe(descriptors[1]);
			expect(onTerminal).toEqual({ kind: "exited", code: 5, signal: null });
			expect(new Set(killed)).toEqual(new Set(["killed"]));
			expect(during).toEqual(expect.arrayContaining(["pasta", "sleep", "bwrap"]));
			// It ends in its own time.
			expect(ended).toEqual({ kind: "exited", code: 9, signal: null });
		});

		test.each(["/bin/dash", "/bin/bash"])(
			`with %s, nothing of a box's own network outlives bubblewrap, the memory limit or a killed launcher, ${RUNS} times`,
			{ timeout: 60_000 + RUNS * 2000 },
			async (shell) => {
				const args = [shell, String(RUNS), String(SEED)];
				const told = (await onItsOwnMachine("./own-network-ends-child.ts", who, ...args)) as Ends;
				const { uid, ofSignal, ofMemory, ofLauncher } = told;
				expect(uid === 0).toBe(who === "root");
				expect(ofSignal).toEqual({ exit: { kind: "killed", signal: "SIGKILL" }, left: [] });
				// An ordinary user has a cgroup only where one is delegated.
				if (who === "root" && readMachine()?.cgroups.memory) expect(ofMemory).not.toBeNull();
				if (ofMemory !== null) {
					expect(ofMemory).toMatchObject({
						exit: expect.not.objectContaining({ kind: "failed" }),
						left: [],
						cgroups: [],
					});
					// The program alone, and not what makes its network.
					expect(new Set(ofMemory.inCgroup)).toEqual(new Set(["bwrap", "dash"]));
				}
				expect(ofLauncher).toEqual({ runs: RUNS, kinds: ["killed"], running: [], left: [] });
			},
		);
	});
else
	test("a box's own network: nothing can be shown, an ordinary user cannot make a machine for it", () => {
		expect(process.getuid?.()).not.toBe(0);
	});

test("where pasta is not installed, a box has no network, and one command installs it", async () => {
	const home = mkdtempSync("/var/tmp/keryx-net-");
	try {
		const probe = await probeWalls(realpathSync(home));
		const machine = readMachine();
		const without = { ...probe, machine: machine && { ...machine, pasta: null } };
		expect(await probeBoxNetwork(home, without)).toEqual({
			isPossible: false,
			reason: "pasta is not installed",
			remedy: expect.stringMatching(/(install|add|-S).* passt$/),
		});
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
});
