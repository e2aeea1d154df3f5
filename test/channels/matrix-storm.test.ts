// A real gateway with its store on disk, on Matrix, through everything that breaks: kills, lost answers, pauses, cut lines. 30 messages in
// `npm test`, more in `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { open, Workbench } from "../crash/support.ts";
import { SEED } from "../support/seed.ts";
import { MatrixWorld } from "./storm/matrix-world.ts";
import { judge } from "./storm/verdict.ts";

const MESSAGES = Math.min(1000, Number(process.env.KERYX_STORM_MESSAGES ?? 30));
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));
const WHILE_DOWN = MESSAGES > 100 ? 200 : 40;
/** How many requests a gateway lives for. Each life costs a start, so that in the small run there are few. */
const CALLS = { least: MESSAGES > 100 ? 20 : 40, most: 300 };

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

async function worldOf(messages: number, chats: number): Promise<MatrixWorld> {
	const bench = new Workbench();
	benches.push(bench);
	return MatrixWorld.create({ bench, random: randomBy(SEED), messages, chats });
}

async function verdictOf(world: MatrixWorld) {
	const store = await open(world.path, "read");
	const verdict = await judge(store, world.judged());
	await store.close();
	await world.peer.close();
	console.log(`storm on Matrix: ${JSON.stringify({ ...world.counts, ...verdict, seed: SEED })}`);
	return verdict;
}

test(
	`of ${MESSAGES} messages in ${CHATS} rooms each has one end, no answer is seen twice, and order and files are kept`,
	async () => {
		const world = await worldOf(MESSAGES, CHATS);
		const random = randomBy(SEED + 1);
		await world.storm(() => CALLS.least + Math.floor(random() * (CALLS.most - CALLS.least)));
		const { problems, deliveries } = await verdictOf(world);
		expect(problems, `seed ${SEED}`).toEqual([]);
		// Every lost answer is found again by its transaction.
		expect(Object.keys(deliveries).filter((state) => state !== "sent" && state !== "dead")).toEqual([]);
		expect(world.logs, `seed ${SEED}`).toEqual([]);
		expect(world.counts.kills).toBeGreaterThan(0);
	},
	120_000 + MESSAGES * 1000,
);

test(`${WHILE_DOWN} messages that were sent while Keryx was down are answered in order, none twice`, async () => {
	const world = await worldOf(WHILE_DOWN, 10);
	world.calm();
	// It begins, and dies before anybody has written.
	world.messages = 0;
	expect(await world.live(0)).toBe("killed");
	world.messages = WHILE_DOWN;
	world.writeAll();
	expect(await world.live(null)).toBe("drained");
	const { problems, dispositions, deliveries } = await verdictOf(world);
	expect(problems).toEqual([]);
	expect(Object.keys(deliveries)).toEqual(["sent"]);
	const { answered = 0, merged = 0, command = 0 } = dispositions;
	expect(answered + merged + command).toBeGreaterThanOrEqual(WHILE_DOWN);
});
