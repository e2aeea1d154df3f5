// Applies a zone to a wall time (I15). A gap moves it to the first instant after the gap; a repeated hour counts once, at its first pass;
// a date that the zone skipped has no wall times.
import { offsetAt } from "../session/time-zone.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Farther from UTC than any zone has ever been. */
const MAX_OFFSET = 16 * HOUR;
/** No zone changes twice within this. */
const STEP = 14 * DAY;
/** How far ahead a change of the clock is looked for. */
const HORIZON = 400 * DAY;

export interface ZoneChange {
	/** The first instant with the new offset. */
	readonly at: number;
	readonly before: number;
	readonly after: number;
}

/** What clocks show, in naive milliseconds. */
export function localTime(instant: number, zone: string): number {
	return instant + offsetAt(instant, zone);
}

/** The instant that a wall time means; null where the zone skipped its date. */
export function instantOf(wall: number, zone: string): number | null {
	const change = changeBetween(wall - MAX_OFFSET, wall + MAX_OFFSET, zone);
	if (!change) return wall - offsetAt(wall, zone);
	const first = wall - change.before;
	if (first < change.at) return first;
	if (change.at + change.after <= wall) return wall - change.after;
	// In the gap. Its end may be on another date: then the zone has skipped this one, unless the day had begun before the gap.
	const date = wall - (((wall % DAY) + DAY) % DAY);
	const dayExists = change.at + change.before > date || change.at + change.after < date + DAY;
	return dayExists ? change.at : null;
}

/** The one change of the offset in (from, to], which must be shorter than any two changes are apart. */
export function changeBetween(from: number, to: number, zone: string): ZoneChange | null {
	const before = offsetAt(from, zone);
	const after = offsetAt(to, zone);
	if (before === after) return null;
	let [early, late] = [from, to];
	while (late - early > 1) {
		const middle = Math.floor((early + late) / 2);
		if (offsetAt(middle, zone) === before) early = middle;
		else late = middle;
	}
	return { at: late, before, after };
}

/** The next change of the clock after an instant, within about a year. */
export function nextZoneChange(after: number, zone: string): ZoneChange | null {
	for (let from = after; from < after + HORIZON; from += STEP) {
		const change = changeBetween(from, from + STEP, zone);
		if (change) return change;
	}
	return null;
}
