// A real gateway with its store on disk, on a real XMPP server, through kills and cut lines. 30 messages in `npm test`, 1,000 in
// `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { open, Workbench } from "../crash/support.ts";
import { startProsody } from "../support/prosody.ts";
import { SEED } from "../support/seed.ts";
import { judge } from "./storm/verdict.ts";
import { XmppWorld } from "./storm/xmpp-world.ts";

const MESSAGES = Math.min(1000, Number(process.env.KERYX_STORM_MESSAGES ?? 30));
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));
/** How many messages a gateway lives for. */
const LIFE = MESSAGES > 100 ? { least: 10, most: 80 } : { least: 5, most: 20 };

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

test(
	`of ${MESSAGES} messages in ${CHATS} chats none is lost, each has one end, no answer is seen twice, and order is kept`,
	async () => {
		const bench = new Workbench();
		benches.push(bench);
		const server = await startProsody();
		const world = await XmppWorld.create({
			bench,
			random: randomBy(SEED),
			messages: MESSAGES,
			chats: CHATS,
			server,
		});
		const random = randomBy(SEED + 1);
		while (!world.isTaken) await world.live(LIFE.least + Math.floor(random() * (LIFE.most - LIFE.least)));
		world.calm();
		expect(await world.live(null)).toBe("drained");
		const store = await open(world.path, "read");
		const verdict = await judge(store, world.judged());
		const shown = await world.shown(store);
		await store.close();
		await world.close();
		await server.remove();
		const { counts, logs } = world;
		console.log(`storm on XMPP: ${JSON.stringify({ ...counts, seen: shown.seen, ...verdict, seed: SEED })}`);
		expect([...verdict.problems, ...shown.problems], `seed ${SEED}`).toEqual([]);
		expect(logs).toEqual([]);
		expect(counts.kills).toBeGreaterThan(0);
	},
	600_000 + MESSAGES * 1000,
);
