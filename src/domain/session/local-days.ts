// The days of a zone as time ranges: a day has 23 or 25 hours at a clock change, and a skipped one has none.
import { latestDailyBoundary, nextDailyBoundary } from "./daily.ts";
import { offsetAt } from "./time-zone.ts";

interface LocalDay {
	/** YYYY-MM-DD, as the calendar of the zone has it. */
	readonly date: string;
	readonly from: number;
	/** Where the next one begins. */
	readonly to: number;
}

/** The day of `now` and those before it, oldest first. */
export function localDays(now: number, timezone: string, count: number): LocalDay[] {
	const days: LocalDay[] = [];
	for (let at = now; days.length < count; ) {
		const from = latestDailyBoundary(at, timezone, 0);
		const to = nextDailyBoundary(at, timezone, 0);
		days.push({ date: new Date(from + offsetAt(from, timezone)).toISOString().slice(0, 10), from, to });
		at = from - 1;
	}
	return days.reverse();
}
