// Several nodes on one store: how much their coordination costs, and how soon one sees what another has committed.
import { performance } from "node:perf_hooks";
import { Feed } from "../src/http/events/feed.ts";
import { NO_SECRETS, OPERATOR, type Store, storeOn, systemClock, systemIds } from "../src/store/index.ts";
import { openPostgres } from "../src/store/postgres/engine.ts";
import { PLATFORM, ROUTING, sourceOf, TEXT } from "./store-data.ts";
import { type KeryxRounds, LANES, type Pick } from "./store-rounds.ts";

const SEEN = 300;

export async function openNode(url: string): Promise<Store> {
	const engine = await openPostgres({ url, startedAt: 0, access: "own", node: { nodes: "many" } });
	return storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
}

/** Rounds a second of several nodes together, which share the lanes. */
export async function rateTogether(nodes: readonly KeryxRounds[], pick: Pick, ms: number): Promise<number> {
	const share = LANES / nodes.length;
	const rates = await Promise.all(
		nodes.map((rounds, n) => rounds.rate((lane) => pick(n * share + lane), ms, share)),
	);
	return rates.reduce((sum, rate) => sum + rate, 0);
}

/** From a commit at one node until a live view at the other has its event, in milliseconds: the 95th of a hundred. */
export async function visibleElsewhere(a: Store, b: Store): Promise<number> {
	const leaving = new AbortController();
	const times: number[] = [];
	const committed = new Map<string, number>();
	let heard = () => {};
	const view = (async () => {
		const feed = new Feed(b, null);
		for await (const frame of feed.follow({ scope: OPERATOR, after: "now", signal: leaving.signal })) {
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
