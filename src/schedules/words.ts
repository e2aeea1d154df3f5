// Converts times in English words to exact ones. The result is shown to the writer, and only the exact form creates a job: no guess takes
// effect unseen.
import { createRequire } from "node:module";
import { instantOf, localTime, type When, wallTime } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";

const UNITS: readonly (readonly [RegExp, number])[] = [
	[/^(s|secs?|seconds?)$/, 1],
	[/^(m|mins?|minutes?)$/, 60],
	[/^(h|hrs?|hours?)$/, 3600],
	[/^(d|days?)$/, 86_400],
	[/^(w|wks?|weeks?)$/, 604_800],
];
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const NUMBER = String.raw`(\d{1,6}|an?|one|two|three|four|five|six|ten|fifteen|twenty|thirty)`;
const NUMBERS: Readonly<Record<string, number>> = {
	a: 1,
	an: 1,
	one: 1,
	two: 2,
	three: 3,
	four: 4,
	five: 5,
	six: 6,
	ten: 10,
	fifteen: 15,
	twenty: 20,
	thirty: 30,
};

export interface Understood {
	readonly when: When;
	/** True if it was already exact. */
	readonly exact: boolean;
}

/** Throws schedule.invalid if the meaning is unclear. */
export function understand(text: string, zone: string, now: number): Understood {
	const words = text.trim().toLowerCase().replace(/\s+/g, " ");
	const exact = readExact(text.trim());
	if (exact) return { when: exact, exact: true };
	if (new RegExp(`^${NUMBER} ?[a-z]+$`).test(words) && secondsOf(words) !== null)
		throw invalid(
			`does "${text.trim()}" mean once or again and again?`,
			`write "in ${words}" or "every ${words}"`,
		);
	const when = afterWhile(words, zone, now) ?? repeated(words) ?? onDate(words, zone, now);
	if (when) return { when, exact: false };
	throw invalid(
		`cannot tell when "${text.trim()}" is`,
		'write it as "in 20 minutes", "tomorrow at 9", "every weekday at 9", "every 2 hours", or as a cron pattern',
	);
}

/** As written by `exactly`. Null: these are words. */
export function readExact(text: string): When | null {
	if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$/.test(text)) {
		const at = text.replace(" ", "T");
		wallTime(at);
		return { kind: "wall", at };
	}
	if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text)) {
		const at = Date.parse(text);
		if (Number.isNaN(at)) throw invalid(`${text} is not a date and time`);
		return { kind: "once", at };
	}
	const [, count, unit] = /^every (\d{1,9})(s|m|h|d)$/.exec(text) ?? [];
	if (count && unit) return { kind: "every", seconds: Number(count) * unitSeconds(unit) };
	const pattern = text.replace(/^cron +/, "");
	const fields = pattern.split(/\s+/).length;
	if (
		(fields === 5 || fields === 6) &&
		/^[\d*][\d*,/L#-]*( [\dA-Za-z*,/L#W+-]+){4,5}$/.test(pattern.replace(/\s+/g, " "))
	)
		return { kind: "cron", pattern: pattern.replace(/\s+/g, " ") };
	return null;
}

/** The exact form, which creates a job. */
export function exactly(when: When): string {
	switch (when.kind) {
		case "once":
			return new Date(when.at).toISOString();
		case "wall":
			return when.at;
		case "every":
			return `every ${inUnits(when.seconds)}`;
		case "cron":
			return when.pattern;
	}
}

