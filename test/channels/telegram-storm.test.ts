// A real gateway with its store on disk, on Telegram, through everything that breaks: kills, lost answers, pauses, disconnects, duplicates,
// updates out of order. 30 messages in `npm test`, 10,000 in `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { open, Workbench } from "../crash/support.ts";
import { SEED } from "../support/seed.ts";
import { TelegramWorld } from "./storm/telegram-world.ts";
import { judge } from "./storm/verdict.ts";

const MESSAGES = Number(process.env.KERYX_STORM_MESSAGES ?? 30);
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));
/** The same storm where Telegram posts to Keryx, with fewer messages. */
const POSTED = MESSAGES > 100 ? Math.ceil(MESSAGES / 5) : 12;
const WHILE_DOWN = MESSAGES > 100 ? 200 : 40;
/** How many calls of the Bot API a gateway lives for. Each life costs a start, so that in the small run there are few. */
const CALLS = { least: MESSAGES > 100 ? 10 : 30, most: 300 };

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

async function worldOf(messages: number, chats: number, isPosted = false): Promise<TelegramWorld> {
	const bench = new Workbench();
	benches.push(bench);
	return TelegramWorld.create({ bench, random: randomBy(SEED), messages, chats, isPosted });
}

async function verdictOf(world: TelegramWorld) {
	const store = await open(world.path, "read");
	const verdict = await judge(store, world.judged());
	await store.close();
	await world.peer.close();
	const { counts, shownAfterPress } = world;
	const done = world.done().length;
	console.log(
		`storm on Telegram: ${JSON.stringify({ ...counts, done, shownAfterPress, ...verdict, seed: SEED })}`,
	);
	return verdict;
}

async function storm(world: TelegramWorld): Promise<void> {
	const random = randomBy(SEED + 1);
	await world.storm(() => CALLS.least + Math.floor(random() * (CALLS.most - CALLS.least)));
	const { problems, questions } = await verdictOf(world);
	expect(problems, `seed ${SEED}`).toEqual([]);
	expect(questions.asked, `seed ${SEED}`).toBeGreaterThan(world.counts.dangers / 2);
	expect(world.logs, `seed ${SEED}`).toEqual([]);
}

test(
	`of ${MESSAGES} messages in ${CHATS} chats each has one end, no answer is seen twice, and order and files are kept`,
	async () => storm(await worldOf(MESSAGES, CHATS)),
	120_000 + MESSAGES * 1000,
);

test(
	`the same for ${POSTED} messages that Telegram posts, where gateways also die between a commit and their 200`,
	async () => {
		const world = await worldOf(POSTED, Math.ceil(POSTED / 4), true);
		await storm(world);
		expect(world.counts.kills).toBeGreaterThan(0);
	},
	120_000 + POSTED * 1000,
);

test(`${WHILE_DOWN} messages that were sent while Keryx was down are answered in order, none twice`, async () => {
	const world = await worldOf(WHILE_DOWN, 10);
	world.calm();
	world.writeAll();
	expect(await world.live(null)).toBe("drained");
	const { problems, dispositions, deliveries } = await verdictOf(world);
	expect(problems).toEqual([]);
	expect(Object.keys(deliveries)).toEqual(["sent"]);
	const { answered = 0, merged = 0, command = 0 } = dispositions;
	expect(answered + merged + command).toBeGreaterThanOrEqual(WHILE_DOWN);
});
