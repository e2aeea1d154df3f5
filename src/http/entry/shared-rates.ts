// One limit for all gateways on a store. Each counts in memory and tells the others what passed, a few times a second: a row for each request
// would be a commit for each. What was told late is paid back: whoever asks several gateways at once waits longer afterwards.
import { z } from "zod";
import type { Cluster } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Rates } from "./guards.ts";

const EVERY_MS = 100;
/** So many callers fit in what may be told at once. */
const AT_ONCE = 44;

const wireMessage = z.tuple([z.literal("rates"), z.array(z.tuple([z.string(), z.int().positive()]))]);

/** Nothing happens where there is no cluster. */
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
