// The jobs of the files thread by name: what each is given, and what it answers.
import type { KeryxError } from "../errors.ts";
import type { RawPath } from "./names.ts";
import type { Applied, ApplyRequest } from "./restore/apply.ts";
import type { Step } from "./restore/plan.ts";
import type { WriteRequest, Writing } from "./restore/write.ts";
import type { Snapshot, SnapshotRequest } from "./snapshot.ts";

export interface Work {
	readonly snapshot: { readonly request: SnapshotRequest; readonly answer: Snapshot };
	readonly apply: { readonly request: ApplyRequest; readonly answer: Applied };
	/** A part of a large restore, in a thread that the first one started. */
	readonly write: { readonly request: WriteRequest; readonly answer: Writing };
	/** What an interrupted restore has left to do. */
	readonly undone: {
		readonly request: { readonly root: string; readonly steps: readonly Step[] };
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
