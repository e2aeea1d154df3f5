// The store on a PostgreSQL server of its own on this machine, which waits for the disk: durable rounds beside a hand-written script.
import { NO_SECRETS, storeOn, systemClock, systemIds } from "../src/store/index.ts";
import { openPostgres } from "../src/store/postgres/engine.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { PgScriptRounds } from "./cluster-script.ts";
import { atLeast, measured, median, type Row } from "./harness.ts";
import { KeryxRounds, LANES } from "./store-rounds.ts";

const CONVERSATIONS = 512;
const SAMPLES = 5;
const SAMPLE_MS = 2500;
const SHARE = 0.5;

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
		const [keryxRate, scriptRate] = [median(ours), median(theirs)];
		const what = `durable rounds on PostgreSQL, ${LANES} lanes, one connection`;
		return [
			measured(what, keryxRate, "/s"),
			measured("the same by a hand-written pg script", scriptRate, "/s"),
			atLeast(SHARE, measured("share of the script", keryxRate / scriptRate, "x")),
		];
	} finally {
		await server.remove();
	}
}
