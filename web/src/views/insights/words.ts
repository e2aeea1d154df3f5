// Formats numbers and names for people.

import { texts } from "../../texts/insights.ts";

const whole = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const dayOfMonth = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const dayOfWeek = new Intl.DateTimeFormat(undefined, {
	weekday: "short",
	day: "numeric",
	month: "short",
	timeZone: "UTC",
});

export const inWhole = (n: number): string => whole.format(n);
/** For axes and large sums: 12.4K. */
export const inShort = (n: number): string => (n < 10_000 ? whole.format(n) : compact.format(n));
export const inPercent = (n: number): string => share.format(n);

/** Formats a calendar date, independent of time zones: `2026-03-29`. */
export const shortDay = (date: string): string => dayOfMonth.format(Date.parse(`${date}T00:00:00Z`));
export const longDay = (date: string): string => dayOfWeek.format(Date.parse(`${date}T00:00:00Z`));

export function inMoney(micros: number, currency: string): string {
	const amount = micros / 1_000_000;
	// With two digits, small amounts would all be zero.
	const digits = amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2;
	try {
		return new Intl.NumberFormat(undefined, {
			style: "currency",
			currency,
			minimumFractionDigits: digits,
			maximumFractionDigits: digits,
		}).format(amount);
	} catch {
		return `${amount.toFixed(digits)} ${currency}`;
	}
}

export const OUTCOMES = [
	{ state: "completed", name: texts.words.answered, colour: "--ok" },
	{ state: "running", name: texts.words.running, colour: "--accent" },
	{ state: "interrupted", name: texts.words.interrupted, colour: "--warn" },
	{ state: "stopped", name: texts.words.stopped, colour: "--ink-3" },
	{ state: "expired", name: texts.words.tooOld, colour: "--line-strong" },
	{ state: "failed", name: texts.words.failed, colour: "--danger" },
] as const;

const REASONS: Readonly<Record<string, string>> = {
	user_new: texts.words.someoneStartedANewOne,
	user_switch: texts.words.someoneResumedAnotherOne,
	idle: texts.words.longPause,
	daily: texts.words.dailyFreshStart,
	message_limit: texts.words.messageLimitReached,
	suspended: texts.words.suspended,
	resume_expired: texts.words.interruptedForTooLong,
	retention: texts.words.archivedBecauseOfItsAge,
};

export function reasonInWords(reason: string): string {
	return REASONS[reason] ?? reason.charAt(0).toUpperCase() + reason.slice(1).replaceAll("_", " ");
}
