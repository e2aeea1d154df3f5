// Whether a channel is alive: from its report, its silence, and how long it may be silent. Pure.
import type { ChannelHealth } from "../channel.ts";

/** States that only its settings or a human can change. */
const SETTLED: ReadonlySet<ChannelHealth["state"]> = new Set(["down", "needs_attention", "stopped"]);

/**
 * Too long a silence is down, whatever the channel reports: a half-open connection believes it is connected. A channel that reports
 * connected without proof has no sign of life to miss.
 */
export function judgeHealth(
	health: ChannelHealth,
	{ silentMs, aliveSeconds }: { readonly silentMs: number; readonly aliveSeconds: number },
): ChannelHealth {
	const unproven = health.state === "connected" && health.provenBy === undefined;
	if (SETTLED.has(health.state) || unproven || silentMs <= aliveSeconds * 1000) return health;
	const silence = `no sign of life for ${Math.floor(silentMs / 1000)} seconds`;
	const detail = health.detail === undefined ? silence : `${silence}; ${health.detail}`;
	return { ...health, state: "down", detail };
}
