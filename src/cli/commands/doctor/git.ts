// The program that checkpoints are made with.

import { isOlder } from "../../../app/version.ts";
import { gitVersion } from "../../../checkpoints/index.ts";
import type { Config } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

/** Older ones cannot be told to leave the user's configuration alone. */
const OLDEST = "2.32";

export async function lookAtGit({ checkpoints }: Pick<Config, "checkpoints">): Promise<Finding> {
	if (!checkpoints.enabled) return fine("git", "not needed: checkpoints.enabled is false");
	try {
		const version = await gitVersion();
		if (!isOlder(version, OLDEST)) return fine("git", `git ${version}, for checkpoints of files`);
		return remark(
			"git",
			`git ${version} takes your own git configuration into account`,
			`install git ${OLDEST} or newer`,
		);
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		return wrong("git", error.message, `${error.hint}; without it set checkpoints.enabled to false`);
	}
}
