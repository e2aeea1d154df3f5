import { describe, expect, test } from "vitest";
import { localDays } from "./local-days.ts";

const HOUR = 3_600_000;

describe("localDays", () => {
	test.each([
		["Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29", 23],
		["Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25", 25],
		["America/Santiago", "2026-09-06T12:00:00Z", "2026-09-06", 23],
		["Asia/Kolkata", "2026-09-06T18:30:00Z", "2026-09-07", 24],
	])("in %s the day of %s is %s and has %i hours", (zone, now, date, hours) => {
		const [day] = localDays(Date.parse(now), zone, 1);
		expect(day?.date).toBe(date);
		expect(((day?.to ?? 0) - (day?.from ?? 0)) / HOUR).toBe(hours);
	});

	test("days follow one another without a gap, oldest first, over a year", () => {
		const days = localDays(Date.UTC(2026, 10, 20), "Europe/Berlin", 366);
		expect(days.length).toBe(366);
		for (const [index, { from }] of days.entries()) if (index > 0) expect(days[index - 1]?.to).toBe(from);
		expect(new Set(days.map(({ date }) => date)).size).toBe(366);
		expect(days.at(-1)?.date).toBe("2026-11-20");
	});

	test("a date that the zone skipped is not there", () => {
		const dates = localDays(Date.parse("2011-12-31T12:00:00Z"), "Pacific/Apia", 3).map(({ date }) => date);
		expect(dates).toEqual(["2011-12-29", "2011-12-31", "2012-01-01"]);
	});
});
