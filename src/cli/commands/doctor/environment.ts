// The basics: Node, the home, the disk, the configuration. Nothing is created; permissions are changed only to fix them.

import { accessSync, chmodSync, constants, readdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { isOlder, oldestNode } from "../../../app/version.ts";
import {
	type Config,
	checkConfig,
	describeProblem,
	type Environment,
	unreached,
} from "../../../config/index.ts";
import { workspaceFolders } from "../../../gateway/index.ts";
import { bytesInWords, counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, fixed, remark, wrong } from "./finding.ts";

export function lookAtNode(): Finding {
	const needed = oldestNode();
	const { node } = process.versions;
	return isOlder(node, needed)
		? wrong("node", texts.doctor.node.old(node), texts.doctor.node.remedy(needed))
		: fine("node", texts.doctor.node.fine(node, needed));
}

export function lookAtConfig(home: string, env: Environment): Finding {
	const { problems, file, config } = checkConfig({ home, env });
	const [first] = problems;
	if (first)
		return wrong(
			"configuration",
			`${counted(problems.length, "problem")}: ${describeProblem(first)}`,
			texts.doctor.config.remedy,
		);
	const warnings = config?.warnings ?? [];
	if (warnings[0] !== undefined)
		return remark("configuration", `${counted(warnings.length, "warning")}: ${warnings[0]}`);
	return fine("configuration", file ?? texts.doctor.config.none);
}

/** Entries for platforms this Keryx does not support. */
export function lookAtChannels(config: Config): Finding[] {
	const remedy = texts.doctor.config.unreached;
	return unreached(config).map((found) => remark("channels", found, remedy));
}

/** If it is missing or unusable, there is nothing more to check. */
export function lookAtHome(home: string, fix: boolean): { findings: Finding[]; isThere: boolean } {
	const found = statSync(home, { throwIfNoEntry: false });
	if (!found)
		return {
			findings: [remark("home", texts.doctor.home.none(home))],
			isThere: false,
		};
	if (!found.isDirectory()) {
		const finding = wrong("home", texts.doctor.home.notFolder(home), texts.doctor.home.notFolderRemedy);
		return { findings: [finding], isThere: false };
	}
	if (!mayUse(home)) {
		const remedy = texts.doctor.home.notWritableRemedy;
		return { findings: [wrong("home", texts.doctor.home.notWritable(home), remedy)], isThere: false };
	}
	return { findings: [privacyOfHome(home, found, fix), privacyOfFiles(home, fix)], isThere: true };
}

function mayUse(folder: string): boolean {
	try {
		accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

const FOR_OTHERS = 0o077;

function privacyOfHome(home: string, { mode }: Stats, fix: boolean): Finding {
	if ((mode & FOR_OTHERS) === 0) return fine("home", texts.doctor.home.fine(home));
	if (!fix)
		return wrong(
			"home",
			texts.doctor.home.open(home),
			texts.doctor.home.openRemedy(home),
			texts.doctor.home.mends(home),
		);
	chmodSync(home, 0o700);
	return fixed("home", texts.doctor.home.fixed(home));
}

/** The store, its log and lock, keys and secrets, the socket: everything in the home except a person's own files. */
const OWN = /^(keryx\.db.*|.+\.key|operator\.secret|service\.env|audit\.witness|keryx\.sock)$/;

function privacyOfFiles(home: string, fix: boolean): Finding {
	const open = readdirSync(home).filter((name) => {
		const found = OWN.test(name) ? statSync(join(home, name), { throwIfNoEntry: false }) : undefined;
		return found !== undefined && (found.mode & FOR_OTHERS) !== 0;
	});
	if (open.length === 0) return fine("files", texts.doctor.files.fine);
	const names = open.join(", ");
	if (!fix)
		return wrong(
			"files",
			texts.doctor.files.open(names),
			texts.doctor.files.openRemedy,
			texts.doctor.files.mends(names),
		);
	for (const name of open) chmodSync(join(home, name), 0o600);
	return fixed("files", texts.doctor.files.fixed(names));
}

/** Named for people who back them up or move them: backups do not include them. */
export function lookAtWorkspaces(
	home: string,
	{ workspace }: Pick<Config, "workspace">,
	env: Environment,
): Finding {
	return fine("workspaces", texts.doctor.workspaces(workspaceFolders(home, workspace, env).root));
}

/** A store that cannot grow loses nothing, but accepts nothing. */
const TOO_LITTLE = 100e6;
const LITTLE = 1e9;

export function lookAtSpace(home: string): Finding {
	const { bavail, bsize } = statfsSync(home);
	const free = bavail * bsize;
	const found = texts.doctor.disk.free(bytesInWords(free), home);
	if (free < TOO_LITTLE) return wrong("space", found, texts.doctor.disk.full);
	return free < LITTLE ? remark("space", found, texts.doctor.disk.low) : fine("space", found);
}
