// A real gateway with its store on disk, on a real IRC server, through kills and cut lines. 30 messages in `npm test`, 1,000 in
// `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { Workbench } from "../crash/support.ts";
import { startNgircd } from "../support/ngircd.ts";
import { SEED } from "../support/seed.ts";
import { IrcWorld } from "./storm/irc-world.ts";

const MESSAGES = Math.min(1000, Number(process.env.KERYX_STORM_MESSAGES ?? 30));
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

test(
	`of ${MESSAGES} messages in ${CHATS} chats each that was taken has one end, none is lost while the line stands, no answer is seen twice, and order is kept`,
	async () => {
		const bench = new Workbench();
		benches.push(bench);
		const server = await startNgircd();
		const world = await IrcWorld.create({
			bench,
			random: randomBy(SEED),
			messages: MESSAGES,
			chats: CHATS,
			port: server.port,
		});
		const { problems, report } = await world.storm(SEED + 1);
		await server.remove();
		console.log(`storm on IRC: ${JSON.stringify({ lost: world.lost.length, ...report, seed: SEED })}`);
		expect([...problems, ...world.unexcused], `seed ${SEED}`).toEqual([]);
		expect(world.logs).toEqual([]);
		expect(world.counts.kills).toBeGreaterThan(0);
	},
	120_000 + MESSAGES * 1000,
);
