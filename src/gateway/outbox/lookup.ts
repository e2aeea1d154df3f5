// Asks a platform about a delivery (I7). Never throws and never waits forever: no answer means unknown.
import type { Destination } from "../../store/index.ts";
import { type Clock, within } from "../../time/index.ts";
import type { Channel } from "../channel.ts";

const LOOK_UP_MS = 15_000;

export type LookedUp =
	| Awaited<ReturnType<NonNullable<Channel["lookup"]>>>
	/** The platform can be asked but is not connected: ask again when it is. */
	| { readonly kind: "unreached" }
	/** It was asked, but asking failed or took too long. */
	| { readonly kind: "failed" };

export async function lookUp(
	channel: Channel | undefined,
	{
		id,
		destination,
		createdAt,
	}: { readonly id: string; readonly destination: Destination; readonly createdAt: number },
	clock: Clock,
): Promise<LookedUp> {
	if (!channel?.lookup) return { kind: "unknown" };
	if (!isConnected(channel)) return { kind: "unreached" };
	const { signal } = new AbortController();
	const found = await within(channel.lookup(id, destination, createdAt), {
		clock,
		ms: LOOK_UP_MS,
		signal,
	}).catch(() => ({ kind: "failed" }) as const);
	const isSaid = found.kind === "sent" || found.kind === "absent";
	return isSaid || isConnected(channel) ? found : { kind: "unreached" };
}

function isConnected(channel: Channel): boolean {
	return channel.health().state === "connected";
}
