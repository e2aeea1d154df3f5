// What a wall means for whoever writes commands, and for whoever asks how things stand: one text for people and models.
import type { Wall, WallKind } from "./types.ts";

export interface ShownWall extends Pick<Wall, "kind" | "network"> {
	readonly isReadonly: boolean;
}

/** In a few sentences. */
export function wallInWords({ kind, network, isReadonly }: ShownWall): string {
	const workspace = isReadonly
		? "the workspace can be read and not written"
		: "the workspace and /tmp can be written";
	const seen: Readonly<Record<WallKind, string>> = {
		view: `everything on this machine can be read, and of it only ${workspace}`,
		mask: `the machine is as it is${isReadonly ? `, but ${workspace}` : ""}`,
		box: `only the system's programs are there, ${workspace}, and HOME is a folder of its own`,
	};
	return `Commands run behind the wall ${kind}: ${seen[kind]}. Keryx itself is not there. The network is ${network === "host" ? "on" : "off"}.`;
}

/** What a command says when it meets its wall: in what it printed, the words of the system for it. */
const REFUSALS: readonly (readonly [said: RegExp, means: string])[] = [
	[/Read-only file system/, "it wrote where its wall lets nothing be written"],
	[
		/Could not resolve host|Temporary failure in name resolution|Network is unreachable|EAI_AGAIN|ENETUNREACH|getaddrinfo/,
		"it has no network",
	],
	[
		/docker daemon|D-Bus|dbus|error connecting to .*(tmux|agent)|socket: Operation not permitted|EAFNOSUPPORT|Address family not supported/i,
		"it has no Unix sockets, so docker, tmux and agents cannot be reached",
	],
	[
		/no new privileges|effective uid is not 0|must be setuid root|setresuid|sudo: /,
		"it cannot get more privileges, so sudo and su do not work",
	],
];

/** Why a command that failed probably did, in words that an agent understands; null: not because of its wall. */
export function refusalInWords(
	output: string,
	{ kind, network }: Pick<Wall, "kind" | "network">,
): string | null {
	const [, means] =
		REFUSALS.find(
			([said, means]) => said.test(output) && (network === "none" || means !== "it has no network"),
		) ?? [];
	if (means !== undefined) return `Its wall (${kind}) is probably why it failed: ${means}.`;
	if (kind === "box" && /No such file or directory|not found/.test(output))
		return "It ran behind the wall box: what it missed may be there, and not be shown to it.";
	return null;
}
