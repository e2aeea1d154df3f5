// Asking a platform what became of a delivery (I7). Never throws and never waits for ever: what nobody says is unknown.
import type { Destination } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { Channel } from "./channel.ts";
import { within } from "./deadline.ts";

const LOOK_UP_MS = 15_000;

type LookedUp = Awaited<ReturnType<NonNullable<Channel["lookup"]>>>;

export async function lookUp(
	channel: Channel | undefined,
	{ id, destination }: { readonly id: string; readonly destination: Destination },
	clock: Clock,
): Promise<LookedUp> {
	const asked = channel?.lookup?.(id, destination);
	if (!asked) return { kind: "unknown" };
	const { signal } = new AbortController();
	return within(asked, { clock, ms: LOOK_UP_MS, signal }).catch(() => ({ kind: "unknown" }));
}
