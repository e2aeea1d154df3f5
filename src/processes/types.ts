// A process for callers that start, watch or kill one. The files in docs/reference/processes.md use the same words.

import type { WallRequest } from "../walls/index.ts";

/** Never the pid alone: pids are reused, and a signal must not reach a stranger. */
export interface ProcessIdentity {
	readonly bootId: string;
	readonly pid: number;
	/** The kernel's start time, in its own format; "" if it was gone before that could be read. */
	readonly startTime: string;
}

export interface PtySize {
	readonly rows: number;
	readonly cols: number;
}

export interface SpawnRequest {
	/** [a-z0-9_]{4,40}, drawn by the caller: it becomes a folder name (I10). */
	readonly id: string;
	/** The program and its arguments: no implicit shell. */
	readonly argv: readonly string[];
	/** Shown in files and lists instead of `argv`, if that contains a secret (I12). */
	readonly shownArgv?: readonly string[];
	readonly cwd: string;
	/** The complete environment; only KERYX_PROCESS=<id> is added. */
	readonly env: Readonly<Record<string, string>>;
	/** Null: pipes, with stdout and stderr as one. */
	readonly pty: PtySize | null;
	/** The log's maximum size; beyond it the middle is cut out. */
	readonly maxLogBytes: number;
	/** Its wall: then its end is the end of everything it started. A backend that cannot do this refuses. */
	readonly wall?: WallRequest;
	/** What a container may read and write of this machine; set by the code that decides about walls, never by a call. Default: `cwd`. */
	readonly folder?: string;
}

/**
 * running; exited by itself, also by a foreign signal; killed on request; failed_start: it never ran; lost: its host died, so its outcome
 * is unknown.
 */
export type ProcessStatus = "running" | "exited" | "killed" | "failed_start" | "lost";

export type EndCause = "exited" | "signal" | "killed" | "failed_start";

export interface ProcessEnd {
	readonly cause: EndCause;
	readonly code: number | null;
	/** SIGTERM and so on. With a code: behind a wall a death by signal is reported as 128 plus its number, and this is its name. */
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
	/** Null if nothing was started. */
	readonly identity: ProcessIdentity | null;
	/** Null while it runs, and always when lost. */
	readonly end: ProcessEnd | null;
	/** Pids of survivors it started; for a lost one also its own, while alive. */
	readonly survivors: readonly number[];
	/** Bytes written to its log so far, including cut ones. */
	readonly logSize: number;
}

/** A piece of a log with its position. Positions count bytes from the beginning of the output, whatever was cut. */
export interface LogPiece {
	/** Where `data` begins. */
	readonly from: number;
	readonly data: Buffer;
	/** Cut bytes between the requested position and `from`. */
	readonly lost: number;
	/** The next position to read. */
	readonly next: number;
	/** The log's end when it was read. */
	readonly size: number;
}

export interface KillOptions {
	/** Sent first; SIGTERM. */
	readonly signal?: string;
	/** Grace period before SIGKILL; default 5000. */
	readonly graceMs?: number;
}

export interface KillOutcome {
	/** survived: part of it is still alive, listed in `survivors`. Never "killed" then. */
	readonly result: "killed" | "already_exited" | "survived";
	readonly survivors: readonly number[];
	/**
	 * It ran behind a wall, so nothing of it can be left. Otherwise a process that left its group, parents, environment and streams
	 * before anyone looked is unknown.
	 */
	readonly isCertain?: true;
}
