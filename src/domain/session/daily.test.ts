import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { latestDailyBoundary, nextDailyBoundary } from "./daily.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("daily instants at known places", () => {
	test.each([
		[
			"an ordinary day",
			"Asia/Bangkok",
			4,
			"2026-03-10T12:00:00Z",
			"2026-03-09T21:00:00Z",
			"2026-03-10T21:00:00Z",
		],
		[
			"its own instant belongs to it",
			"UTC",
			4,
			"2026-03-10T04:00:00Z",
			"2026-03-10T04:00:00Z",
			"2026-03-11T04:00:00Z",
		],
		[
			"the millisecond before does not",
			"UTC",
			4,
			"2026-03-10T03:59:59.999Z",
			"2026-03-09T04:00:00Z",
			"2026-03-10T04:00:00Z",
		],
		[
			"a gap that swallows the hour",
			"Europe/Berlin",
			2,
			"2026-03-29T12:00:00Z",
			"2026-03-29T01:00:00Z",
			"2026-03-30T00:00:00Z",
		],
		[
			"an hour that is repeated",
			"Europe/Berlin",
			2,
			"2026-10-25T12:00:00Z",
			"2026-10-25T00:00:00Z",
			"2026-10-26T01:00:00Z",
		],
		[
			"its second pass",
			"Europe/Berlin",
			2,
			"2026-10-25T01:30:00Z",
			"2026-10-25T00:00:00Z",
			"2026-10-26T01:00:00Z",
		],
		[
			"a gap at midnight",
			"America/Sao_Paulo",
			0,
			"2017-10-15T12:00:00Z",
			"2017-10-15T03:00:00Z",
			"2017-10-16T02:00:00Z",
		],
		[
			"a clock set back over midnight",
			"America/St_Johns",
			0,
			"2006-10-29T03:00:00Z",
			"2006-10-29T02:30:00Z",
			"2006-10-30T03:30:00Z",
		],
		[
			"half an hour of summer time",
			"Australia/Lord_Howe",
			2,
			"2026-10-03T23:00:00Z",
			"2026-10-03T15:30:00Z",
			"2026-10-04T15:00:00Z",
		],
		[
			"a skipped date",
			"Pacific/Apia",
			4,
			"2011-12-30T12:00:00Z",
			"2011-12-29T14:00:00Z",
			"2011-12-30T14:00:00Z",
		],
		[
			"a skipped date at midnight",
			"Pacific/Apia",
			0,
			"2011-12-30T09:59:59Z",
			"2011-12-29T10:00:00Z",
			"2011-12-30T10:00:00Z",
		],
		[
			"an offset with seconds",
			"Africa/Monrovia",
			4,
			"1971-06-01T12:00:00Z",
			"1971-06-01T04:44:30Z",
			"1971-06-02T04:44:30Z",
		],
	])("%s: %s at %d", (_what, zone, hour, now, latest, next) => {
		expect(iso(latestDailyBoundary(Date.parse(now), zone, hour))).toBe(iso(Date.parse(latest)));
		expect(iso(nextDailyBoundary(Date.parse(now), zone, hour))).toBe(iso(Date.parse(next)));
	});
});

