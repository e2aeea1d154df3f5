// Requests to the file thread (worker.ts), and its answers.
import type { KeryxError } from "../errors.ts";
import type { RawPath } from "./names.ts";
import type { Applied, ApplyRequest } from "./restore/apply.ts";
import type { WriteAnswer, WriteRequest } from "./restore/writes.ts";
import type { Snapshot, SnapshotRequest } from "./snapshot.ts";

/** The thread's requests and answers, by name. */
export interface Work {
	readonly snapshot: { readonly request: SnapshotRequest; readonly answer: Snapshot };
	readonly apply: { readonly request: ApplyRequest; readonly answer: Applied };
	/** One share of a large restore. */
	readonly write: { readonly request: WriteRequest; readonly answer: WriteAnswer };
	/** Leftovers of an interrupted restore. */
	readonly undone: {
		readonly request: { readonly root: string; readonly steps: string };
		readonly answer: readonly RawPath[];
	};
}

export type Job = {
	readonly [Name in keyof Work]: {
		readonly id: number;
		readonly name: Name;
		readonly request: Work[Name]["request"];
	};
}[keyof Work];

export type JobReply =
	| { readonly id: number; readonly answer: Work[keyof Work]["answer"] }
	| { readonly id: number; readonly error: ReturnType<KeryxError["toJSON"]> };
