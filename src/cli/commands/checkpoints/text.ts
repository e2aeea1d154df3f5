// Checkpoints in words.

import { counted, listed } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import type { WireCheckpoint } from "./where.ts";

const WHY: Readonly<Record<string, string>> = {
	built_in: texts.checkpoints.notSaved.never,
	gitignore: texts.checkpoints.notSaved.ignored,
	too_large: texts.checkpoints.notSaved.tooLarge,
	special: texts.checkpoints.notSaved.noFiles,
	unreadable: "unreadable",
};

/** What existed but is not included, or null. */
export function notSaved({ excluded }: WireCheckpoint): string | null {
	if (excluded.length === 0) return null;
	const reasons = excluded.map(
		({ reason, count, examples }) =>
			`${count} ${WHY[reason] ?? reason} (${examples[0] ?? ""}${count > 1 ? ", …" : ""})`,
	);
	return texts.checkpoints.notSaved.list(listed(reasons, "and"));
}

/** "+12 -3 in 4 files" */
export function changesOf({ changed }: WireCheckpoint): string {
	return changed === null
		? ""
		: `+${changed.insertions} -${changed.deletions} in ${counted(changed.files, "file")}`;
}
