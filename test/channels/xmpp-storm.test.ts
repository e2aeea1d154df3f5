// A real gateway with its store on disk, on a real XMPP server, through kills and cut lines. 30 messages in `npm test`, 1,000 in
// `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { Workbench } from "../crash/support.ts";
import { startProsody } from "../support/prosody.ts";
import { SEED } from "../support/seed.ts";
import { XmppWorld } from "./storm/xmpp-world.ts";

const MESSAGES = Math.min(1000, Number(process.env.KERYX_STORM_MESSAGES ?? 30));
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));

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
		const { problems, report } = await world.storm(SEED + 1);
		await server.remove();
		console.log(`storm on XMPP: ${JSON.stringify({ ...report, seed: SEED })}`);
		expect(problems, `seed ${SEED}`).toEqual([]);
		expect(world.logs).toEqual([]);
		expect(world.counts.kills).toBeGreaterThan(0);
	},
	600_000 + MESSAGES * 1000,
);
