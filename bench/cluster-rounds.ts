// One node in a process of its own, which makes rounds when told: `cluster-rounds.ts <url> <platform> <platforms of others>`.
import { on } from "node:events";
import { openNode } from "./cluster-nodes.ts";
import { KeryxRounds, LANES } from "./store-rounds.ts";

export interface RoundOrders {
	readonly lanes: number;
	readonly ms: number;
}

const CONVERSATIONS = 512;
const [url = "", platform = "", ...others] = process.argv.slice(2);

const store = await openNode(url);
const rounds = new KeryxRounds(store, { platform, others });
for (let n = 0; n < CONVERSATIONS; n += LANES)
	await Promise.all(Array.from({ length: LANES }, (_, lane) => rounds.round(n + lane)));
process.send?.("ready");
for await (const [orders] of on(process, "message") as AsyncIterable<[RoundOrders | "end"]>) {
	if (orders === "end") break;
	const { lanes, ms } = orders;
	const pick = (lane: number) => lane + lanes * Math.floor(Math.random() * (CONVERSATIONS / lanes));
	process.send?.(await rounds.rate(pick, ms, lanes));
}
await store.close();
process.disconnect();
