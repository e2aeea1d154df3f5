// Starts the throw-away machine and runs lines on it.
import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Job, Outcome } from "./types.ts";

const MACHINE = fileURLToPath(new URL("machine.sh", import.meta.url));
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));
const UNSHARE = "/usr/bin/unshare";
const NAMESPACES = ["-m", "-p", "-f", "-n", "-i", "-u", "--propagation", "private", "--kill-child"];

const MOST_PROCESSES = 600;
const CGROUPS = "/sys/fs/cgroup";

/** Where a group of processes can be limited, as root's only limit; null where this machine has none. */
export function processGroups(): string | null {
	const old = join(CGROUPS, "pids");
	if (existsSync(join(old, "cgroup.procs"))) return old;
	const control = join(CGROUPS, "cgroup.subtree_control");
	return existsSync(control) && /\bpids\b/.test(readFileSync(control, "utf8")) ? CGROUPS : null;
}

/**
 * Needs root: an ordinary user cannot lay a file system over this one. The lines run as an ordinary user, or as root in a group
 * (`processGroups`): nothing else keeps root from starting more processes than the machine bears.
 */
export async function runLines(
	jobs: readonly Job[],
	rootIn: string | null = null,
	onOutcome: (job: Job, outcome: Outcome) => void = () => {},
): Promise<Outcome[]> {
	if (rootIn !== null && jobs.some(({ wall }) => wall === "none"))
		throw new Error("without a wall, root's lines would reach the real machine");
	const top = mkdtempSync("/var/tmp/keryx-lines-");
	const group = rootIn === null ? null : join(rootIn, `keryx-lines-${process.pid}`);
	if (group !== null) {
		mkdirSync(group);
		writeFileSync(join(group, "pids.max"), String(MOST_PROCESSES));
	}
	try {
		// Seen by whoever can see Keryx's own list of arguments.
		const token = randomBytes(16).toString("hex");
		const command = [process.execPath, "--disable-warning=ExperimentalWarning", CHILD, token];
		// The limit of processes counts all of a user's: nobody else may be this one.
		const uid = group === null ? randomInt(1_000_000, 2_000_000_000) : 0;
		const child = spawn(UNSHARE, [...NAMESPACES, "sh", MACHINE, top, String(uid), group ?? "-", ...command], {
			stdio: ["pipe", "pipe", "inherit"],
			env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
		});
		child.stdin.end(JSON.stringify(jobs));
		const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
		const outcomes: Outcome[] = [];
		for await (const line of createInterface(child.stdout)) {
			const { index, ...outcome } = JSON.parse(line) as Outcome & { readonly index: number };
			outcomes[index] = outcome;
			onOutcome(jobs[index] as Job, outcome);
		}
		const code = await exit;
		if (code !== 0) throw new Error(`the throw-away machine ended with ${code}`);
		return outcomes;
	} finally {
		rmdirSync(top);
		if (group !== null) await removed(group);
	}
}

/** Busy until the kernel has let go of the last process. */
async function removed(group: string): Promise<void> {
	for (;;) {
		try {
			rmdirSync(group);
			return;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
			await delay(20);
		}
	}
}
