// Every operation that changes transcripts and sessions, in any order, against a model of a few arrays: after each step the
// store must show what the model shows. 12 series in `npm test`, 200 in `npm run test:crash`. A failure prints the seed and the shortest
// series of steps that still fails.
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { it } from "vitest";
import { NO_SECRETS, openStore } from "../src/store/index.ts";
import { countedIds, createWallClock } from "./support/clock.ts";
import { quickFolder } from "./support/quick-folder.ts";
import type { Mortal } from "./support/store-steps.ts";
import { anyStep, compareEverything, worldOn } from "./support/store-worlds.ts";

const RUNS = Number(process.env.KERYX_MODEL_RUNS ?? 12);
const STEPS_A_RUN = 300;
/** For the runs, and for making a failure shorter: a slow machine makes fewer of both. */
const TIME_MS = 60_000 + RUNS * 1000;

it("the store shows what a plain model of it shows, after any series of operations", {
	timeout: 300_000 + RUNS * 2000,
}, async () => {
	await fc.assert(
		fc.asyncProperty(fc.commands(anyStep(), { maxCommands: STEPS_A_RUN, size: "max" }), async (steps) => {
			const clock = createWallClock();
			const folder = quickFolder("keryx-model-");
			const settings = {
				url: `sqlite:${join(folder, "store.db")}`,
				clock,
				ids: countedIds(),
				secrets: NO_SECRETS,
			};
			const mortal = async (): Promise<Mortal> => ({
				store: world.store,
				die: async () => {
					await world.store.close();
					return await openStore(settings);
				},
			});
			const world = await worldOn(await openStore(settings), clock, mortal);
			try {
				await fc.asyncModelRun(() => ({ model: world, real: world }), steps);
				await compareEverything(world);
			} finally {
				await world.store.close();
				rmSync(folder, { recursive: true });
			}
		}),
		{ numRuns: RUNS, interruptAfterTimeLimit: TIME_MS },
	);
});
