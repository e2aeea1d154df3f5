// What Keryx stands on: Node, its home, the disk, the configuration. Nothing is made; permissions are changed only to fix them.
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
import { bytesInWords, counted } from "../../io/words.ts";
import { type Finding, fine, fixed, remark, wrong } from "./finding.ts";

export function lookAtNode(): Finding {
	const needed = oldestNode();
	const { node } = process.versions;
	return isOlder(node, needed)
		? wrong("node", `Node ${node} is too old`, `install Node ${needed} or newer`)
		: fine("node", `Node ${node}; ${needed} is enough`);
}

export function lookAtConfig(home: string, env: Environment): Finding {
	const { problems, file, config } = checkConfig({ home, env });
	const [first] = problems;
	if (first)
		return wrong(
			"configuration",
			`${counted(problems.length, "problem")}: ${describeProblem(first)}`,
			"correct it; `keryx config check` lists every problem",
		);
	const warnings = config?.warnings ?? [];
	if (warnings[0] !== undefined)
		return remark("configuration", `${counted(warnings.length, "warning")}: ${warnings[0]}`);
	return fine("configuration", file ?? "there is no config.yaml, so the defaults hold");
}

/** Entries for platforms that this Keryx cannot speak on. */
export function lookAtChannels(config: Config): Finding[] {
	const remedy = "take the entry out of config.yaml, or connect a program that posts for that platform";
	return unreached(config).map((found) => remark("channels", found, remedy));
}

/** Where it is not there or cannot be used, there is nothing to look at more closely. */
export function lookAtHome(home: string, fix: boolean): { findings: Finding[]; isThere: boolean } {
	const found = statSync(home, { throwIfNoEntry: false });
	if (!found)
		return {
			findings: [remark("home", `${home} is not there yet: the first start makes it`)],
			isThere: false,
		};
	if (!found.isDirectory()) {
		const finding = wrong(
			"home",
			`${home} is not a folder`,
			"move it away, or set KERYX_HOME to another path",
		);
		return { findings: [finding], isThere: false };
	}
	if (!mayUse(home)) {
		const remedy = "give it to the user that runs Keryx: chown -R, or set KERYX_HOME to another path";
		return { findings: [wrong("home", `this user may not write in ${home}`, remedy)], isThere: false };
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
	if ((mode & FOR_OTHERS) === 0) return fine("home", `${home}, for this user alone`);
	if (!fix)
		return wrong("home", `other users can look into ${home}`, `chmod 700 ${home}, or \`keryx doctor --fix\``);
	chmodSync(home, 0o700);
	return fixed("home", `${home} is for this user alone now`);
}

/** The store, its log and lock, the keys, the socket: everything in the home but what a person put there. */
const OWN = /^(keryx\.db.*|.+\.key|audit\.witness|keryx\.sock)$/;

function privacyOfFiles(home: string, fix: boolean): Finding {
	const open = readdirSync(home).filter((name) => {
		const found = OWN.test(name) ? statSync(join(home, name), { throwIfNoEntry: false }) : undefined;
		return found !== undefined && (found.mode & FOR_OTHERS) !== 0;
	});
	if (open.length === 0) return fine("files", "store, keys and socket are for this user alone");
	if (!fix)
		return wrong(
			"files",
			`other users can open ${open.join(", ")}`,
			"chmod 600 each of them, or `keryx doctor --fix`",
		);
	for (const name of open) chmodSync(join(home, name), 0o600);
	return fixed("files", `${open.join(", ")}: for this user alone now`);
}

/** A store that cannot grow loses nothing, but takes nothing any more. */
const TOO_LITTLE = 100e6;
const LITTLE = 1e9;

export function lookAtSpace(home: string): Finding {
	const { bavail, bsize } = statfsSync(home);
	const free = bavail * bsize;
	const found = `${bytesInWords(free)} free on the disk of ${home}`;
	if (free < TOO_LITTLE) return wrong("space", found, "free some: without space no message can be accepted");
	return free < LITTLE ? remark("space", found, "free some before it runs out") : fine("space", found);
}
