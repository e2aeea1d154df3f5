// A real gateway with its store on disk, on Slack, through everything that breaks: kills, lost answers, pauses, connections that are cut
// or moved, duplicates, events out of order. 20 messages in `npm test`, 10,000 in `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { open, Workbench } from "../crash/support.ts";
import { SEED } from "../support/seed.ts";
import { SlackWorld } from "./storm/slack-world.ts";
import { judge } from "./storm/verdict.ts";

const MESSAGES = Number(process.env.KERYX_STORM_MESSAGES ?? 20);
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));
/** The same storm where Slack posts to Keryx, with fewer messages. */
const POSTED = MESSAGES > 100 ? Math.ceil(MESSAGES / 5) : 12;
const WHILE_DOWN = MESSAGES > 100 ? 200 : 20;
/** How many calls of the Web API a gateway lives for. Each life costs a start, so that in the small run there are few. */
const CALLS = MESSAGES > 100 ? { least: 20, most: 400 } : { least: 30, most: 45 };
const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

async function worldOf(messages: number, chats: number, isPosted = false): Promise<SlackWorld> {
	const bench = new Workbench();
	benches.push(bench);
	return SlackWorld.create({ bench, random: randomBy(SEED), messages, chats, isPosted });
}

async function verdictOf(world: SlackWorld) {
	const store = await open(world.path, "read");
	const verdict = await judge(store, world.judged());
	await store.close();
	await world.peer.close();
	const { counts, shownAfterPress } = world;
	const done = world.done().length;
	console.log(
		`storm on Slack: ${JSON.stringify({ ...counts, done, shownAfterPress, ...verdict, seed: SEED })}`,
	);
	return verdict;
}

async function storm(world: SlackWorld): Promise<void> {
	const random = randomBy(SEED + 1);
	await world.storm(() => CALLS.least + Math.floor(random() * (CALLS.most - CALLS.least)));
	const { problems, questions } = await verdictOf(world);
	expect(problems, `seed ${SEED}`).toEqual([]);
	expect(questions.asked, `seed ${SEED}`).toBeGreaterThan(world.counts.dangers / 2);
	expect(world.logs, `seed ${SEED}`).toEqual([]);
	expect(world.counts.kills).toBeGreaterThan(0);
}

test(
	`of ${MESSAGES} messages in ${CHATS} chats each has one end, no answer is seen twice, and order and files are kept`,
	async () => storm(await worldOf(MESSAGES, CHATS)),
	120_000 + MESSAGES * 1000,
);

test(
	`the same for ${POSTED} messages that Slack posts, where gateways also die between a commit and their 200`,
	async () => storm(await worldOf(POSTED, Math.ceil(POSTED / 4), true)),
	120_000 + POSTED * 1000,
);

test(`${WHILE_DOWN} messages that were sent while Keryx was down are answered in order, none twice`, async () => {
	const world = await worldOf(1, 10);
	world.calm();
	// A first life, so that there is a place to go on from.
	expect(await world.live(null)).toBe("drained");
	world.messages = WHILE_DOWN;
	world.writeAll();
	expect(await world.live(null)).toBe("drained");
	const { problems, dispositions, deliveries } = await verdictOf(world);
	expect(problems).toEqual([]);
	expect(Object.keys(deliveries)).toEqual(["sent"]);
	const { answered = 0, merged = 0, command = 0 } = dispositions;
	expect(answered + merged + command).toBe(WHILE_DOWN);
	expect(world.peer.calls.filter(({ method }) => method === "conversations.history").length).toBeGreaterThan(
		0,
	);
});
