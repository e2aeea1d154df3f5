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
const WHILE_DOWN = MESSAGES > 100 ? 200 : 20;
/** How many requests a gateway lives for. Each life costs a start, so that in the small run there are few. */
const CALLS = { least: 20, most: MESSAGES > 100 ? 400 : 300 };

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

async function worldOf(messages: number, chats: number): Promise<DiscordWorld> {
	const bench = new Workbench();
	benches.push(bench);
	return DiscordWorld.create({ bench, random: randomBy(SEED), messages, chats });
}

async function verdictOf(world: DiscordWorld) {
	const store = await open(world.path, "read");
	const verdict = await judge(store, world.judged());
	await store.close();
	await world.peer.close();
	const { counts, shownAfterPress } = world;
	const done = world.done().length;
	console.log(
		`storm on Discord: ${JSON.stringify({ ...counts, done, shownAfterPress, ...verdict, seed: SEED })}`,
	);
	return verdict;
}

test(
	`of ${MESSAGES} messages in ${CHATS} channels each has one end, no answer is seen twice, and order and files are kept`,
	async () => {
		const world = await worldOf(MESSAGES, CHATS);
		const random = randomBy(SEED + 1);
		await world.storm(() => CALLS.least + Math.floor(random() * (CALLS.most - CALLS.least)));
		const { problems, questions } = await verdictOf(world);
		expect(problems, `seed ${SEED}`).toEqual([]);
		expect(questions.asked, `seed ${SEED}`).toBeGreaterThan(world.counts.dangers / 2);
		expect(world.logs, `seed ${SEED}`).toEqual([]);
	},
	120_000 + MESSAGES * 1000,
);

test.each(["resumed", "forgotten"] as const)(
	`${WHILE_DOWN} messages that were sent while Keryx was down are answered in order, none twice: the session is %s`,
	async (session) => {
		const world = await worldOf(3, 10);
		world.calm();
		// A first life, in which each private chat is met: Discord names none of them to a bot.
		expect(await world.live(null)).toBe("drained");
		const before = world.said.length;
		if (session === "forgotten") world.forget();
		world.messages = before + WHILE_DOWN;
		world.writeAll();
		const stranger = world.stranger("does anybody hear me?");
		const { resumed } = world.peer.gateway.counts;
		expect(await world.live(null)).toBe("drained");
		// The gap that cannot be closed: a first private message while the session is lost. The guide says so.
		expect(world.peer.answers(stranger).length > 0).toBe(session === "resumed");
		expect(world.peer.gateway.counts.resumed).toBe(session === "resumed" ? resumed + 1 : resumed);
		expect(world.read() > 0).toBe(session === "forgotten");
		const { problems, dispositions, deliveries } = await verdictOf(world);
		expect(problems).toEqual([]);
		expect(Object.keys(deliveries)).toEqual(["sent"]);
		const { answered = 0, merged = 0, command = 0 } = dispositions;
		expect(answered + merged + command).toBe(before + WHILE_DOWN);
	},
);
