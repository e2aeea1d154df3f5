// What crosses between a thread of the store and its caller.
import type { Drawn, MigrationProgress, ReadName, WriteName } from "../engine.ts";
import type { Divisible, Found, Half } from "../operations/search/newest.ts";
import type { WireError } from "./faults.ts";
import type { FileId } from "./open-files.ts";

export interface WorkerSettings {
	readonly role: "writer" | "reader";
	readonly path: string;
	readonly startedAt: number;
	/** Reads run here too: an in-memory database has one connection. */
	readonly alone: boolean;
	readonly auditKey: Uint8Array | null;
	/** For a reader: the database its writer has open. */
	readonly database?: FileId | null;
	/** The audit's witness file; null: none. */
	readonly auditWitness: string | null;
}

export type Request =
	| {
			readonly id: number;
			readonly kind: "write";
			readonly name: WriteName;
			readonly args: unknown;
			readonly drawn: Drawn;
	  }
	| { readonly id: number; readonly kind: "read"; readonly name: ReadName; readonly args: unknown }
	/** Two readers can share it: it may answer with a read of which each should read a half first. */
	| { readonly id: number; readonly kind: "search"; readonly args: unknown; readonly known: number | Found }
	| { readonly id: number; readonly kind: "half"; readonly read: Divisible; readonly half: Half }
	/** To a new file: the database at this instant. */
	| { readonly id: number; readonly kind: "copy"; readonly path: string }
	| { readonly id: number; readonly kind: "settings" | "close" };

export type Reply =
	| { readonly id: number; readonly ok: true; readonly value: unknown }
	/** The same as JSON. */
	| { readonly id: number; readonly ok: true; readonly text: string }
	| { readonly id: number; readonly ok: false; readonly error: WireError };

/** Some of the replies of one group. */
export interface Replies {
	readonly replies: readonly Reply[];
	/** Whether the group's commit changed anything; said with the first of them. */
	readonly changed: boolean;
}

/** Unrequested: what prevents the owner from acknowledging; null when it is over. */
export interface Trouble {
	readonly trouble: WireError | null;
}

/** Before it is ready. */
export interface Migrating {
	readonly migrating: MigrationProgress;
}

/** The first message after those: ready, or why not. */
export type Ready =
	| { readonly ready: true; readonly epoch: number; readonly database: FileId | null }
	| { readonly ready: false; readonly error: WireError };
