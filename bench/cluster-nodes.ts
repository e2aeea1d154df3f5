// Several nodes on one store: how much their coordination costs, and how soon one sees what another has committed.
import { fork } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Feed } from "../src/http/events/feed.ts";
import { NO_SECRETS, OPERATOR, type Store, storeOn, systemClock, systemIds } from "../src/store/index.ts";
import { openPostgres } from "../src/store/postgres/engine.ts";
import type { RoundOrders } from "./cluster-rounds.ts";
import { median } from "./harness.ts";
import { PLATFORM, ROUTING, sourceOf, TEXT } from "./store-data.ts";
import { LANES } from "./store-rounds.ts";

const SEEN = 300;
/** The platform that each node holds: it alone sends what is for it. */
const HELD = ["telegram", "discord"];

export async function openNode(url: string): Promise<Store> {
	const engine = await openPostgres({ url, startedAt: 0, access: "own", node: { nodes: "many" } });
	return storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
}

/** Rounds a second of one node, and of two that share the lanes: each in a process of its own, as gateways are. In turns. */
export async function oneAndTwo(
	url: string,
	{ samples, ms }: { readonly samples: number; readonly ms: number },
): Promise<{ readonly one: number; readonly two: number }> {
	const nodes = await Promise.all(HELD.map((platform) => startRounds(url, platform)));
	const one: number[] = [];
	const two: number[] = [];
	try {
		for (let n = 0; n < samples; n++) {
			one.push((await nodes[0]?.({ lanes: LANES, ms })) ?? 0);
			const rates = await Promise.all(nodes.map((rate) => rate({ lanes: LANES / nodes.length, ms })));
			two.push(rates.reduce((sum, rate) => sum + rate, 0));
		}
	} finally {
		await Promise.all(nodes.map((rate) => rate(null)));
	}
	return { one: median(one), two: median(two) };
}

/** Null: it ends. */
type Rate = (orders: RoundOrders | null) => Promise<number>;

async function startRounds(url: string, platform: string): Promise<Rate> {
	const others = HELD.filter((other) => other !== platform);
	const child = fork(fileURLToPath(new URL("cluster-rounds.ts", import.meta.url)), [
		url,
		platform,
		...others,
	]);
	await once(child, "message");
	return async (orders) => {
		const answered = once(child, orders ? "message" : "exit");
		child.send(orders ?? "end");
		const [rate] = (await answered) as [number];
		return rate;
	};
}

/** From a commit at one node until a live view at the other has its event, in milliseconds: the 95th of a hundred. */
export async function visibleElsewhere(a: Store, b: Store): Promise<number> {
	const leaving = new AbortController();
	const times: number[] = [];
	const committed = new Map<string, number>();
	let heard = () => {};
	const view = (async () => {
		const feed = new Feed(b, null);
		for await (const frames of feed.follow({ scope: OPERATOR, after: "now", signal: leaving.signal }))
			for (const frame of frames) {
				if (frame.kind === "hello") heard();
				if (frame.kind !== "event" || frame.event.type !== "inbound.accepted") continue;
				const at = committed.get(frame.event.subject ?? "");
				if (at !== undefined) times.push(performance.now() - at);
				heard();
			}
	})();
	await new Promise<void>((resolve) => {
		heard = resolve;
	});
	for (let n = 0; n < SEEN; n++) {
		const seen = new Promise<void>((resolve) => {
			heard = resolve;
		});
		const { id } = await a.accept({
			kind: "person",
			source: sourceOf(n),
			platformMessage: `${PLATFORM} seen ${process.pid} ${n}`,
			content: TEXT,
			routing: ROUTING,
			as: { kind: "accept" },
		});
		committed.set(String(id), performance.now());
		await seen;
	}
	leaving.abort();
	await view;
	times.sort((x, y) => x - y);
	return times[Math.floor(times.length * 0.95)] ?? Number.NaN;
}
