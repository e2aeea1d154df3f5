// Where processes run, with or without a host: what a registry needs before there is a host, and after one has died.
import type { ProcessBackend } from "./backend.ts";
import type { KillOptions, KillOutcome, LogPiece, ProcessInfo } from "./types.ts";

export interface ProcessMachine {
	/** Recorded on each process started here: it is never looked for on another machine. */
	readonly name: string;
	/** The backend; started if needed. */
	connect(): Promise<ProcessBackend>;
	/** The backend, or null if none is running. Throws if that is unknown right now. */
	find(): Promise<ProcessBackend | null>;
	/**
	 * What these left behind, read without a host: one without an end is lost. Reads only these. Without ids: everything not forgotten,
	 * which takes longer the more is kept.
	 */
	inspect(ids?: readonly string[]): Promise<readonly ProcessInfo[]>;
	/** Reads a log, with or without a host; empty if there is none. */
	read(id: string, options: { readonly from: number; readonly limit: number }): Promise<LogPiece>;
	/** Bytes missing from its log: cut, or refused by the disk. */
	lost(id: string): Promise<number>;
	/**
	 * Gives up a start. True: it was not started, and never will be, however late the request is read. False: it was started, and its
	 * state is not known yet. `backend`: which one was asked.
	 */
	giveUp(id: string, backend: ProcessBackend): Promise<boolean>;
	/** Kills what an ended one left behind, or one whose host died. Nothing is left of unknown ones. */
	killLost(process: Pick<ProcessInfo, "id">, options?: KillOptions): Promise<KillOutcome>;
	/** Removes an ended or lost one from the list of `inspect`; its log stays. */
	forget(id: string): Promise<void>;
	/** Deletes an ended one with its log. Does nothing if there is none. */
	remove(id: string): Promise<void>;
}
