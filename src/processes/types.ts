// What a process is to whoever starts, watches or ends one. The same words stand in the files of docs/reference/processes.md.

import type { WallRequest } from "../walls/index.ts";

/** Never the pid alone: pids are used again, and a signal must not reach a stranger. */
export interface ProcessIdentity {
	readonly bootId: string;
	readonly pid: number;
	/** When the kernel started it, in the kernel's own words; "" where it was gone before that could be read. */
	readonly startTime: string;
}

export interface PtySize {
	readonly rows: number;
	readonly cols: number;
}

export interface SpawnRequest {
	/** [a-z0-9_]{4,40}, drawn by the caller: it becomes the name of a folder (I10). */
	readonly id: string;
	/** The program and its arguments, as they are: nothing is put through a shell that is not named here. */
	readonly argv: readonly string[];
	/** What files and lists show in place of `argv`, where that holds a secret (I12). */
	readonly shownArgv?: readonly string[];
	readonly cwd: string;
	/** All of it; only KERYX_PROCESS=<id> is added. */
	readonly env: Readonly<Record<string, string>>;
	/** Null: pipes, with stdout and stderr as one. */
	readonly pty: PtySize | null;
	/** The log keeps this much; beyond it the middle is cut out. */
	readonly maxLogBytes: number;
	/** It runs behind this wall: then its end is that of everything it started. Not every backend can; one that cannot refuses. */
	readonly wall?: WallRequest;
	/** What a container may read and write of this machine; chosen by whoever decides about walls, never by a call. Left out: `cwd`. */
	readonly folder?: string;
}

/**
 * running; exited by itself, also by a signal that was not ours; killed on request; failed_start: it never ran; lost: its host
 * died, so how it ended, if it has, nobody knows.
 */
export type ProcessStatus = "running" | "exited" | "killed" | "failed_start" | "lost";

export type EndCause = "exited" | "signal" | "killed" | "failed_start";

export interface ProcessEnd {
	readonly cause: EndCause;
	readonly code: number | null;
	/** SIGTERM and so on. With a code: behind a wall a death by signal is told as 128 and its number, and this is its name. */
	readonly signal: string | null;
	/** Why it could not be started. */
	readonly reason: string | null;
	readonly endedAt: number;
}

export interface ProcessInfo {
	readonly id: string;
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly pty: PtySize | null;
	readonly startedAt: number;
	readonly status: ProcessStatus;
	/** Null where nothing was started. */
	readonly identity: ProcessIdentity | null;
	/** Null while it runs, and for ever when it is lost. */
	readonly end: ProcessEnd | null;
	/** Pids of what it started and left behind; of a lost one also its own, while it lives. */
	readonly survivors: readonly number[];
	/** Bytes that it has written to its log so far, those that were cut out included. */
	readonly logSize: number;
}

/** A piece of a log, at its place. Positions count bytes from the beginning of the output, whatever was cut out since. */
export interface LogPiece {
	/** Where `data` begins. */
	readonly from: number;
	readonly data: Buffer;
	/** Bytes between what was asked for and `from`: they were cut out. */
	readonly lost: number;
	/** What to ask for next. */
	readonly next: number;
	/** Where the log ended when it was read. */
	readonly size: number;
}

export interface KillOptions {
	/** Sent first; SIGTERM. */
	readonly signal?: string;
	/** How long it has to end by itself before SIGKILL; 5000. */
	readonly graceMs?: number;
}

export interface KillOutcome {
	/** survived: something of it still lives after all, and `survivors` names it. Never "killed" then. */
	readonly result: "killed" | "already_exited" | "survived";
	readonly survivors: readonly number[];
	/**
	 * It ran behind a wall, so nothing of it can be left. Otherwise what left its group, its parents, its environment and its
	 * streams, all before anybody looked, is not known of.
	 */
	readonly isCertain?: true;
}
