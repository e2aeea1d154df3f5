// What a wall means for whoever writes commands, and for whoever asks how things stand: one text for people and models.
import type { Wall, WallKind } from "./types.ts";

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
	if (network !== "hosts") return `The network is ${network === "host" ? "on" : "off"}.`;
	return `Of the network, only these hosts can be reached, by http and https through the proxy that http_proxy names: ${hosts.join(", ")}.`;
}

const NO_NETWORK = "it has no network";

/** What a command says when it meets its wall: in what it printed, the words of the system for it. */
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

/** Why a command that failed probably did, in words that an agent understands; null: not because of its wall. */
export function refusalInWords(
	output: string,
	{ kind, network }: Pick<Wall, "kind" | "network">,
): string | null {
	const [, means] =
		REFUSALS.find(([said, means]) => said.test(output) && (network !== "host" || means !== NO_NETWORK)) ?? [];
	if (means === NO_NETWORK && network === "hosts")
		return `Its wall (${kind}) is probably why it failed: it reaches only the hosts in walls.box_network, through the proxy that http_proxy names.`;
	if (means !== undefined) return `Its wall (${kind}) is probably why it failed: ${means}.`;
	if (kind === "box" && /No such file or directory|not found/.test(output))
		return "It ran behind the wall box, which hides most files: the missing file may exist outside it.";
	return null;
}
