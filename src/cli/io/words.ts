// Small words for what the CLI says.
import { describeDuration } from "../../domain/index.ts";

export { bytesInWords, counted } from "../../domain/index.ts";

/** "a, b or c" */
export function listed(words: readonly string[], last: "and" | "or"): string {
	if (words.length < 2) return words.join("");
	return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** `2026-03-10 04:00`, on the clocks of that zone. */
export function clockTime(at: number | string, timezone: string): string {
	// The Swedish form is the ISO one.
	const format = new Intl.DateTimeFormat("sv-SE", {
		timeZone: timezone,
		dateStyle: "short",
		timeStyle: "short",
	});
	return format.format(new Date(at));
}

/** "3 h ago". A future time, by a differing clock, is now. */
export function ago(at: string, now: number): string {
	return `${describeDuration(Math.max(0, now - Date.parse(at)))} ago`;
}

export function onOneLine(text: string): string {
	return text.replace(/\s+/g, " ").trim();
}
