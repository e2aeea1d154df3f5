// Old conversations of a store that several gateways share are archived by one of them, so that the archives are in one home.
import { afterAll, beforeAll, expect, test } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import { Retention } from "../../src/keeping/index.ts";
import { type Engine, NO_SECRETS, storeOn } from "../../src/store/index.ts";
import { createVirtualClock, trackedEngine } from "../../src/testing/index.ts";
import { countedIds } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { openOn } from "../support/postgres-store.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
});
afterAll(() => server.remove());

test("one gateway looks for old conversations, and another one when it is gone", async () => {
	const asked: string[] = [];
	const engines: Engine[] = [];
	const config = () => configSchema.parse({ retention: { days: 1 } });
	const archivers: { name: string; retention: Retention; clock: ReturnType<typeof createVirtualClock> }[] =
		[];
	for (const name of ["a", "b"]) {
		const engine = await openOn(server.url(), { node: { nodes: "many", name } });
		engines.push(engine);
		const tracked = trackedEngine(engine);
		const clock = createVirtualClock(Date.UTC(2026, 0, 1), { settle: tracked.idle });
		const store = storeOn(
			{
				...tracked,
				cluster: engine.cluster,
				read: (what, args) => {
					if (what === "pruneCandidates") asked.push(name);
					return tracked.read(what, args);
				},
			},
			{ clock, ids: countedIds(), secrets: NO_SECRETS },
		);
		const retention = new Retention({
			store,
			clock,
			config,
			folder: "/nowhere",
			warn: (text) => asked.push(text),
		});
		archivers.push({ name, retention, clock });
	}
	const day = async () => {
		for (const { clock } of archivers) await clock.advance(86_400_000);
		return new Set(asked.splice(0));
	};
	// One after the other: whoever looks first has the duty.
	for (const { retention, clock } of archivers) {
		retention.start();
		await clock.advance(0);
	}
	expect(await day()).toEqual(new Set(["a"]));
	const [first] = archivers.splice(0, 1);
	await first?.retention.stop();
	await engines[0]?.close();
	expect(await day()).toEqual(new Set(["b"]));
	await archivers[0]?.retention.stop();
	await engines[1]?.close();
});
