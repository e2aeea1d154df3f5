// I7 and I19 over many random schedules: `npm test` plays a sample, `npm run test:crash` 10,000. KERYX_ORDER_SCHEDULES says how many,
// KERYX_ORDER_SEED which ones.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Counts, play, schedules, weathers } from "./order-world.ts";

const SCHEDULES = Number(process.env.KERYX_ORDER_SCHEDULES ?? 150);
const SEED = Number(process.env.KERYX_ORDER_SEED ?? 14);
/** Chats that share one gateway, and its restarts. */
const AT_ONCE = 50;

test(`I7, I19: in ${SCHEDULES} random schedules of parts, previews, notices, pauses, lost answers and restarts nothing is shown twice, or out of order`, {
	timeout: 3_600_000,
}, async () => {
	const total: Counts = { shown: 0, previews: 0, pauses: 0, lost: 0, deaths: 0, late: 0, resent: 0 };
	for (let played = 0, batch = 0; played < SCHEDULES; played += AT_ONCE, batch++) {
		const seed = SEED * 100_000 + batch;
		const chats = fc.sample(schedules, { numRuns: Math.min(AT_ONCE, SCHEDULES - played), seed });
		const [weather = []] = fc.sample(weathers, { numRuns: 1, seed });
		const { problems, counts } = await play(chats, weather);
		for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += counts[name];
		if (problems.length === 0) continue;
		// One of them alone is easier to look at.
		for (const chat of chats) {
			const alone = await play([chat], weather);
			if (alone.problems.length > 0)
				expect.fail(
					`seed ${seed}: ${alone.problems.join("\n")}\n${JSON.stringify({ chat, weather }, null, 1)}`,
				);
		}
		expect.fail(`seed ${seed}, only together: ${problems.join("\n")}\n${JSON.stringify(weather)}`);
	}
	console.log(`${SCHEDULES} schedules: ${JSON.stringify(total)}, 0 inversions, 0 duplicates`);
	expect(total.previews).toBeGreaterThan(SCHEDULES / 5);
});
