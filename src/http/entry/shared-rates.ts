// One rate limit for all gateways on a store. Each counts in memory and broadcasts its counts a few times a second: a row per request
// would be a commit per request. Late counts are charged afterwards, so calling several gateways at once only means waiting longer later.
import { z } from "zod";
import type { Cluster } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Rates } from "./guards.ts";

const EVERY_MS = 100;
/** As many callers as fit into one broadcast. */
const AT_ONCE = 44;

const wireMessage = z.tuple([z.literal("rates"), z.array(z.tuple([z.string(), z.int().positive()]))]);

/** Does nothing without a cluster. */
export function shareRates(
	rates: Rates,
	cluster: Pick<Cluster, "broadcast" | "onBroadcast"> | null,
	after: Clock["after"],
): void {
	if (!cluster) return;
	const taken = new Map<string, number>();
	const tell = () => {
		const all = [...taken];
		taken.clear();
		for (let from = 0; from < all.length; from += AT_ONCE)
			cluster.broadcast(JSON.stringify(["rates", all.slice(from, from + AT_ONCE)]));
	};
	rates.onTaken = (caller) => {
		if (taken.size === 0) after(EVERY_MS, tell);
		taken.set(caller, (taken.get(caller) ?? 0) + 1);
	};
	cluster.onBroadcast((text) => {
		if (!text.startsWith('["rates"')) return;
		const { data } = wireMessage.safeParse(parsed(text));
		for (const [caller, requests] of data?.[1] ?? []) rates.spend(caller, requests);
	});
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
