// What is at a path of a workspace during a restore, and whether it is what was seen before. Paths are in open folders.
import type { BigIntStats } from "node:fs";
import { permissionsOf } from "../facts.ts";
import type { Found } from "../file-table.ts";
import { Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { gitMode, isUnchanged, LINK, readAt, statAt } from "../read-file.ts";
import type { Entry } from "../repository.ts";
import type { Step } from "./plan.ts";

/** git's id of what is there; other: a folder, or something that no snapshot contains. */
export function present(
	full: Buffer,
	before: Found | undefined,
): { readonly entry: Entry | "other"; readonly stats: BigIntStats | undefined } {
	const stats = statAt(full);
	if (!stats) return { entry: null, stats };
	if (!stats.isFile() && !stats.isSymbolicLink()) return { entry: "other", stats };
	if (before && isUnchanged(before, stats)) return { entry: entryOf(before.oid, stats), stats };
	const found = readAt(full);
	return { entry: found && entryOf(found.oid, found.stats), stats: found?.stats };
}

function entryOf(oid: string, stats: BigIntStats): NonNullable<Entry> {
	const mode = gitMode(stats);
	return mode === LINK ? { mode, oid } : { mode, oid, permissions: permissionsOf(stats) };
}

/** By its times alone. Removing another name of the same file changes them, too. */
export function isUntouched(before: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
	if (!before || !now) return before === now;
	return before.ctimeNs === now.ctimeNs && before.ino === now.ino && before.size === now.size;
}

export function isSame(a: Entry | "other", b: Entry): boolean {
	if (a === "other") return false;
	if (a === null || b === null) return a === b;
	const known = a.permissions !== undefined && b.permissions !== undefined;
	return a.oid === b.oid && a.mode === b.mode && (!known || a.permissions === b.permissions);
}

/** The steps not done yet; all of them if that is unknown. */
export function undoneSteps(root: string, steps: readonly Step[]): readonly RawPath[] {
	const folders = new Folders(root);
	try {
		return steps
			.filter(({ path, want }) => {
				const folder = folders.open(parentOf(path));
				const entry = typeof folder === "string" ? null : present(folder.at(nameOf(path)), undefined).entry;
				return !isSame(entry, want);
			})
			.map(({ path }) => path);
	} finally {
		folders.close();
	}
}
