// Formats times for people.
import { texts } from "../texts/app.ts";
import { createValue } from "./value.ts";

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Ticks twice a minute, for relative times. */
const now = createValue(Date.now());
setInterval(() => now.set(Date.now()), 30_000);
export const useNow = now.use;

/** Short: "now", "5 min ago", "14:02", "Tue", "3 Mar". */
export function shortTime(at: number, from: number): string {
	const ago = from - at;
	if (ago < MINUTE) return "now";
	if (ago < HOUR) return relative.format(-Math.floor(ago / MINUTE), "minute");
	if (isSameDay(at, from)) return clock.format(at);
	if (ago < 6 * DAY) return weekday.format(at);
	return new Date(at).getFullYear() === new Date(from).getFullYear() ? day.format(at) : dayOfYear.format(at);
}

export function clockTime(at: number): string {
	return clock.format(at);
}

/** "3 Mar 2026". */
export function dateOf(at: number): string {
	return dayOfYear.format(at);
}

export function fullTime(at: number): string {
	return full.format(at);
}

export function dayName(at: number, from: number): string {
	if (isSameDay(at, from)) return texts.time.today;
	if (isSameDay(at, from - DAY)) return texts.time.yesterday;
	return dayOfYear.format(at);
}

/** "850 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function duration(ms: number): string {
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < MINUTE) return `${Math.floor(ms / 1000)} s`;
	if (ms < HOUR) return two(ms, MINUTE, "min", 1000, "s");
	if (ms < DAY) return two(ms, HOUR, "h", MINUTE, "min");
	return two(ms, DAY, "d", HOUR, "h");
}

function two(ms: number, big: number, bigName: string, small: number, smallName: string): string {
	const rest = Math.floor((ms % big) / small);
	return `${Math.floor(ms / big)} ${bigName}${rest > 0 ? ` ${rest} ${smallName}` : ""}`;
}

function isSameDay(a: number, b: number): boolean {
	return new Date(a).toDateString() === new Date(b).toDateString();
}
