// The inputs and outputs of this folder.

import type { Checkpoint, CheckpointKind, RestoreTogether, Store, Undone } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { Naming } from "./location.ts";

export interface CheckpointSettings {
	readonly maxSnapshots: number;
	readonly maxTotalMb: number;
	readonly maxFileMb: number;
	readonly maxFiles: number;
	/** How long an operation waits for another one on the same workspace. */
	readonly lockWaitMs?: number;
}

export interface CheckpointsOptions extends Naming {
	/** Keryx's home. */
	readonly home: string;
	readonly store: Store;
	readonly clock: Pick<Clock, "now">;
	/** Read per call: they may change. */
	readonly settings: () => CheckpointSettings;
	readonly log?: (message: string, error: unknown) => void;
}

export interface TakeInput {
	/** The folder. */
	readonly workspace: string;
	readonly label: string;
	/** before and after surround a turn's file changes, and need its id. */
	readonly kind?: Exclude<CheckpointKind, "restore">;
	readonly conversation?: string;
	readonly session?: string;
	readonly turn?: string;
	/** Aborted: files may change from now on, so an unfinished scan is discarded. */
	readonly signal?: AbortSignal;
}

/** The outcome: an id only if the snapshot exists (I9). */
export type TakeOutcome =
	| { readonly kind: "taken" | "unchanged"; readonly id: string; readonly checkpoint: Checkpoint }
	| { readonly kind: "failed"; readonly reason: string; readonly code: string };

export type FileStatus = "added" | "changed" | "deleted";

export interface FileDiff {
	readonly path: string;
	readonly status: FileStatus;
	readonly binary: boolean;
	readonly insertions: number;
	readonly deletions: number;
	/** Unified text, up to a limit. */
	readonly text: string;
	readonly cut: boolean;
}

export interface RestoreOptions {
	/** Only this file, or what is in this folder. */
	readonly file?: string;
	/** Also reverts people's changes. */
	readonly force?: boolean;
	/** Takes effect in the transaction that ends the restore. */
	readonly together?: RestoreTogether;
}

/**
 * changed_since: by someone other than the agent. changing: between the scan and the restore. in_the_way: something that is kept is in
 * its place. refused: the system did not allow the change. lost: the repository no longer has its content.
 */
export type KeptReason = "changed_since" | "changing" | "in_the_way" | "refused" | "lost";

export interface Kept {
	readonly path: string;
	readonly reason: KeptReason;
}

export interface RestorePlan {
	readonly target: Checkpoint;
	readonly restore: readonly string[];
	readonly remove: readonly string[];
	readonly kept: readonly Kept[];
	/** They differ and are not saved, so they stay. Includes files that existed and are gone. */
	readonly untouched: readonly string[];
}

export interface RestoreReport {
	readonly id: string;
	readonly target: Checkpoint;
	/** Restoring this one undoes the restore. */
	readonly before: Checkpoint;
	readonly restored: readonly string[];
	readonly removed: readonly string[];
	readonly kept: readonly Kept[];
	readonly untouched: readonly string[];
	/** The turns undone with it. Null: none requested, or the conversation has continued since. */
	readonly undone: Undone | null;
}

/** A restore in short: what is reported about it, also after a crash. */
export interface RestoreSummary {
	readonly target: string;
	readonly before: string;
	readonly restored: Some<string>;
	readonly removed: Some<string>;
	readonly kept: Some<Kept>;
	readonly untouched: Some<string>;
}

/** The count, and the first few. */
export interface Some<Item> {
	readonly count: number;
	readonly first: readonly Item[];
}

export interface PruneReport {
	readonly dropped: readonly string[];
	readonly bytesBefore: number;
	readonly bytes: number;
}

export interface Checkpoints {
	/** Never throws: a turn continues without its checkpoint, and the outcome is recorded. */
	take(input: TakeInput): Promise<TakeOutcome>;
	/** Newest first. */
	list(workspace: string): Promise<readonly Checkpoint[]>;
	diff(
		workspace: string,
		from: string,
		to: string | "now",
		options?: { readonly file?: string },
	): Promise<readonly FileDiff[]>;
	/** What a restore would do now. Changes nothing. */
	plan(workspace: string, id: string, options?: RestoreOptions): Promise<RestorePlan>;
	restore(workspace: string, id: string, options?: RestoreOptions): Promise<RestoreReport>;
	/** Prunes to the limits, and frees what nothing refers to. */
	prune(workspace: string): Promise<PruneReport>;
	/** Finishes interrupted restores. One that cannot be finished now stays open, and `problem` says why. */
	recover(): Promise<readonly RecoveredRestore[]>;
	close(): Promise<void>;
}

export interface RecoveredRestore {
	readonly id: string;
	readonly workspace: string;
	readonly report: RestoreReport | null;
	readonly problem: string | null;
	/** What remains, if it could not be finished. */
	readonly left: readonly string[];
}
