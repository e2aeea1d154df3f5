// Detects whether this program runs inside something that Keryx started: by its own environment, or by its parents. A program can clear
// its environment, but not its parents'.
import { readFileSync } from "node:fs";
import { runningProcess } from "./identity.ts";
import { MARK } from "./members.ts";

/** Deeper than any shell a person works in. */
const MOST = 100;
const HOST = /[/\\]processes[/\\]host[/\\]main\.[jt]s$/;

export interface AncestryFacts {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** The Keryx that owns the store; null if none. */
	readonly keryx: number | null;
}

/** In a few words; null if there is no sign. A program that left its parents and cleared its environment is not recognised. */
export function startedByKeryx({ env, keryx }: AncestryFacts): string | null {
	if (env[MARK] !== undefined) return `process ${env[MARK]}`;
	for (const pid of parents()) {
		if (pid === keryx) return `a child of process ${pid}`;
		const mark = markOf(pid);
		if (mark !== null) return `process ${mark}`;
		if (isHost(pid)) return `a child of the process host ${pid}`;
	}
	return null;
}

/** The nearest first. */
function* parents(): Generator<number> {
	let pid = process.ppid;
	for (let depth = 0; pid > 1 && depth < MOST; depth++) {
		yield pid;
		pid = runningProcess(pid)?.parent ?? 0;
	}
	// In a container Keryx may be the first process.
	if (pid === 1) yield pid;
}

function markOf(pid: number): string | null {
	const [, mark = null] = new RegExp(`(?:^|\0)${MARK}=([^\0]*)\0`).exec(read(pid, "environ")) ?? [];
	return mark;
}

function isHost(pid: number): boolean {
	return read(pid, "cmdline")
		.split("\0")
		.some((word) => HOST.test(word));
}

/** Empty if it cannot be read, and without /proc. */
function read(pid: number, what: "environ" | "cmdline"): string {
	try {
		return readFileSync(`/proc/${pid}/${what}`, "latin1");
	} catch {
		return "";
	}
}
