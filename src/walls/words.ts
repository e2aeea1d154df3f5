// What a wall means for commands and in status answers: one text for people and models.
import { KERYX } from "../called.ts";
import type { Cgroups, Wall, WallKind, WallLimits } from "./types.ts";

export interface ShownWall extends Pick<Wall, "kind" | "network" | "hosts"> {
	readonly isReadonly: boolean;
}

/** In a few sentences. */
export function wallInWords({ kind, network, hosts, isReadonly }: ShownWall): string {
	const workspace = isReadonly ? "the workspace is read-only" : "the workspace and /tmp are writable";
	const seen: Readonly<Record<WallKind, string>> = {
		view: `commands can read everything on this machine, and ${isReadonly ? workspace : `only ${workspace}`}`,
		mask: `commands see this machine as it is${isReadonly ? `, but ${workspace}` : ""}`,
		box: `commands see only the system's programs; ${workspace}, and HOME is a separate folder`,
	};
	return `Commands run behind the wall ${kind}: ${seen[kind]}. Keryx's own files are hidden. ${networkInWords(network, hosts)}`;
}

function networkInWords(network: Wall["network"], hosts: readonly string[] = []): string {
	if (network === "own") return "The network is on, but nothing on this machine can be reached by it.";
	if (network !== "hosts") return `The network is ${network === "host" ? "on" : "off"}.`;
	return `Of the network, only these hosts can be reached, by http and https through the proxy that http_proxy names: ${hosts.join(", ")}.`;
}

export interface LimitsInWords {
	/** Null: none is requested, or none is in force. */
	readonly inForce: string | null;
	/** Null: all requested ones are in force. */
	readonly missing: { readonly words: string; readonly remedy: string } | null;
}

/** The limits for a program and everything it starts, which need a cgroup. */
export function limitsInWords(
	{ processes, totalMemoryBytes }: Pick<WallLimits, "processes" | "totalMemoryBytes">,
	{ version, pids, memory, problem }: Cgroups,
): LimitsInWords {
	const asked = [
		{ value: processes === null ? null : `${processes} processes`, folder: pids, of: "number of processes" },
		{
			value: totalMemoryBytes === null ? null : `${Math.round(totalMemoryBytes / MB)} MB of memory`,
			folder: memory,
			of: "total memory",
		},
	].filter(({ value }) => value !== null);
	const limited = asked.filter(({ folder }) => folder !== null).map(({ value }) => value);
	const free = asked.filter(({ folder }) => folder === null).map(({ of }) => of);
	const why = CGROUP_PROBLEMS[problem ?? "none"];
	return {
		inForce:
			limited.length === 0
				? null
				: `each program, with everything it starts, gets at most ${limited.join(" and ")} (cgroup v${version})`,
		missing:
			free.length === 0
				? null
				: {
						words: `the ${free.join(" and the ")} of a program has no limit: ${why.words}`,
						remedy: why.remedy,
					},
	};
}

const MB = 1024 * 1024;
const IN_UNIT = "set MemoryMax= and TasksMax= in Keryx's systemd unit to limit it as a whole";
const CGROUP_PROBLEMS = {
	none: { words: "there is no cgroup for it on this machine", remedy: IN_UNIT },
	not_delegated: {
		words: "Keryx's cgroup is not delegated to it",
		remedy: `run it as a service (\`${KERYX} service install\`) with systemd 254 or newer, or ${IN_UNIT}`,
	},
	refused: { words: "Keryx may not make cgroups here", remedy: IN_UNIT },
} as const;

const NO_NETWORK = "it has no network";

/** Phrases in a command's output that show it met its wall. */
const REFUSALS: readonly (readonly [said: RegExp, means: string])[] = [
	[/Read-only file system/, "its wall does not let it write there"],
	[
		/Could not resolve host|Temporary failure in name resolution|Network is unreachable|EAI_AGAIN|ENETUNREACH|getaddrinfo/,
		NO_NETWORK,
	],
	[
		/is not in walls\.box_network|CONNECT tunnel failed, response 403|Received HTTP code 403 from proxy/,
		NO_NETWORK,
	],
	[
		/docker daemon|D-Bus|dbus|error connecting to .*(tmux|agent)|socket: Operation not permitted|EAFNOSUPPORT|Address family not supported/i,
		"it cannot use Unix sockets, so docker, tmux and agents are out of reach",
	],
	[
		/no new privileges|effective uid is not 0|must be setuid root|setresuid|sudo: /,
		"it cannot gain privileges, so sudo and su do not work",
	],
];

/** Why a command probably failed, in words an agent understands; null: not because of its wall. */
export function refusalInWords(
	output: string,
	{ kind, network }: Pick<Wall, "kind" | "network">,
): string | null {
	const [, means] =
		REFUSALS.find(
			([said, means]) =>
				said.test(output) && (network === "none" || network === "hosts" || means !== NO_NETWORK),
		) ?? [];
	if (means === NO_NETWORK && network === "hosts")
		return `Its wall (${kind}) is probably why it failed: it reaches only the hosts in walls.box_network, through the proxy that http_proxy names.`;
	if (means !== undefined) return `Its wall (${kind}) is probably why it failed: ${means}.`;
	if (kind === "box" && /No such file or directory|not found/.test(output))
		return "It ran behind the wall box, which hides most files: the missing file may exist outside it.";
	return null;
}
