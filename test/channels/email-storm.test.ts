// A real gateway with its store on disk, on a real IMAP server, through kills and cut lines. 30 mails in `npm test`, 1,000 in
// `npm run test:crash`.
import { afterAll, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { Workbench } from "../crash/support.ts";
import { startDovecot } from "../support/dovecot.ts";
import { openPostOffice } from "../support/post-office.ts";
import { SEED } from "../support/seed.ts";
import { EmailWorld } from "./storm/email-world.ts";

const MESSAGES = Math.min(1000, Number(process.env.KERYX_STORM_MESSAGES ?? 30));
const CHATS = Math.min(50, Math.ceil(MESSAGES / 5));

const benches: Workbench[] = [];
afterAll(() => {
	for (const bench of benches) bench.end();
});

test(
	`of ${MESSAGES} mails in ${CHATS} threads none is lost, each has one end, no answer is seen twice, and order is kept`,
	async () => {
		const bench = new Workbench();
		benches.push(bench);
		const dovecot = await startDovecot();
		const office = await openPostOffice(dovecot);
		const world = await EmailWorld.create({
			bench,
			random: randomBy(SEED),
			messages: MESSAGES,
			chats: CHATS,
			office,
		});
		const { problems, report } = await world.storm(SEED + 1);
		await office.close();
		await dovecot.remove();
		console.log(`storm of mails: ${JSON.stringify({ ...report, seed: SEED })}`);
		expect(problems, `seed ${SEED}`).toEqual([]);
		expect(world.logs).toEqual([]);
		expect(world.counts.kills).toBeGreaterThan(0);
	},
	120_000 + MESSAGES * 1000,
);
