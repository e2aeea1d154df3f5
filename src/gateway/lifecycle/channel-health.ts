// Whether a channel lives: from what it says of itself, for how long it has been silent, and how long it may be. Pure.
import type { ChannelHealth } from "../channel.ts";

/** Of a channel that only its own settings or a human can end. */
const SETTLED: ReadonlySet<ChannelHealth["state"]> = new Set(["down", "needs_attention", "stopped"]);

/**
 * Silence past its time is down, whatever the channel believes: a connection that is half open believes that it is connected. One that
 * says it is connected and names no proof of that has no sign of life to miss.
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
