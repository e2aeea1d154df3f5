// The age of the last backup, and whether scheduled backups work.

import { existsSync } from "node:fs";
import type { Config } from "../../../config/index.ts";
import { backupInterval } from "../../../keeping/index.ts";
import type { LastBackup } from "../../../store/index.ts";
import { ago } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

const DAY_MS = 86_400_000;
/** Older than this, a backup is worth a remark. */
const OLD_MS = 30 * DAY_MS;
/** Intervals of the schedule without a backup. */
const LATE = 2;

export function lookAtBackup(
	{ made, failed, scheduled }: LastBackup,
	{ config, now }: { readonly config: Pick<Config, "backup"> | undefined; readonly now: number },
): Finding {
	const words = texts.doctor.backup;
	if (failed !== null)
		return wrong("backup", words.failed(at(failed.at, now), failed.reason), words.failedRemedy);
	if (made === null)
		return config?.backup.every === undefined
			? remark("backup", words.none, words.noneRemedy)
			: remark("backup", words.notYet);
	const found = words.made(made.path, at(made.at, now));
	if (!existsSync(made.path)) return remark("backup", words.gone(found), words.noneRemedy);
	const every = backupInterval(config?.backup.every);
	if (every !== null && scheduled !== null && now - scheduled.at > LATE * every)
		return remark("backup", words.late(found, at(scheduled.at, now)), words.lateRemedy);
	return now - made.at > OLD_MS ? remark("backup", found, words.noneRemedy) : fine("backup", found);
}

function at(time: number, now: number): string {
	return ago(new Date(time).toISOString(), now);
}
