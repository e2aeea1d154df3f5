import { expect, test } from "vitest";
import { describeTiming, nextChangeWords } from "./describe.ts";
import { exactly, readExact, understand } from "./words.ts";

const ZONE = "Europe/Berlin";
/** Monday, 15:00 in Berlin. */
const NOW = Date.UTC(2026, 10, 16, 14);

test.each([
	["in 20 minutes", "2026-11-16T14:20:00.000Z"],
	["in an hour", "2026-11-16T15:00:00.000Z"],
	["in 2h", "2026-11-16T16:00:00.000Z"],
	["in 3 days", "2026-11-19T15:00"],
	["tomorrow at 9", "2026-11-17T09:00"],
	["tomorrow at 9pm", "2026-11-17T21:00"],
	["Friday at 14:30", "2026-11-20T14:30"],
	["on 24 December at 6pm", "2026-12-24T18:00"],
	["today at 18:00", "2026-11-16T18:00"],
	["every 30 minutes", "every 30m"],
	["every hour", "0 * * * *"],
	["every 2 hours", "every 2h"],
	["every day at 9", "0 9 * * *"],
	["daily at 7:30", "30 7 * * *"],
	["every weekday at 9", "0 9 * * 1-5"],
	["every monday at 8", "0 8 * * 1"],
	["every Monday and Thursday at 6pm", "0 18 * * 1,4"],
	["weekdays at noon", "0 12 * * 1-5"],
	["every month on the 1st at 9", "0 9 1 * *"],
	["0 9 * * 1-5", "0 9 * * 1-5"],
	["*/10 0 9 * * *", "*/10 0 9 * * *"],
	["2026-11-17T09:00", "2026-11-17T09:00"],
])("%s means exactly %s, which means itself", (words, exact) => {
	const { when } = understand(words, ZONE, NOW);
	expect(exactly(when)).toBe(exact);
	expect(readExact(exact)).toEqual(when);
});

test.each([
	["30m", /once or again and again/],
	["2 hours", /once or again and again/],
	["tomorrow", /no time of day/],
	["soon", /cannot tell when/],
	["every blue moon at 9", /cannot tell when/],
	["tomorrow at 9 call the dentist", /cannot tell when/],
	["tomorrow at 9 EST", /cannot tell when/],
	["2026-02-30T09:00", /not a date/],
	["every day at 25", /cannot tell when/],
])("%s is not guessed at", (words, why) => {
	expect(() => understand(words, ZONE, NOW)).toThrow(why);
});

test.each([
	["every weekday at 9", "every weekday, Monday to Friday, at 09:00 (Europe/Berlin)"],
	["tomorrow at 9", "once, on Tuesday 17 November 2026, 09:00 (Europe/Berlin)"],
	["in 20 minutes", "once, on Monday 16 November 2026, 15:20 (Europe/Berlin)"],
	["every 90 minutes", "every 90 minutes, counted in elapsed time (Europe/Berlin)"],
	[
		"0 9 15 * 1",
		"at the times of the cron pattern 0 9 15 * 1, on its days of the month and also on its weekdays (Europe/Berlin)",
	],
])("%s is shown back as %s", (words, shown) => {
	expect(describeTiming({ when: understand(words, ZONE, NOW).when, zone: ZONE })).toBe(shown);
});

test.each([
	[
		"30 2 * * *",
		NOW,
		"On Sunday 28 March 2027, 02:00 the clock goes forward to 03:00. 02:30 does not exist that day: the job runs at 03:00.",
	],
	[
		"30 2 * * *",
		Date.UTC(2026, 8, 1),
		"On Sunday 25 October 2026, 03:00 the clock goes back to 02:00. 02:30 comes twice that day: the job runs once, the first time.",
	],
	[
		"0 9 * * *",
		NOW,
		"On Sunday 28 March 2027, 02:00 the clock goes forward to 03:00. The job keeps its time of day. The first run after it is on Sunday 28 March 2027, 09:00.",
	],
	[
		"every 30m",
		NOW,
		"On Sunday 28 March 2027, 02:00 the clock goes forward to 03:00. The job does not change: it counts elapsed time.",
	],
])("what the next change of the clock does to %s is said", (exact, now, text) => {
	const when = readExact(exact);
	expect(when && nextChangeWords({ when, zone: ZONE }, now)?.text).toBe(text);
	expect(when && nextChangeWords({ when, zone: "UTC" }, now)).toBeNull();
});
