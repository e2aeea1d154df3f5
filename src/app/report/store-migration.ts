// Says that a large store of an earlier version is being brought up to date. With a small one it is over before anybody reads it.
import { bytesInWords, describeDuration } from "../../domain/index.ts";
import type { MigrationProgress } from "../../store/index.ts";
import type { Report } from "./report.ts";

/** From here on it takes about a second or longer. */
const LARGE_BYTES = 50_000_000;

export function tellMigration(output: Pick<Report, "note">): (progress: MigrationProgress) => void {
	return (progress) => {
		if (progress.bytes >= LARGE_BYTES) output.note(`Updating the store: ${words(progress)}`);
	};
}

function words(progress: MigrationProgress): string {
	switch (progress.kind) {
		case "copying":
			return `copying it first (${bytesInWords(progress.bytes)})`;
		case "copied":
			return `copy made (${describeDuration(progress.ms)}): ${progress.path}`;
		case "step":
			return `step ${progress.step} of ${progress.of}`;
		case "done":
			return `done (${describeDuration(progress.ms)})`;
	}
}
