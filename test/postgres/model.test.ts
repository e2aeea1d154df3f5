// Eight clients at once on one PostgreSQL store, each with random operations in its own conversations: each sees what a plain model of a
// store shows that nobody else uses.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, NO_SECRETS, storeOn } from "../../src/store/index.ts";
import { OPERATOR } from "../../src/testing/conformance/store/scene.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { emptied, openOn } from "../support/postgres-store.ts";
import type { Mortal, StepName } from "../support/store-steps.ts";
import { anyStep, compareEverything, type StepCommand, worldOn } from "../support/store-worlds.ts";

const CLIENTS = 8;
const NODES = 4;
/** `npm run test:crash` makes more. */
const RUNS = Number(process.env.KERYX_CLIENT_RUNS ?? 2);
const STEPS_A_CLIENT = 40;
/** These work on whatever is due in the whole store. */
const OF_ALL: readonly StepName[] = ["deliver", "resolve"];

describe("eight clients at once, on four nodes", () => {
	let server: PostgresServer;
	beforeAll(async () => {
		server = await startPostgres();
	});
	afterAll(() => server.remove());

	it("see each what they would see alone, after any series of operations", { timeout: 900_000 }, async () => {
		const series = fc.array(anyStep(OF_ALL)[0] as fc.Arbitrary<StepCommand>, {
			minLength: STEPS_A_CLIENT / 2,
			maxLength: STEPS_A_CLIENT,
		});
		await fc.assert(
			fc.asyncProperty(fc.array(series, { minLength: CLIENTS, maxLength: CLIENTS }), async (clients) => {
				await emptied(server.url());
				const engines = await Promise.all(
					Array.from({ length: NODES }, () => openOn(server.url(), { node: { nodes: "many" } })),
				);
				try {
					await Promise.all(
						clients.map(async (steps, n) => {
							const clock = createWallClock();
							const engine = engines[n % NODES] as Engine;
							const given = { clock, ids: apart(n), secrets: NO_SECRETS };
							const store = storeOn(engine, given);
							const mortal = async (): Promise<Mortal> => {
								const node = storeOn(await openOn(server.url(), { node: { nodes: "many" } }), given);
								return {
									store: node,
									die: async () => {
										await node.close();
										return store;
									},
								};
							};
							const world = await worldOn(store, clock, mortal, [
								{ platform: "telegram", chat_id: `${n}-1`, user_id: `${n}-a` },
								{ platform: "web", chat_id: `${n}-main`, user_id: `${n}-a` },
								{ platform: "telegram", chat_id: `${n}-2`, user_id: `${n}-b` },
							]);
							for (const step of steps) await step.run(world);
							await compareEverything(world);
						}),
					);
					const store = storeOn(engines[0] as Engine, {
						clock: createWallClock(),
						ids: countedIds(),
						secrets: NO_SECRETS,
					});
					expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
				} finally {
					await Promise.all(engines.map((engine) => engine.close()));
				}
			}),
			{ numRuns: RUNS, endOnFailure: true },
		);
	});
});

/** Ids that no other client draws. */
function apart(client: number): ReturnType<typeof countedIds> {
	const ids = countedIds();
	return {
		uuid: () => ids.uuid().replace(/^.{8}/, String(client + 1).padStart(8, "0")),
		bytes: (length) => ids.bytes(length).map((byte, at) => (at === 0 ? client + 1 : byte)),
	};
}
