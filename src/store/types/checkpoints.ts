// Snapshots of workspaces, and restores.
import type { ConversationId } from "../../domain/index.ts";

/** Why a checkpoint was taken: around a turn's changes, at a rotation, on demand, or around a restore. */
export type CheckpointKind = "before" | "after" | "rotation" | "manual" | "restore";

/** A snapshot of a workspace's files. */
export interface Checkpoint {
	/** Later ones have greater numbers. */
	readonly n: number;
	readonly id: string;
	/** The name of its repository. */
	readonly workspace: string;
	/** Where the workspace is. */
	readonly folder: string;
	readonly kind: CheckpointKind;
	readonly label: string;
	readonly conversation: string | null;
	readonly session: string | null;
	readonly turn: string | null;
	readonly commit: string;
	readonly tree: string;
	/** How many files it has. */
	readonly files: number;
	/** Compared with the previous one; null for the first. */
	readonly changed: {
		readonly files: number;
		readonly insertions: number;
		readonly deletions: number;
	} | null;
	/** Files of the workspace it does not contain, by reason. */
	readonly excluded: readonly {
		readonly reason: string;
		readonly count: number;
		readonly examples: readonly string[];
	}[];
	readonly at: number;
}

/** The range between two checkpoints that belongs to a turn or restore. */
export interface CheckpointWindow {
	readonly owner: string;
	readonly from: number;
	/** Null: no known end. */
	readonly to: number | null;
}

/** What takes effect in the transaction that ends a restore, even after a crash. */
export interface RestoreTogether {
	/** The chat is rewound by this many turns, which start with this row. */
	readonly undo?: { readonly conversation: ConversationId; readonly turns: number; readonly row: number };
	/** The message that requested it. */
	readonly command?: { readonly inbox: number; readonly name: string };
}

/** An unfinished restore. */
export interface Restore {
	readonly id: string;
	readonly workspace: string;
	readonly folder: string;
	readonly target: string;
	readonly before: string;
	readonly plan: unknown;
	readonly begunAt: number;
}
