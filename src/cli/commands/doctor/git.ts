// git, for checkpoints.

import { isOlder } from "../../../app/version.ts";
import { gitVersion } from "../../../checkpoints/index.ts";
import type { Config } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

/** Older versions cannot ignore the user's configuration. */
const OLDEST = "2.32";

export async function lookAtGit({ checkpoints }: Pick<Config, "checkpoints">): Promise<Finding> {
	if (!checkpoints.enabled) return fine("git", texts.doctor.git.notNeeded);
	try {
		const version = await gitVersion();
		if (!isOlder(version, OLDEST)) return fine("git", texts.doctor.git.fine(version));
		return remark("git", texts.doctor.git.old(version), texts.doctor.git.oldRemedy(OLDEST));
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		return wrong("git", error.message, texts.doctor.git.missing(error.hint));
	}
}
