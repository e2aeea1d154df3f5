// Starts the throw-away machine and runs lines on it.
import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { mkdtempSync, rmdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Job, Outcome } from "./types.ts";

const MACHINE = fileURLToPath(new URL("machine.sh", import.meta.url));
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));
const UNSHARE = "/usr/bin/unshare";
const NAMESPACES = ["-m", "-p", "-f", "-n", "-i", "-u", "--propagation", "private", "--kill-child"];

/** Needs root: an ordinary user cannot lay a file system over this one. */
export async function runLines(
	jobs: readonly Job[],
	onOutcome: (job: Job, outcome: Outcome) => void = () => {},
): Promise<Outcome[]> {
	const top = mkdtempSync("/var/tmp/keryx-lines-");
	try {
		// Seen by whoever can see Keryx's own list of arguments.
		const token = randomBytes(16).toString("hex");
		const command = [process.execPath, "--disable-warning=ExperimentalWarning", CHILD, token];
		// The limit of processes counts all of a user's: nobody else may be this one.
		const uid = randomInt(1_000_000, 2_000_000_000);
		const child = spawn(UNSHARE, [...NAMESPACES, "sh", MACHINE, top, String(uid), ...command], {
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
	}
}
