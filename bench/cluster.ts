// The store on a PostgreSQL server of its own on this machine, which waits for the disk: durable rounds beside a hand-written
// script, two nodes beside one, how soon one sees what another has done, and how soon it takes over from one that was killed.
import { NO_SECRETS, storeOn, systemClock, systemIds } from "../src/store/index.ts";
import { openPostgres } from "../src/store/postgres/engine.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { LEASE, takeOvers } from "./cluster-kills.ts";
import { oneAndTwo, openNode, visibleElsewhere } from "./cluster-nodes.ts";
import { PgScriptRounds } from "./cluster-script.ts";
import { atLeast, atMost, measured, median, type Row } from "./harness.ts";
import { KeryxRounds, LANES } from "./store-rounds.ts";

const CONVERSATIONS = 512;
const SAMPLES = 5;
const SAMPLE_MS = 2500;
const SHARE = 0.5;
const KILLS = Number(process.env.KERYX_BENCH_KILLS ?? 50);

export async function measureCluster(): Promise<Row[]> {
	const server = await startPostgres({ durable: true, settings: { shared_buffers: "256MB" } });
	try {
		const engine = await openPostgres({ url: server.url(), startedAt: 0, access: "own" });
		const store = storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
		const keryx = new KeryxRounds(store);
		for (let n = 0; n < CONVERSATIONS; n += LANES)
			await Promise.all(Array.from({ length: LANES }, (_, lane) => keryx.round(n + lane)));
		const script = await PgScriptRounds.open(server.url(), 1);
		const pick = (lane: number) => lane + LANES * Math.floor(Math.random() * (CONVERSATIONS / LANES));
		const ours: number[] = [];
		const theirs: number[] = [];
		// In turns, so that a slow minute of the machine is in both.
		for (let n = 0; n < SAMPLES; n++) {
			ours.push(await keryx.rate(pick, SAMPLE_MS));
			theirs.push(await script.rate(pick, SAMPLE_MS));
		}
		await script.close();
		await store.close();
		const apart = await together(server.url());
		const kills = await takeOvers(server.url(), KILLS);
		const [keryxRate, scriptRate] = [median(ours), median(theirs)];
		const what = `durable rounds on PostgreSQL, ${LANES} lanes, one connection`;
		return [
			measured(what, keryxRate, "/s"),
			measured("the same by a hand-written pg script", scriptRate, "/s"),
			atLeast(SHARE, measured("share of the script", keryxRate / scriptRate, "x")),
			...apart,
			measured(
				`answers cut off by ${KILLS} kills of one of three gateways, given by others: median`,
				median(kills) / 1000,
				"s",
			),
			atMost(LEASE.seconds + 5, measured("the slowest of them", Math.max(...kills) / 1000, "s")),
		];
	} finally {
		await server.remove();
	}
}

/** One node beside two that share the same lanes, and how soon one sees what the other has committed. */
async function together(url: string): Promise<Row[]> {
	const { one, two } = await oneAndTwo(url, { samples: SAMPLES, ms: SAMPLE_MS });
	const nodes = [await openNode(url), await openNode(url)] as const;
	const p95 = await visibleElsewhere(...nodes);
	for (const node of nodes) await node.close();
	return [
		atLeast(0.9, measured("two nodes beside one, the same lanes", two / one, "x")),
		atMost(200, measured("from a commit at one node to a view at another, p95", p95, "ms")),
	];
}
