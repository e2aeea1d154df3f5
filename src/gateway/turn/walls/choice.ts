// Chooses a wall by configuration, role and profile. Pure: what this machine can make of it is decided in machine.ts.
import type { Config } from "../../../config/index.ts";
import { isAtLeast, type Standing } from "../../../domain/index.ts";
import type { Wall, WallKind, WallLimits } from "../../../walls/index.ts";

export interface WallChoice {
	readonly kind: WallKind;
	readonly isReadonly: boolean;
	readonly network: Wall["network"];
	/** If the network is a list of hosts. */
	readonly hosts?: readonly string[];
}

/** Defaults: lower roles see less. */
const BY_ROLE = { owner: "view", member: "box", guest: "box" } as const;
const WIDER: Readonly<Record<WallKind, WallKind>> = { box: "view", view: "mask", mask: "mask" };

/** By role and profile. In readonly, everyone is in a read-only box. Pure. */
export function chooseWall(
	{ walls, approvals }: Pick<Config, "walls" | "approvals">,
	{ profile, standing }: { readonly profile: string; readonly standing: Standing },
	isWider = false,
): WallChoice {
	if (approvals.mode === "readonly") return { kind: "box", isReadonly: true, network: "none" };
	const role = standing === "none" ? "guest" : standing;
	const own = Object.hasOwn(walls.by_profile, profile) ? walls.by_profile[profile]?.[role] : undefined;
	const usual = own ?? walls.by_role[role] ?? BY_ROLE[role];
	const kind = isWider ? WIDER[usual] : usual;
	return { kind, isReadonly: false, ...networkOf(walls, kind, role) };
}

/** For a program the operator chose. */
export function programChoice(
	{ walls, approvals }: Pick<Config, "walls" | "approvals">,
	kind: WallKind,
	standing: Standing,
): WallChoice {
	return { kind, isReadonly: approvals.mode === "readonly", ...networkOf(walls, kind, standing) };
}

/** A box never gets the host's network, which includes its loopback: it has its own, or reaches only configured hosts, or has none. */
function networkOf(
	{ network, box_network }: Config["walls"],
	kind: WallKind,
	standing: Standing,
): Pick<WallChoice, "network" | "hosts"> {
	if (!isAtLeast(standing, "member")) return { network: "none" };
	if (kind !== "box") return { network: network === "on" ? "host" : "none" };
	if (box_network === "off") return { network: "none" };
	return box_network === "on" ? { network: "own" } : { network: "hosts", hosts: box_network };
}

export function limitsOf({ limits }: Pick<Config["walls"], "limits">): WallLimits {
	const bytes = (mb: number | null) => (mb === null ? null : mb * 1024 * 1024);
	return {
		openFiles: limits.open_files,
		memoryBytes: bytes(limits.memory_mb),
		processes: limits.processes,
		totalMemoryBytes: bytes(limits.total_memory_mb),
	};
}
