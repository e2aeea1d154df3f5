// The end of a namespace: its first process is killed, and with it daemons, double forks and whatever cleared its environment. A pid
// is signalled only while it is in the namespace that was noted: numbers are used again.
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { uptime } from "node:os";
import { setImmediate as afterPoll, setTimeout as delay } from "node:timers/promises";
import { type Namespace, readStatus } from "./status.ts";

/** What was killed is gone after this, unless the kernel holds it. */
const GONE_MS = 5000;
/** What was killed is mostly gone within this. */
const SOON_MS = 1;
/** Clocks are not compared more closely than this. */
const CLOCK_MS = 2000;
/** In which the kernel counts. */
const TICKS_PER_SECOND = 100;

/** Null where there is no such process, or where it may not be looked at. */
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
 * The namespace that a status file of this boot names, if it lives. Both its numbers may have been given to somebody else since; but
 * whoever has them now began after the last word in the file.
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
	// A number that was used again could be that of our own.
	if (pidNamespaceOf("self") === inode) return [];
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.filter((pid) => pidNamespaceOf(pid) === inode && !isZombie(pid));
}

/** Kills everything in it at once. False: it is gone, or its pid is somebody else's. */
export function killNamespace(namespace: Namespace): boolean {
	if (!isNamespaceAlive(namespace) || pidNamespaceOf("self") === namespace.inode) return false;
	try {
		process.kill(namespace.pid, "SIGKILL");
		return true;
	} catch {
		return false;
	}
}

/** Kills it and looks until nothing of it is left; answers the pids that live on after all. */
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

/** What follows the name in brackets, which may hold anything; empty where there is no such process. */
function statOf(pid: number): string[] {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	} catch {
		return [];
	}
}
