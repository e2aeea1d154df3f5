// Identifies processes, and lists running ones. Linux uses /proc; other systems `ps`.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ProcessIdentity } from "./types.ts";

export interface RunningProcess {
	readonly pid: number;
	readonly parent: number;
	readonly group: number;
	/** 0 if unknown. */
	readonly session: number;
	readonly startTime: string;
	/** It has ended and waits for its parent (zombie). */
	readonly isZombie: boolean;
}

const isLinux = process.platform === "linux";
let boot: string | undefined;

export function bootId(): string {
	boot ??= (
		isLinux
			? readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
			: execFileSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8" })
	).trim();
	return boot;
}

/** Null if there is no such process. A zombie still has an identity. */
export function identityOf(pid: number): ProcessIdentity | null {
	const found = look(pid);
	return found && { bootId: bootId(), pid, startTime: found.startTime };
}

/** False for a zombie: it has ended. */
export function isAlive(identity: ProcessIdentity): boolean {
	if (identity.bootId !== bootId()) return false;
	const found = look(identity.pid);
	return found !== null && !found.isZombie && found.startTime === identity.startTime;
}

export function everyProcess(): RunningProcess[] {
	if (!isLinux) return listed(["-ax"]);
	return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));
}

/** Comparable: of two processes of one boot, the later one has the greater value. */
export function startOrder(startTime: string): number {
	return /^\d+$/.test(startTime) ? Number(startTime) : Date.parse(startTime);
}

/**
 * Whether `text` is among a process's variables as `NAME=value`. Unreadable means no. `settle`: retries for a few milliseconds if there
 * are none, which happens briefly during exec.
 */
export function hasVariable(pid: number, text: string, { settle = false } = {}): boolean {
	if (!isLinux) return false;
	try {
		let variables = readFileSync(`/proc/${pid}/environ`, "latin1");
		for (let looks = 0; settle && variables === "" && looks < SETTLING_MS; looks++) {
			Atomics.wait(NOBODY, 0, 0, 1);
			variables = readFileSync(`/proc/${pid}/environ`, "latin1");
		}
		return `\0${variables}`.includes(`\0${text}\0`);
	} catch {
		return false;
	}
}

/** Whether one of these is its input, output or error output. Unreadable means no. */
export function hasStream(pid: number, paths: ReadonlySet<string>): boolean {
	if (!isLinux || paths.size === 0) return false;
	return [0, 1, 2].some((descriptor) => {
		try {
			return paths.has(readlinkSync(`/proc/${pid}/fd/${descriptor}`));
		} catch {
			return false;
		}
	});
}

const SETTLING_MS = 10;
const NOBODY = new Int32Array(new SharedArrayBuffer(4));

/** Null if there is no such process. */
export function runningProcess(pid: number): RunningProcess | null {
	return look(pid);
}

function look(pid: number): RunningProcess | null {
	if (!isLinux) return listed(["-p", String(pid)])[0] ?? null;
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		// The name in brackets may contain anything, including brackets and spaces.
		const [state, parent, group, session, ...more] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return {
			pid,
			parent: Number(parent),
			group: Number(group),
			session: Number(session),
			startTime: more[15] ?? "",
			isZombie: state === "Z" || state === "X",
		};
	} catch {
		return null;
	}
}

function listed(which: readonly string[]): RunningProcess[] {
	try {
		const columns = "pid=,ppid=,pgid=,stat=,lstart=";
		const text = execFileSync("ps", [...which, "-o", columns], { encoding: "utf8", env: { LC_ALL: "C" } });
		return text.split("\n").flatMap((line) => {
			const [pid, parent, group, state = "", ...started] = line.trim().split(/\s+/);
			if (!pid) return [];
			return {
				pid: Number(pid),
				parent: Number(parent),
				group: Number(group),
				session: 0,
				startTime: started.join(" "),
				isZombie: state.startsWith("Z"),
			};
		});
	} catch {
		return [];
	}
}
