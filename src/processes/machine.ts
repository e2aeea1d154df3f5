// Where processes run, with and without the program that runs them: what a registry asks for before there is a host, and after one
// has died.
import type { ProcessBackend } from "./backend.ts";
import type { KillOptions, KillOutcome, LogPiece, ProcessInfo } from "./types.ts";

export interface ProcessMachine {
	/** Stands on each process that was started here: none is ever looked for on another machine. */
	readonly name: string;
	/** What runs them; started where nothing does yet. */
	connect(): Promise<ProcessBackend>;
	/** What runs them, or null where nothing does. Throws where that cannot be said just now. */
	find(): Promise<ProcessBackend | null>;
	/**
	 * What these have left behind, read without a host: one without an end is lost. Looks at nothing but them. Without ids: at
	 * everything that was not forgotten, which takes longer the more is kept.
	 */
	inspect(ids?: readonly string[]): Promise<readonly ProcessInfo[]>;
	/** Of a log, with or without a host; empty for what left none. */
	read(id: string, options: { readonly from: number; readonly limit: number }): Promise<LogPiece>;
	/** Bytes that its log has lost: cut out of the middle, or not taken by the disk. */
	lost(id: string): Promise<number>;
	/**
	 * Whoever asked for it to be started waits no more. True: it was not begun, and never will be, however late the request is
	 * read. False: it has been begun, and what became of it is not known yet. `backend`: who was asked.
	 */
	giveUp(id: string, backend: ProcessBackend): Promise<boolean>;
	/** Ends what an ended one has left behind, or one whose host died. Of what nobody knows, nothing is left. */
	killLost(process: Pick<ProcessInfo, "id">, options?: KillOptions): Promise<KillOutcome>;
	/** Takes an ended or lost one off the list of `inspect`; its log stays. */
	forget(id: string): Promise<void>;
	/** Deletes an ended one with its log. Nothing happens where there is none. */
	remove(id: string): Promise<void>;
}
