// What the agent's commands run behind on this machine, and what weakens it.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../../app/home.ts";
import type { Config, Environment } from "../../../config/index.ts";
import { decideWall, probeWalls, type WallProbe, wallsInWords } from "../../../walls/index.ts";
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
	if (mode === "off")
		return remark("walls", words, "remove walls.mode from config.yaml, or set it to auto or required");
	const owner = decideWall({ mode, kind: "view", isOwner: true, probe });
	const member = decideWall({ mode, kind: "box", isOwner: false, probe });
	const missing = [owner, member].find(({ run }) => run !== "walled");
	if (missing && missing.run !== "walled")
		return wrong(
			"walls",
			`${words.split(". What to do: ")[0]}; ${mode === "required" ? "no command runs" : "only the owner has a terminal, and it asks"}`,
			missing.remedy ?? "run Keryx where bubblewrap can make walls",
		);
	const limited = [
		...(limits.open_files === null ? [] : [`${limits.open_files} open files`]),
		...(limits.memory_mb === null ? [] : [`${limits.memory_mb} MB of memory`]),
	];
	const found = [
		words,
		"a box has no network",
		limited.length === 0 ? "no limits are set" : `limits of each process: ${limited.join(", ")}`,
		...rootInWords(walls),
	];
	return fine("walls", found.join("; "));
}

function rootInWords({ root }: Config["walls"]): string[] {
	if (process.getuid?.() !== 0) return [];
	return [
		root === "admin"
			? "Keryx runs as root, and its owner's commands may administer this machine (walls.root: admin)"
			: "Keryx runs as root: an ordinary user of its own is safer, since a command behind a mask can plant files that root runs later",
	];
}

/** Another name of the same file, outside the home, opens it behind every wall. */
function lookAtLinks({ path }: Home): Finding[] {
	const linked = KEYS.filter(
		(name) => (lstatSync(join(path, name), { throwIfNoEntry: false })?.nlink ?? 1) > 1,
	);
	if (linked.length === 0) return [];
	return [
		wrong(
			"hard links",
			`${linked.join(", ")} ${linked.length === 1 ? "has" : "have"} another name, by which a command can read ${linked.length === 1 ? "it" : "them"}`,
			`find the other name with \`find / -samefile ${join(path, linked[0] as string)}\` and remove it`,
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
			`commands do not see ${unseen.toSorted().join(", ")}`,
			`name those that they need: walls.env_pass: [${unseen.toSorted().join(", ")}]`,
		),
	];
}
