// A gateway that is killed again and again while its platforms misbehave (I1, I3-I7). In `npm test` with 200 messages, in
// `npm run test:crash` with 10,000.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "./crash/acks.ts";
import { open, Workbench } from "./crash/support.ts";
import { SEED } from "./support/seed.ts";
import { judge } from "./torture/verdict.ts";
import { World } from "./torture/world.ts";

const MESSAGES = Number(process.env.KERYX_TORTURE_MESSAGES ?? 200);
const CONVERSATIONS = Math.min(500, Math.ceil(MESSAGES / 12));
/** How long a gateway lives at most, counted in what reaches its platforms and in writes to its store. */
const PROGRESS = 300;
const WRITES = 800;
/** Some die while they take up what the one before has left. */
const FEW_WRITES = 40;
/** After everything was taken, while what is left is worked off. */
const LATE_KILLS = 3;

const bench = new Workbench();
afterAll(() => bench.end());

test(
	`of ${MESSAGES} messages through kills, redeliveries, pauses and lost answers each has one end, and no answer is seen twice`,
	async ({ onTestFailed }) => {
		console.log(`torture: begins with seed ${SEED}`);
		onTestFailed(() =>
			console.error(`torture: failed with seed ${SEED}: KERYX_SEED=${SEED} repeats its chances`),
		);
		const random = randomBy(SEED);
		const world = await World.create({ bench, random, messages: MESSAGES, conversations: CONVERSATIONS });
		const upTo = (most: number) => 1 + Math.floor(random() * most);
		const nextKill = () => {
			if (random() < 0.5) return { afterProgress: upTo(PROGRESS) };
			return { atWrite: upTo(random() < 0.5 ? WRITES : FEW_WRITES) };
		};
		while (!world.isTaken) await world.live(nextKill());
		for (let n = 0; n < LATE_KILLS; n++) await world.live({ atWrite: upTo(FEW_WRITES) });
		expect(await world.live(null)).toBe("drained");
		await world.close();

		const store = await open(world.path, "read");
		const verdict = await judge(store, world);
		await store.close();
		const { problems, ...counts } = verdict;
		console.log(`torture: ${JSON.stringify({ messages: MESSAGES, ...world.counts, ...counts, seed: SEED })}`);
		expect(problems, `seed ${SEED}`).toEqual([]);
		expect(world.logs, `seed ${SEED}`).toEqual([]);
		for (const what of ["kills", "redeliveries", "duplicates", "pauses", "lost"] as const)
			expect(world.counts[what], what).toBeGreaterThan(0);
	},
	60_000 + MESSAGES * 300,
);
