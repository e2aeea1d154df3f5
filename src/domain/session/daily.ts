// The daily instants of a zone. Each existing date has exactly one: the first instant whose local date-time is at or after at_hour:00. So
// a gap moves it to the gap's end, a repeated hour counts once, at its first pass, and a skipped date has none.
import { offsetAt } from "./time-zone.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Farther from UTC than any zone has ever been (Manila, -15:56, until 1844). */
const MAX_OFFSET = 16 * HOUR;

/** The stretch between two boundaries that follow one another: latest <= now < next. */
interface Interval {
	readonly latest: number;
	readonly next: number;
}

const MAX_ZONES = 64;
/** The interval asked for last, by zone and hour: nearly every message falls into the same one as the message before. */
const memo = new Map<string, Interval[]>();

/** The last daily instant at or before `now`. */
export function latestDailyBoundary(now: number, timezone: string, atHour: number): number {
	return intervalAround(now, timezone, atHour).latest;
}

/** The first daily instant after `now`. */
export function nextDailyBoundary(now: number, timezone: string, atHour: number): number {
	return intervalAround(now, timezone, atHour).next;
}

function intervalAround(now: number, timezone: string, atHour: number): Interval {
	const known = memo.get(timezone)?.[atHour];
	if (known && known.latest <= now && now < known.next) return known;
	const found = findInterval(now, timezone, atHour);
	let hours = memo.get(timezone);
	if (!hours) {
		if (memo.size >= MAX_ZONES) memo.clear();
		hours = [];
		memo.set(timezone, hours);
	}
	hours[atHour] = found;
	return found;
}

function findInterval(now: number, timezone: string, atHour: number): Interval {
	const local = now + offsetAt(now, timezone);
	// Yesterday's instant is never ahead. Tomorrow's can be behind: a clock set back over midnight repeats today.
	let date = local - modulo(local, DAY);
	let next = boundaryOf(date, timezone, atHour);
	while (next === null || next <= now) {
		date += DAY;
		next = boundaryOf(date, timezone, atHour);
	}
	let latest: number | null = null;
	while (latest === null) {
		date -= DAY;
		latest = boundaryOf(date, timezone, atHour);
	}
	return { latest, next };
}

/** The boundary of a date, given as its midnight in naive local ms; null where the zone skipped that date. */
function boundaryOf(date: number, timezone: string, atHour: number): number | null {
	const start = firstInstant(date, timezone);
	if (start + offsetAt(start, timezone) >= date + DAY) return null;
	return atHour === 0 ? start : firstInstant(date + atHour * HOUR, timezone);
}

/**
 * The first instant whose local time is at or after `local` (naive ms).
 * Looks at one offset change at most: no zone has ever changed twice within three days, the window is 32 hours.
 */
function firstInstant(local: number, timezone: string): number {
	let before = local - MAX_OFFSET;
	let after = local + MAX_OFFSET;
	const early = offsetAt(before, timezone);
	const late = offsetAt(after, timezone);
	if (early === late) return local - early;
	while (after - before > 1) {
		const middle = Math.floor((before + after) / 2);
		if (offsetAt(middle, timezone) === early) before = middle;
		else after = middle;
	}
	return local - early < after ? local - early : Math.max(after, local - late);
}

function modulo(value: number, divisor: number): number {
	return ((value % divisor) + divisor) % divisor;
}
