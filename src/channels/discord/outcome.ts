// Interprets a request's error. Refused, retry and unknown are three results; only certain ones are reported as such (I7).
import type { DiscordAPIError, HTTPError, RateLimitError } from "@discordjs/rest";
import type { SendResult } from "../../gateway/index.ts";
import { NotSent } from "../transport.ts";

/** The library is loaded when a channel starts, so its errors are recognised by name. */
export function isApiError(error: unknown): error is DiscordAPIError {
	return error instanceof Error && error.name.startsWith("DiscordAPIError");
}

export function isRateLimit(error: unknown): error is RateLimitError {
	return error instanceof Error && error.name.startsWith("RateLimitError");
}

function isServerError(error: unknown): error is HTTPError {
	return error instanceof Error && error.name === "HTTPError";
}

/** Discord's error numbers. */
export const CODE = {
	unknownChannel: 10003,
	unknownMessage: 10008,
	unknownInteraction: 10062,
	tooLarge: 40005,
	alreadyAnswered: 40060,
	missingAccess: 50001,
	cannotWriteToUser: 50007,
	invalidForm: 50035,
	threadExists: 160004,
} as const;

export function hasCode(error: unknown, ...codes: readonly number[]): boolean {
	return isApiError(error) && codes.includes(Number(error.code));
}

/** Discord does not accept the token. The library forgets a refused token. */
export function isTokenRefused(error: unknown): boolean {
	if (isApiError(error)) return error.status === 401;
	return error instanceof Error && error.message.startsWith("Expected token to be set");
}

/** Why this channel can no longer be written to. */
export function goneReason(error: unknown): string | null {
	const { unknownChannel, missingAccess, cannotWriteToUser } = CODE;
	return hasCode(error, unknownChannel, missingAccess, cannotWriteToUser) ? reasonOf(error) : null;
}

/** How long Discord asks to wait. */
export function pauseOf(error: RateLimitError): number {
	return Math.max(0, error.retryAfter, error.timeToReset);
}

export function outcomeOf(error: unknown, plain: boolean): SendResult {
	const reason = reasonOf(error);
	if (isRateLimit(error)) return { kind: "retry", afterMs: pauseOf(error), reason };
	// Waits until the channel has an accepted token; uses up no attempt.
	if (isTokenRefused(error))
		return { kind: "retry", afterMs: 5000, reason: "Discord does not accept the bot's token" };
	if (error instanceof NotSent) return { kind: "retry", reason };
	if (!isApiError(error)) return { kind: "unknown", reason };
	return !plain && isAboutText(error) ? { kind: "markup_refused" } : { kind: "refused", reason };
}

/** With its markup a text may be longer than Discord accepts. */
function isAboutText(error: DiscordAPIError): boolean {
	const { errors } = error.rawError as { readonly errors?: object };
	return hasCode(error, CODE.invalidForm) && errors !== undefined && "content" in errors;
}

/** In plain words, without the address, which may contain a token. */
export function reasonOf(error: unknown): string {
	if (isRateLimit(error)) return "Discord's rate limit";
	if (isServerError(error)) return `Discord answered ${error.status}`;
	if (isApiError(error)) return "message" in error.rawError ? error.rawError.message : error.message;
	return error instanceof Error ? error.message : String(error);
}