function inUnits(seconds: number): string {
	if (seconds % 86_400 === 0) return `${seconds / 86_400}d`;
	if (seconds % 3600 === 0) return `${seconds / 3600}h`;
	return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** "in 20 minutes" is elapsed time; "in 3 days" is the same time of day. */
function afterWhile(words: string, zone: string, now: number): When | null {
	const [, span] = /^(?:in|after) (.+)$/.exec(words) ?? [];
	const seconds = span === undefined ? null : secondsOf(span);
	if (seconds === null) return null;
	if (seconds < 86_400) return { kind: "once", at: now + seconds * 1000 };
	return { kind: "wall", at: wallText(localTime(now, zone) + seconds * 1000) };
}

function repeated(words: string): When | null {
	const text = words
		.replace(/^each /, "every ")
		.replace(/^daily/, "every day")
		.replace(/^hourly/, "every hour");
	const [, span] = /^every (.+)$/.exec(text) ?? [];
	if (span === "hour") return { kind: "cron", pattern: "0 * * * *" };
	const seconds = span === undefined ? null : secondsOf(span);
	if (seconds !== null && seconds < 86_400) return { kind: "every", seconds };
	const [, days, time] =
		/^(?:every |on )?([a-z ,]+?)s? at (.+)$/.exec(text) ??
		/^(?:every |on )?([a-z ,]+?)s? (\d.*)$/.exec(text) ??
		[];
	const weekdays = days === undefined ? null : weekdaysOf(days);
	const at = time === undefined ? null : timeOfDay(time);
	if (!weekdays || !at || !(text.startsWith("every ") || /s at /.test(text))) return monthly(text);
	return { kind: "cron", pattern: `${at.minute} ${at.hour} * * ${weekdays}` };
}

function monthly(text: string): When | null {
	const [, day, time] = /^every month on the (\d{1,2})(?:st|nd|rd|th)? at (.+)$/.exec(text) ?? [];
	const at = time === undefined ? null : timeOfDay(time);
	if (!at || day === undefined || Number(day) < 1 || Number(day) > 31) return null;
	return { kind: "cron", pattern: `${at.minute} ${at.hour} ${Number(day)} * *` };
}

function weekdaysOf(text: string): string | null {
	if (text === "day") return "*";
	if (text === "weekday" || text === "workday" || text === "working day") return "1-5";
	if (text === "weekend") return "0,6";
	const named = text.split(/,? and |, ?/).map((word) => {
		const singular = word.trim().replace(/s$/, "");
		return singular.length < 3 ? -1 : DAYS.findIndex((day) => day.startsWith(singular));
	});
	return named.length === 0 || named.includes(-1) ? null : named.toSorted((a, b) => a - b).join(",");
}

function timeOfDay(text: string): { readonly hour: number; readonly minute: number } | null {
	if (text === "noon" || text === "midday") return { hour: 12, minute: 0 };
	if (text === "midnight") return { hour: 0, minute: 0 };
	const [, h, m = "0", half] = /^(\d{1,2})(?::(\d\d))? ?(am|pm|o'clock)?$/.exec(text) ?? [];
	if (h === undefined) return null;
	const [hour, minute] = [Number(h), Number(m)];
	const isHalf = half === "am" || half === "pm";
	if (minute > 59 || hour > (isHalf ? 12 : 23) || (isHalf && hour === 0)) return null;
	if (!isHalf) return { hour, minute };
	return { hour: (hour % 12) + (half === "pm" ? 12 : 0), minute };
}

/** Loaded with the first date in words: it would take a tenth of every start. */
function chrono(): typeof import("chrono-node/en") {
	return createRequire(import.meta.url)("chrono-node/en");
}

/** A date with a time of day, parsed by chrono, and nothing else. */
function onDate(words: string, zone: string, now: number): When | null {
	const local = localTime(now, zone);
	const found = chrono().casual.parse(
		words,
		{ instant: new Date(now), timezone: Math.round((local - now) / 60_000) },
		{ forwardDate: true },
	);
	const [one] = found;
	if (!one || found.length > 1 || one.end) return null;
	const left = `${words.slice(0, one.index)}${words.slice(one.index + one.text.length)}`.trim();
	if (left !== "" && left !== "on" && left !== "at") return null;
	// A zone in the words would be an offset, which is never stored.
	if (one.start.isCertain("timezoneOffset")) return null;
	if (!one.start.isCertain("hour")) throw invalid(`"${words}" has no time of day`, `write "${words} at 9"`);
	const part = (name: "year" | "month" | "day" | "hour" | "minute" | "second") => one.start.get(name) ?? 0;
	const wall = Date.UTC(
		part("year"),
		part("month") - 1,
		part("day"),
		part("hour"),
		part("minute"),
		part("second"),
	);
	if (instantOf(wall, zone) === null) throw invalid(`that date does not exist in ${zone}`);
	return { kind: "wall", at: wallText(wall) };
}

function wallText(wall: number): string {
	const text = new Date(Math.floor(wall / 1000) * 1000).toISOString().slice(0, 19);
	return text.endsWith(":00") ? text.slice(0, 16) : text;
}

/** "20 minutes", "2h", "an hour"; null: not a duration. */
function secondsOf(text: string): number | null {
	const [, count = "1", unit] = new RegExp(`^(?:${NUMBER} ?)?([a-z]+)$`).exec(text) ?? [];
	const seconds = unit === undefined ? 0 : unitSeconds(unit);
	const n = NUMBERS[count] ?? Number(count);
	return seconds === 0 || n < 1 ? null : n * seconds;
}

function unitSeconds(unit: string): number {
	return UNITS.find(([pattern]) => pattern.test(unit))?.[1] ?? 0;
}

/** For maximum delays and similar settings. Null: not a duration. */
export function spanSeconds(text: string): number | null {
	return secondsOf(text.trim().toLowerCase());
}

function invalid(message: string, hint?: string): KeryxError {
	return new KeryxError("schedule.invalid", message, { field: "when", ...(hint !== undefined && { hint }) });
}
