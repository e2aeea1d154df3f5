// Checkpoint settings from the configuration.
import type { Config } from "../config/index.ts";
import type { CheckpointSettings } from "./types.ts";

export function checkpointSettings({ checkpoints }: Pick<Config, "checkpoints">): CheckpointSettings {
	return {
		maxSnapshots: checkpoints.max_snapshots,
		maxTotalMb: checkpoints.max_total_mb,
		maxFileMb: checkpoints.max_file_mb,
		maxFiles: checkpoints.max_files,
	};
}
