// The walls of the agent's commands on this machine, and their weaknesses.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../../app/home.ts";
import type { Config, Environment } from "../../../config/index.ts";
import { limitsOf } from "../../../gateway/index.ts";
import {
	decideWall,
	limitsInWords,
	lookForCgroups,
	probeBoxNetwork,
	probeWalls,
	type WallProbe,
	wallsInWords,
} from "../../../walls/index.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

/** Commands saw these before they had their own environment. */
const OFTEN_NEEDED =
	/^(https?_proxy|no_proxy|all_proxy|ftp_proxy|[A-Z]+_HOME|GOPATH|GOPROXY|PYTHONPATH|VIRTUAL_ENV|NVM_DIR|PNPM_HOME|KUBECONFIG|DOCKER_HOST|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|NODE_OPTIONS|MAVEN_OPTS|JAVA_OPTS|LD_LIBRARY_PATH|PKG_CONFIG_PATH)$/i;
/** Links are looked for in the keys, not in logs. */
const KEYS = ["operator.secret", "audit.key", "pseudonym.key", "config.yaml", "keryx.db"];

export interface WallsSeen {
	readonly home: Home;
	readonly config: Config;
	readonly env: Environment;
	/** The running Keryx's pid: its cgroup differs from this command's. */
	readonly pid: number | null;
}

export async function lookAtWalls({ home, config, env, pid }: WallsSeen): Promise<Finding[]> {
	const { mode } = config.walls;
	const probe = await probeWalls(home.path);
	if (mode === "off") return [describe(config, probe)];
	return [
		describe(config, probe),
		...(probe.view.isPossible ? lookAtCgroups(config, pid) : []),
		...(await lookAtNetwork(home, config, probe)),
		...lookAtLinks(home),
		...lookAtVariables(config, env),
	];
}

function lookAtCgroups({ walls }: Config, pid: number | null): Finding[] {
	const { inForce, missing } = limitsInWords(limitsOf(walls), lookForCgroups(pid ?? "self"));
	return [
		...(inForce === null ? [] : [fine("limits", inForce)]),
		...(missing === null ? [] : [remark("limits", missing.words, missing.remedy)]),
	];
}

async function lookAtNetwork(home: Home, { walls }: Config, probe: WallProbe): Promise<Finding[]> {
	if (walls.box_network !== "on" || !probe.box.isPossible) return [];
	const result = await probeBoxNetwork(home.path, probe);
	if (result.isPossible) return [fine("box network", texts.doctor.walls.ownNetwork)];
	return [wrong("box network", texts.doctor.walls.noOwnNetwork(result.reason), result.remedy)];
}

function describe({ walls }: Config, probe: WallProbe): Finding {
	const { mode, limits } = walls;
	const words = wallsInWords(mode, probe);
	if (mode === "off") return remark("walls", words, texts.doctor.walls.off);
	const owner = decideWall({ mode, kind: "view", isOwner: true, probe });
	const member = decideWall({ mode, kind: "box", isOwner: false, probe });
	const missing = [owner, member].find(({ run }) => run !== "walled");
	if (missing && missing.run !== "walled")
		return wrong(
			"walls",
			`${words.split(texts.doctor.walls.split)[0]}; ${mode === "required" ? texts.doctor.walls.noCommands : texts.doctor.walls.ownerOnly}`,
			missing.remedy ?? texts.doctor.walls.remedy,
		);
	const limited = [
		...(limits.open_files === null ? [] : [`${limits.open_files} open files`]),
		...(limits.memory_mb === null ? [] : [`${limits.memory_mb} MB of memory`]),
	];
	const found = [
		words,
		...networkInWords(walls),
		limited.length === 0 ? texts.doctor.walls.noLimits : texts.doctor.walls.limits(limited.join(", ")),
		...rootInWords(walls),
	];
	return fine("walls", found.join("; "));
}

function networkInWords({ box_network }: Config["walls"]): string[] {
	if (box_network === "on") return [];
	if (box_network === "off") return [texts.doctor.walls.noNetwork];
	return [texts.doctor.walls.boxHosts(box_network.join(", "))];
}

function rootInWords({ root }: Config["walls"]): string[] {
	if (process.getuid?.() !== 0) return [];
	return [root === "admin" ? texts.doctor.walls.rootAdmin : texts.doctor.walls.root];
}

/** Another name of the same file, outside the home, opens it behind every wall. */
function lookAtLinks({ path }: Home): Finding[] {
	const linked = KEYS.filter(
		(name) => (lstatSync(join(path, name), { throwIfNoEntry: false })?.nlink ?? 1) > 1,
	);
	if (linked.length === 0) return [];
	return [
		wrong(
			texts.doctor.walls.hardLinks,
			texts.doctor.walls.linked(
				linked.join(", "),
				linked.length === 1 ? "has" : "have",
				linked.length === 1 ? "it" : "them",
			),
			texts.doctor.walls.linkedRemedy(join(path, linked[0] as string)),
		),
	];
}

/** Commands have their own environment, so the variables they need must be listed. */
function lookAtVariables({ walls: { env_pass } }: Config, env: Environment): Finding[] {
	const unseen = Object.keys(env).filter(
		(name) => OFTEN_NEEDED.test(name) && name !== "KERYX_HOME" && !env_pass.includes(name),
	);
	if (unseen.length === 0) return [];
	return [
		remark(
			"variables",
			texts.doctor.walls.unseen(unseen.toSorted().join(", ")),
			texts.doctor.walls.unseenRemedy(unseen.toSorted().join(", ")),
		),
	];
}
