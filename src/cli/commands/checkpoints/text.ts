// Checkpoints in words.
import { counted, listed } from "../../io/words.ts";
import type { WireCheckpoint } from "./where.ts";

const WHY: Readonly<Record<string, string>> = {
	built_in: "never saved",
	gitignore: "named in .gitignore",
	too_large: "too large",
	special: "no files",
	unreadable: "unreadable",
};

/** What was there and is not in it, or null. */
export function notSaved({ excluded }: WireCheckpoint): string | null {
	if (excluded.length === 0) return null;
	const reasons = excluded.map(
		({ reason, count, examples }) =>
			`${count} ${WHY[reason] ?? reason} (${examples[0] ?? ""}${count > 1 ? ", …" : ""})`,
	);
	return `Not saved: ${listed(reasons, "and")}.`;
}

/** "+12 -3 in 4 files" */
export function changesOf({ changed }: WireCheckpoint): string {
	return changed === null
		? ""
		: `+${changed.insertions} -${changed.deletions} in ${counted(changed.files, "file")}`;
}
