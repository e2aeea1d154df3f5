// The interface for running processes: on this machine, over ssh, in a container. src/testing/conformance/process-backend.ts checks the
// promises of each.
import type { KillOptions, KillOutcome, LogPiece, ProcessInfo, PtySize, SpawnRequest } from "./types.ts";

/** Calls reject with `process.unknown` for an unknown id, and with `process.host_gone` if the connection broke. */
export interface ProcessBackend {
	readonly name: string;

	/** If it cannot be started, the result is failed_start with the reason, and it is listed as usual. */
	spawn(request: SpawnRequest): Promise<ProcessInfo>;
	/** Everything that has not been forgotten, oldest first. */
	list(): Promise<readonly ProcessInfo[]>;
	get(id: string): Promise<ProcessInfo>;
	/** Of these, those whose host does not answer: their state may be out of date. Waits at most a few seconds. */
	silent(ids: readonly string[]): Promise<ReadonlySet<string>>;

	/** At most `limit` bytes of the log from a position on. Also for forgotten ones, until removed. */
	read(id: string, options: { readonly from: number; readonly limit: number }): Promise<LogPiece>;
	/** The log from a position on, as it grows; ends with the process. Leaving the loop ends it, too. */
	follow(id: string, options?: { readonly from?: number }): AsyncIterable<LogPiece>;

	/** Resolves when the host has accepted all of it. */
	write(id: string, data: Uint8Array): Promise<void>;
	/** On a terminal: types ^D. */
	endInput(id: string): Promise<void>;
	resize(id: string, size: PtySize): Promise<void>;
	/** To the whole group. */
	signal(id: string, signal: string): Promise<void>;
	/** Kills it and everything it started, verifies that, and says what is left. */
	kill(id: string, options?: KillOptions): Promise<KillOutcome>;

	/** Removes an ended one from the list; its log stays. Refused while any part of it is alive. */
	forget(id: string): Promise<void>;
	/** Deletes an ended one with its log. */
	remove(id: string): Promise<void>;

	/** Called for each end, when it and all earlier output are on disk. Returns the unsubscribe function. */
	onEnd(listener: (process: ProcessInfo) => void): () => void;
	/** Called once when the connection has broken; not after `close`. */
	onGone(listener: () => void): () => void;
	/** The processes keep running. */
	close(): Promise<void>;
}
