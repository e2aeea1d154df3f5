// The port behind which processes run: on this machine, over ssh, in a container. What each keeps of the promises is the business
// of src/testing/conformance/process-backend.ts, which runs over all of them.
import type { KillOptions, KillOutcome, LogPiece, ProcessInfo, PtySize, SpawnRequest } from "./types.ts";

/** Calls reject with `process.unknown` for an id that is not there, and with `process.host_gone` when the connection broke. */
export interface ProcessBackend {
	readonly name: string;

	/** What cannot be started is answered with status failed_start and the reason, and is listed like any other. */
	spawn(request: SpawnRequest): Promise<ProcessInfo>;
	/** Everything that has not been forgotten, the oldest first. */
	list(): Promise<readonly ProcessInfo[]>;
	get(id: string): Promise<ProcessInfo>;
	/** Of these, those whose host does not answer: what is known of them may have changed since. Waits a few seconds at most. */
	silent(ids: readonly string[]): Promise<ReadonlySet<string>>;

	/** At most `limit` bytes of the log from a position on. Also of what was forgotten, until it is removed. */
	read(id: string, options: { readonly from: number; readonly limit: number }): Promise<LogPiece>;
	/** The log from a position on and as it grows; ends with the process. Leaving the loop ends it, too. */
	follow(id: string, options?: { readonly from?: number }): AsyncIterable<LogPiece>;

	/** Resolves when the host has taken it: all of it, or none. */
	write(id: string, data: Uint8Array): Promise<void>;
	/** On a terminal: what its user types for it, ^D. */
	endInput(id: string): Promise<void>;
	resize(id: string, size: PtySize): Promise<void>;
	/** To the whole group. */
	signal(id: string, signal: string): Promise<void>;
	/** Ends it and everything it started, and answers when that has been seen to be so, or says what is left. */
	kill(id: string, options?: KillOptions): Promise<KillOutcome>;

	/** Takes an ended one off the list; its log stays. Refused while anything of it lives. */
	forget(id: string): Promise<void>;
	/** Deletes an ended one with its log. */
	remove(id: string): Promise<void>;

	/** Told of each end, when it and all output before it are on the disk. Answers how to stop listening. */
	onEnd(listener: (process: ProcessInfo) => void): () => void;
	/** Told once when the connection has broken; not after `close`. */
	onGone(listener: () => void): () => void;
	/** The processes go on. */
	close(): Promise<void>;
}
