// When a job runs. Only the intent is stored: an elapsed time, or a time of day with its zone. Never an offset: offsets change, and the
// job would be an hour off.
import { KeryxError } from "../../errors.ts";
import { isTimeZone } from "../session/time-zone.ts";
import { walls } from "./cron.ts";

export type When =
	/** Once, at an instant: "in 20 minutes". */
	| { readonly kind: "once"; readonly at: number }
	/** Once, when clocks show this, such as 2026-11-17T09:00:00. */
	| { readonly kind: "wall"; readonly at: string }
	/** Again and again, in elapsed time. */
	| { readonly kind: "every"; readonly seconds: number }
	/** Five fields, or six with seconds first. */
	| { readonly kind: "cron"; readonly pattern: string };

/** A time, with the zone its words refer to. */
export interface Timing {
	readonly when: When;
	/** An IANA name. */
	readonly zone: string;
}

/** How many runs of a pattern are looked at to find its shortest interval. */
const LOOKED_AT = 200;
const WALL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/** Throws schedule.invalid, naming the field. */
export function checkTiming({ when, zone }: Timing, shortestSeconds: number): void {
	if (!isTimeZone(zone))
		throw invalid("zone", `${JSON.stringify(zone)} is not a time zone`, "use a name such as Europe/Berlin");
	const seconds = shortestInterval(when);
	if (seconds !== null && seconds < shortestSeconds)
		throw invalid(
			"when",
			`the job would run every ${seconds} s`,
			`the shortest interval is ${shortestSeconds} s (schedule.min_interval_seconds)`,
		);
}

/** A wall time as naive milliseconds: what UTC clocks would show. */
export function wallTime(text: string): number {
	const at = WALL.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
	// JavaScript rolls 30 February over into March.
	if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(text))
		throw invalid("when", `${JSON.stringify(text)} is not a date and time`, "write 2026-11-17T09:00");
	return at;
}

/** Null for what happens once. */
function shortestInterval(when: When): number | null {
	switch (when.kind) {
		case "once":
			if (!Number.isSafeInteger(when.at)) throw invalid("when", "the time is not an instant");
			return null;
		case "wall":
			wallTime(when.at);
			return null;
		case "every":
			if (!Number.isSafeInteger(when.seconds) || when.seconds < 1)
				throw invalid("when", "an interval must be a whole number of seconds, at least 1");
			return when.seconds;
		case "cron":
			return shortestGap(when.pattern);
	}
}

function shortestGap(pattern: string): number | null {
	const next = walls(pattern);
	let before = next(Date.UTC(2027, 0, 1));
	if (before === null)
		throw invalid("when", `${JSON.stringify(pattern)} never happens`, "check the day and the month");
	let shortest: number | null = null;
	for (let i = 0; i < LOOKED_AT; i++) {
		const after = next(before);
		if (after === null) break;
		const gap = (after - before) / 1000;
		if (shortest === null || gap < shortest) shortest = gap;
		before = after;
	}
	return shortest;
}

function invalid(field: string, message: string, hint?: string): KeryxError {
	return new KeryxError("schedule.invalid", message, { field, ...(hint !== undefined && { hint }) });
}
