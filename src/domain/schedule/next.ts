// The instants of a job, each computed from the previous one, never from now: a late run does not move later ones.
import { offsetAt } from "../session/time-zone.ts";
import { isEveryHour, walls } from "./cron.ts";
import { type Timing, wallTime } from "./when.ts";
import { changeBetween, instantOf, localTime } from "./zone.ts";

const DAY = 86_400_000;

/** The first instant of a job created or resumed at `now`; null: it is in the past, or never comes. */
export function firstInstant({ when, zone }: Timing, now: number): number | null {
	switch (when.kind) {
		case "once":
			return when.at > now ? when.at : null;
		case "wall": {
			const at = instantOf(wallTime(when.at), zone);
			return at !== null && at > now ? at : null;
		}
		case "every":
			return now + when.seconds * 1000;
		case "cron":
			return nextOfPattern(when.pattern, zone, now);
	}
}

/** The instant after a scheduled one; null: that was the last. */
export function nextInstant({ when, zone }: Timing, scheduled: number): number | null {
	switch (when.kind) {
		case "once":
		case "wall":
			return null;
		case "every":
			return scheduled + when.seconds * 1000;
		case "cron":
			return nextOfPattern(when.pattern, zone, scheduled);
	}
}

/** The first instant after `now` of a job that had one at `scheduled`; null: there is none. */
export function instantAfter(timing: Timing, scheduled: number, now: number): number | null {
	const { when } = timing;
	const from = Math.max(scheduled, now);
	if (when.kind === "cron") return nextInstant(timing, from);
	if (when.kind !== "every") return null;
	const step = when.seconds * 1000;
	return scheduled + (Math.floor((from - scheduled) / step) + 1) * step;
}

/** The next instants after one, at most this many. */
export function instantsAfter(timing: Timing, after: number, count: number): number[] {
	const instants: number[] = [];
	let at = firstInstant(timing, after);
	while (at !== null && instants.length < count) {
		instants.push(at);
		at = nextInstant(timing, at);
	}
	return instants;
}

function nextOfPattern(pattern: string, zone: string, after: number): number | null {
	return isEveryHour(pattern) ? nextElapsed(pattern, zone, after) : nextOfDay(pattern, zone, after);
}

/** Each wall time once. In a gap, several of them are one instant. */
function nextOfDay(pattern: string, zone: string, after: number): number | null {
	const next = walls(pattern);
	// A repeated stretch shows times again that came before, and a gap ends later than its times: nothing is missed from a day before on.
	for (let wall = next(localTime(after, zone) - DAY - 1); wall !== null; wall = next(wall)) {
		const at = instantOf(wall, zone);
		if (at !== null && at > after) return at;
	}
	return null;
}

/** Each instant at which clocks show a time of the pattern: twice in a repeated hour, never in a skipped one. */
function nextElapsed(pattern: string, zone: string, after: number): number | null {
	const next = walls(pattern);
	const soon = after + 2 * DAY;
	const change = changeBetween(after, soon, zone);
	let wall = next(localTime(after, zone));
	const sameOffset = wall === null ? null : wall - offsetAt(after, zone);
	if (sameOffset !== null && sameOffset < (change?.at ?? soon)) return sameOffset;
	if (change) {
		wall = next(change.at + change.after - 1);
		const at = wall === null ? null : wall - change.after;
		if (at === null || at < soon) return at;
	}
	// Far away: the clock may change on the way there.
	for (; wall !== null; wall = next(wall)) {
		const at = instantOf(wall, zone);
		if (at !== null && localTime(at, zone) === wall) return at;
	}
	return null;
}
