// keryx/checkpoints: snapshots of a folder's files, and restores.
// Usable without the gateway, on any store.
// Never here: deciding when a snapshot is taken, or which folder is a conversation's.

export { createCheckpoints } from "./checkpoints.ts";
export { EXCLUDED_FOLDERS, type ExcludeReason } from "./excludes.ts";
export { gitVersion } from "./git.ts";
export { checkpointSettings } from "./settings.ts";
export type {
	CheckpointSettings,
	Checkpoints,
	CheckpointsOptions,
	FileDiff,
	FileStatus,
	Kept,
	KeptReason,
	PruneReport,
	RecoveredRestore,
	RestoreOptions,
	RestorePlan,
	RestoreReport,
	RestoreSummary,
	Some,
	TakeInput,
	TakeOutcome,
} from "./types.ts";
