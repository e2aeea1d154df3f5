// A real gateway with its store on disk, on Discord, through everything that breaks: kills, lost answers, pauses, disconnects, duplicates,
// sessions that are forgotten. 30 messages in `npm test`, 10,000 in `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { open, Workbench } from "../crash/support.ts";
import { SEED } from "../support/seed.ts";
import { DiscordWorld } from "./storm/discord-world.ts";
import { judge } from "./storm/verdict.ts";

const MESSAGES = Number(process.env.KERYX_STORM_MESSAGES ?? 30);
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));
/** How many requests a gateway lives for. Each life costs a start, so that in the small run there are few. */
const CALLS = { least: MESSAGES > 100 ? 5 : 30, most: 300 };

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

test(
	`of ${MESSAGES} messages in ${CHATS} channels each has one end, no answer is seen twice, and order and files are kept`,
	async () => {
		const bench = new Workbench();
		benches.push(bench);
		const world = await DiscordWorld.create({
			bench,
			random: randomBy(SEED),
			messages: MESSAGES,
			chats: CHATS,
		});
		const random = randomBy(SEED + 1);
		while (!world.isTaken) await world.live(CALLS.least + Math.floor(random() * (CALLS.most - CALLS.least)));
		expect(await world.live(null)).toBe("drained");
		const store = await open(world.path, "read");
		const verdict = await judge(store, world.judged());
		await store.close();
		await world.peer.close();
		console.log(`storm: ${JSON.stringify({ ...world.counts, ...verdict, seed: SEED })}`);
		expect(verdict.problems, `seed ${SEED}`).toEqual([]);
		expect(world.logs, `seed ${SEED}`).toEqual([]);
	},
	60_000 + MESSAGES * 600,
);
