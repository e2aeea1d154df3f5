// /tmp behind a wall: one folder per conversation, in the home. Also removes everything else that walls leave there.
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { lookForCgroups, pruneCgroups, pruneStatus, pruneTmp } from "../../../walls/index.ts";

const TMP = "tmp";
/** As long as a system keeps its own /tmp. */
const TMP_DAYS = 30;

/** One per conversation, with a parent that no command reaches. Its time says when a command last started in it. */
export function tmpOf(conversation: string, home: string): string {
	const folder = join(home, TMP, tmpName(conversation));
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const now = new Date();
	utimesSync(folder, now, now);
	return folder;
}

/** A digest: an imported id may be anything (I10). */
function tmpName(conversation: string): string {
	return createHash("sha256").update(conversation).digest("hex").slice(0, 32);
}

/**
 * Removes what walls left: /tmp of conversations that started nothing for long and run nothing, notes of agent programs that ended with
 * an earlier Keryx, and cgroups of programs whose end nobody saw.
 */
export async function tidyWalls(
	home: string,
	{ running, now }: { readonly running: readonly string[]; readonly now: number },
): Promise<void> {
	const used = new Set(running.map(tmpName));
	const before = now - TMP_DAYS * 24 * 3_600_000;
	pruneTmp({ folder: join(home, TMP), before, isUsed: (name) => used.has(name) });
	await pruneStatus(join(home, "walls"));
	pruneCgroups(lookForCgroups(), realpathSync(home));
}
