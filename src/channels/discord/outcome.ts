// What an error of a request means. Refused, to be tried again, and unknown are three answers; only what is certain is said to be so (I7).
import type { DiscordAPIError, HTTPError, RateLimitError } from "@discordjs/rest";
import type { SendResult } from "../../gateway/index.ts";
import { NotSent } from "../transport.ts";

/** The library is loaded when a channel starts, so its errors are told by their names. */
export function isApiError(error: unknown): error is DiscordAPIError {
	return error instanceof Error && error.name.startsWith("DiscordAPIError");
}

export function isRateLimit(error: unknown): error is RateLimitError {
	return error instanceof Error && error.name.startsWith("RateLimitError");
}

function isServerError(error: unknown): error is HTTPError {
	return error instanceof Error && error.name === "HTTPError";
}

/** As Discord numbers what it refuses. */
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

/** Discord does not know the token, or no longer. The library forgets a token that was refused. */
export function isTokenRefused(error: unknown): boolean {
	if (isApiError(error)) return error.status === 401;
	return error instanceof Error && error.message.startsWith("Expected token to be set");
}

/** Why this channel cannot be written to any more. */
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
	// Waits until the channel has a token that is taken; none of the attempts is used up.
	if (isTokenRefused(error))
		return { kind: "retry", afterMs: 5000, reason: "Discord does not accept the bot's token" };
	if (error instanceof NotSent) return { kind: "retry", reason };
	if (!isApiError(error)) return { kind: "unknown", reason };
	return !plain && isAboutText(error) ? { kind: "markup_refused" } : { kind: "refused", reason };
}

/** With its marks a text may be longer than Discord takes. */
function isAboutText(error: DiscordAPIError): boolean {
	const { errors } = error.rawError as { readonly errors?: object };
	return hasCode(error, CODE.invalidForm) && errors !== undefined && "content" in errors;
}

/** In plain words, without the address, which may hold a token. */
export function reasonOf(error: unknown): string {
	if (isRateLimit(error)) return "Discord's rate limit";
	if (isServerError(error)) return `Discord answered ${error.status}`;
	if (isApiError(error)) return "message" in error.rawError ? error.rawError.message : error.message;
	return error instanceof Error ? error.message : String(error);
}
