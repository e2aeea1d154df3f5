// Numbers and names as people read them.

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

/** Of a day in a calendar, whatever its zone: `2026-03-29`. */
export const shortDay = (date: string): string => dayOfMonth.format(Date.parse(`${date}T00:00:00Z`));
export const longDay = (date: string): string => dayOfWeek.format(Date.parse(`${date}T00:00:00Z`));

export function inMoney(micros: number, currency: string): string {
	const amount = micros / 1_000_000;
	// Small sums would all be nought.
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
	{ state: "completed", name: "Answered", colour: "--ok" },
	{ state: "running", name: "Running", colour: "--accent" },
	{ state: "interrupted", name: "Interrupted", colour: "--warn" },
	{ state: "stopped", name: "Stopped", colour: "--ink-3" },
	{ state: "expired", name: "Too old", colour: "--line-strong" },
	{ state: "failed", name: "Failed", colour: "--danger" },
] as const;

const REASONS: Readonly<Record<string, string>> = {
	user_new: "Somebody began a new one",
	user_switch: "Somebody took up another one",
	idle: "Nobody wrote for long enough",
	daily: "A new day began",
	message_limit: "It had as many messages as it may",
	suspended: "It was suspended",
	resume_expired: "It was interrupted for too long",
	retention: "It got old and was archived",
};

export function reasonInWords(reason: string): string {
	return REASONS[reason] ?? reason.charAt(0).toUpperCase() + reason.slice(1).replaceAll("_", " ");
}
