// Confirmations as text. A requester's text is escaped like any other, and its arguments are indented, so that they cannot look like our
// lines.

import type { WireConfirmation } from "../../../http/index.ts";
import { escapeJson, type Output } from "../../io/output.ts";
import { clockTime, onOneLine } from "../../io/words.ts";
import { texts } from "../../texts.ts";

/** "4m 10s", "1h 5m", "50s". */
export function countdown(seconds: number): string {
	const whole = Math.max(0, Math.floor(seconds));
	if (whole >= 3600) return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
	return whole >= 60 ? `${Math.floor(whole / 60)}m ${whole % 60}s` : `${whole}s`;
}

/** Its state, for a person. */
export function standing({ status, expires_at }: WireConfirmation, now: number): string {
	return status === "pending" ? `expires in ${countdown(expires_at - now / 1000)}` : status;
}

/** Everything an approval is bound to. */
export function printQuestion(output: Output, asked: WireConfirmation, now: number): void {
	output.heading(`${onOneLine(asked.action)}  ${asked.id}`);
	output.pairs([
		["state", asked.status === "pending" ? `pending, ${standing(asked, now)}` : asked.status],
		["asked by", texts.confirm.show.requester(asked.asked_by, JSON.stringify(asked.requester))],
		["conversation", asked.session_key === "" ? "none" : asked.session_key],
		["says", onOneLine(asked.description)],
		["digest", asked.digest],
	]);
	if (asked.details_before) {
		printArguments(output, texts.confirm.show.arguments, asked.details_before);
		printArguments(output, texts.confirm.show.changed, asked.details);
	} else printArguments(output, "arguments", asked.details);
}

/** Complete and exact: invisible characters are escaped. */
export function printArguments(
	output: Output,
	label: string,
	details: Readonly<Record<string, unknown>>,
): void {
	const isEmpty = Object.keys(details).length === 0;
	output.line(isEmpty ? `  ${label}: none` : `  ${label}:`);
	if (!isEmpty) output.text(escapeJson(JSON.stringify(details, null, 2)).replace(/^/gm, "    "));
}

/** A time in epoch seconds, on the clocks of that zone. */
export function timeOf(seconds: number, timezone: string): string {
	return `${clockTime(seconds * 1000, timezone)} ${timezone}`;
}

/** For programs. */
export function isoOf(seconds: number): string {
	return new Date(seconds * 1000).toISOString();
}
