// What the agent's commands run behind on this machine, and what weakens it.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../../app/home.ts";
import type { Config, Environment } from "../../../config/index.ts";
import { decideWall, probeWalls, type WallProbe, wallsInWords } from "../../../walls/index.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

/** Commands saw these before they had an environment of their own. */
const OFTEN_NEEDED =
	/^(https?_proxy|no_proxy|all_proxy|ftp_proxy|[A-Z]+_HOME|GOPATH|GOPROXY|PYTHONPATH|VIRTUAL_ENV|NVM_DIR|PNPM_HOME|KUBECONFIG|DOCKER_HOST|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|NODE_OPTIONS|MAVEN_OPTS|JAVA_OPTS|LD_LIBRARY_PATH|PKG_CONFIG_PATH)$/i;
/** Links are looked for in the keys, not in logs. */
const KEYS = ["operator.secret", "audit.key", "pseudonym.key", "config.yaml", "keryx.db"];

export async function lookAtWalls(home: Home, config: Config, env: Environment): Promise<Finding[]> {
	const { mode } = config.walls;
	const probe = await probeWalls(home.path);
	return [
		describe(config, probe),
		...(mode === "off" ? [] : [...lookAtLinks(home), ...lookAtVariables(config, env)]),
	];
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
		walls.box_network === "off"
			? texts.doctor.walls.noNetwork
			: texts.doctor.walls.boxHosts(walls.box_network.join(", ")),
		limited.length === 0 ? texts.doctor.walls.noLimits : texts.doctor.walls.limits(limited.join(", ")),
		...rootInWords(walls),
	];
	return fine("walls", found.join("; "));
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

/** Since commands have an environment of their own, what they need of Keryx's must be named. */
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
