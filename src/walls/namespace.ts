// Kills a namespace: its first process is killed, and with it daemons, double forks and everything that cleared its environment. A pid is
// signalled only while it is in the recorded namespace: numbers are reused.
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { uptime } from "node:os";
import { setImmediate as afterPoll, setTimeout as delay } from "node:timers/promises";
import { type Namespace, readStatus } from "./status.ts";

/** Killed processes are gone after this time, unless the kernel holds them. */
const GONE_MS = 5000;
/** Killed processes are mostly gone within this time. */
const SOON_MS = 1;
/** Clocks are compared with this precision. */
const CLOCK_MS = 2000;
/** The kernel's unit. */
const TICKS_PER_SECOND = 100;

/** Null if there is no such process, or it may not be read. */
export function pidNamespaceOf(pid: number | "self"): number | null {
	try {
		return Number(/^pid:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[1] ?? Number.NaN) || null;
	} catch {
		return null;
	}
}

export function isNamespaceAlive({ pid, inode }: Namespace): boolean {
	return pidNamespaceOf(pid) === inode && !isZombie(pid);
}

/**
 * The living namespace named by a status file of this boot. Both its numbers may have been reused; but a new holder started after the
 * file's last line.
 */
export function findNamespace(statusFile: string): Namespace | null {
	const { namespace } = readStatus(statusFile);
	if (namespace === null || !isNamespaceAlive(namespace)) return null;
	const written = statSync(statusFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
	const began = startOf(namespace.pid);
	return began !== null && began <= written + CLOCK_MS ? namespace : null;
}

/** Pids, as seen from outside, of everything in it. */
export function namespaceMembers({ inode }: Namespace): number[] {
	// A reused number could be one of ours.
	if (pidNamespaceOf("self") === inode) return [];
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.filter((pid) => pidNamespaceOf(pid) === inode && !isZombie(pid));
}

/** Kills everything in it at once. False: it is gone, or its pid belongs to another process. */
export function killNamespace(namespace: Namespace): boolean {
	if (!isNamespaceAlive(namespace) || pidNamespaceOf("self") === namespace.inode) return false;
	try {
		process.kill(namespace.pid, "SIGKILL");
		return true;
	} catch {
		return false;
	}
}

/** Kills it and checks until nothing is left; returns the pids still alive. */
export async function endNamespace(namespace: Namespace): Promise<number[]> {
	const began = performance.now();
	killNamespace(namespace);
	for (let pause = 1; ; ) {
		// The kernel ends the first process last, when all others are gone.
		if (!isNamespaceAlive(namespace)) return [];
		const waited = performance.now() - began;
		if (waited >= GONE_MS) return namespaceMembers(namespace);
		// Most are gone sooner than a timer fires.
		if (waited < SOON_MS) await afterPoll();
		else {
			await delay(pause);
			pause = Math.min(pause * 2, 50);
		}
	}
}

function isZombie(pid: number): boolean {
	return /^[ZX]|^$/.test(statOf(pid)[0] ?? "");
}

/** In milliseconds since 1970. */
function startOf(pid: number): number | null {
	const ticks = Number(statOf(pid)[19]);
	if (!Number.isFinite(ticks)) return null;
	return Date.now() - (uptime() - ticks / TICKS_PER_SECOND) * 1000;
}

/** Everything after the name in brackets, which may contain anything; empty if there is no such process. */
function statOf(pid: number): string[] {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	} catch {
		return [];
	}
}