describe("one boundary per existing date", () => {
	test.each([
		["Asia/Kolkata", 2025],
		["Asia/Kathmandu", 1985],
		["Australia/Eucla", 2008],
		["Australia/Lord_Howe", 2025],
		["America/Sao_Paulo", 2017],
		["Asia/Beirut", 2022],
		["Africa/Cairo", 2013],
		["Africa/Cairo", 2023],
		["America/St_Johns", 2005],
		["America/Havana", 2025],
		["Africa/Casablanca", 2025],
		["Antarctica/Troll", 2025],
		["Asia/Pyongyang", 2015],
		["Pacific/Apia", 2011],
		["Pacific/Kwajalein", 1993],
		["Pacific/Kiritimati", 1994],
		["Europe/Berlin", 2026],
		["UTC", 2026],
	])("in %s over two years from %d", (zone, year) => {
		const from = Date.UTC(year, 0, 1);
		const to = Date.UTC(year + 2, 0, 1);
		const expected = bruteForce(zone, from, to);
		for (const hour of [0, 2, 3, 4, 23]) {
			const instants = expected(hour);
			expect(walk(zone, hour, instants[0] as number, instants.at(-1) as number)).toEqual(instants);
		}
	});

	test.each([
		["Pacific/Apia", "2011-12-30", "2011-12-29T00:00:00Z"],
		["Pacific/Kwajalein", "1993-08-21", "1993-08-20T00:00:00Z"],
	])("%s never had a %s", (zone, skipped, around) => {
		const local = localReader(zone);
		const start = Date.parse(around) - 5 * DAY;
		const dates = walk(zone, 4, nextDailyBoundary(start, zone, 4), start + 10 * DAY).map((at) =>
			iso(local(at)).slice(0, 10),
		);
		expect(new Set(dates).size).toBe(dates.length);
		expect(dates).not.toContain(skipped);
		expect(dates).toContain(iso(Date.parse(skipped) - DAY).slice(0, 10));
		expect(dates).toContain(iso(Date.parse(skipped) + DAY).slice(0, 10));
	});

	test("in any zone, at any time, in any order of asking", () => {
		const zones = Intl.supportedValuesOf("timeZone");
		fc.assert(
			fc.property(
				fc.constantFrom(...zones),
				fc.integer({ min: Date.UTC(1973, 0, 1), max: Date.UTC(2037, 0, 1) }),
				fc.integer({ min: 0, max: 23 }),
				(zone, now, hour) => {
					const start = now - (now % HOUR);
					const instants = bruteForce(zone, start - 4 * DAY, start + 4 * DAY)(hour);
					expect(latestDailyBoundary(now, zone, hour)).toBe(instants.findLast((at) => at <= now));
					expect(nextDailyBoundary(now, zone, hour)).toBe(instants.find((at) => at > now));
				},
			),
			{ numRuns: 500 },
		);
	});
});

/** All boundaries that the functions under test give between two instants; they must agree about each. */
function walk(zone: string, hour: number, first: number, last: number): number[] {
	const found: number[] = [];
	for (let at = first; at <= last; at = nextDailyBoundary(at, zone, hour)) {
		const before = found.at(-1);
		if (before !== undefined && latestDailyBoundary(at - 1, zone, hour) !== before)
			throw new Error(`before ${iso(at)}`);
		if (latestDailyBoundary(at, zone, hour) !== at) throw new Error(`at ${iso(at)}`);
		found.push(at);
	}
	return found;
}

/**
 * The oracle: reads the zone's wall clock minute by minute (hour by hour where it runs evenly) and notes when it first
 * shows each full hour or a later time. Dates cut off by the window's ends are left out.
 */
function bruteForce(zone: string, from: number, to: number): (hour: number) => number[] {
	const local = localReader(zone);
	const firstSeen = new Map<number, number>();
	const dates = new Set<number>();
	let highest = local(from);
	const see = (at: number, shown: number) => {
		dates.add(Math.floor(shown / DAY));
		for (let mark = (Math.floor(highest / HOUR) + 1) * HOUR; mark <= shown; mark += HOUR)
			firstSeen.set(mark, at);
		highest = Math.max(highest, shown);
	};
	let following = local(from);
	for (let at = from; at < to; at += HOUR) {
		const shown = following;
		following = local(at + HOUR);
		const even = following - shown === HOUR;
		for (let minute = 0; minute < 60; minute++) {
			const instant = at + minute * MINUTE;
			see(instant, even ? shown + minute * MINUTE : local(instant));
		}
	}
	const whole = [...dates].sort((a, b) => a - b).slice(1, -1);
	return (hour) => whole.map((date) => firstSeen.get(date * DAY + hour * HOUR) as number);
}

/** The wall clock as naive ms, from the printed fields; the code under test reads the printed offset instead. */
function localReader(zone: string): (instant: number) => number {
	const two = "2-digit";
	const format = new Intl.DateTimeFormat("en-US", {
		timeZone: zone,
		hourCycle: "h23",
		year: "numeric",
		month: two,
		day: two,
		hour: two,
		minute: two,
		second: two,
	});
	return (instant) => {
		const [month = 0, day, year = 0, hour, minute, second] = (format.format(instant).match(/\d+/g) ?? []).map(
			Number,
		);
		return Date.UTC(year, month - 1, day, hour, minute, second);
	};
}

function iso(instant: number): string {
	return new Date(instant).toISOString();
}
