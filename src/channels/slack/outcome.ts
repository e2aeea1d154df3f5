// Interprets a call's error. Refused, retry and unknown are three results; only certain ones are reported as such (I7).
import type {
	WebAPIHTTPError,
	WebAPIPlatformError,
	WebAPIRateLimitedError,
	WebAPIRequestError,
} from "@slack/web-api";
import type { SendResult } from "../../gateway/index.ts";
import { NotSent } from "./web.ts";

type CallError = WebAPIPlatformError | WebAPIRequestError | WebAPIHTTPError | WebAPIRateLimitedError;

/** The library is loaded when a channel starts, so its errors are recognised by code. */
function isCallError(error: unknown): error is CallError {
	return error instanceof Error && String((error as { code?: unknown }).code).startsWith("slack_webapi_");
}

/** Slack's code for a refusal; null if none. Anything else came from a machine in between. */
export function wordOf(error: unknown): string | null {
	if (!isCallError(error) || !("data" in error)) return null;
	const { error: word } = error.data;
	return typeof word === "string" && /^[a-z_]{1,64}$/.test(word) ? word : null;
}

/** How long Slack asks to wait, in milliseconds; null if it does not. */
export function askedPause(error: unknown): number | null {
	if (isCallError(error) && "retryAfter" in error) return error.retryAfter * 1000;
	return wordOf(error) === "ratelimited" ? 30_000 : null;
}

const TOKEN = new Set([
	"invalid_auth",
	"not_authed",
	"account_inactive",
	"token_revoked",
	"token_expired",
	"not_allowed_token_type",
	"org_login_required",
	"team_access_not_granted",
]);

/** Slack does not accept the token. */
export function isTokenRefused(error: unknown): boolean {
	const word = wordOf(error);
	return word !== null && TOKEN.has(word);
}

const GONE: Readonly<Record<string, string>> = {
	channel_not_found: "the app cannot see this channel",
	not_in_channel: "the app was removed from the channel",
	is_archived: "the channel is archived",
	user_not_found: "this person is no longer there",
	user_disabled: "this person is no longer there",
	messages_tab_disabled: "the app's Messages tab is off",
};

/** Why this chat can no longer be written to. */
export function goneReason(error: unknown): string | null {
	const word = wordOf(error);
	return word !== null && Object.hasOwn(GONE, word) ? (GONE[word] as string) : null;
}

/** Part of it may have been done before these. */
const DOUBTFUL = new Set([
	"internal_error",
	"fatal_error",
	"service_unavailable",
	"request_timeout",
	"team_added_to_org",
]);
const MARKUP = new Set(["invalid_blocks", "invalid_blocks_format", "invalid_attachments"]);

export function outcomeOf(error: unknown): SendResult {
	const reason = reasonOf(error);
	const pause = askedPause(error);
	if (pause !== null) return { kind: "retry", afterMs: pause, reason };
	// Waits until the channel has an accepted token; uses up no attempt.
	if (isTokenRefused(error))
		return { kind: "retry", afterMs: 5000, reason: "Slack does not accept the app's token" };
	const word = wordOf(error);
	if (word !== null) {
		if (DOUBTFUL.has(word)) return { kind: "unknown", reason };
		if (MARKUP.has(word)) return { kind: "markup_refused" };
		return { kind: "refused", reason: GONE[word] ?? reason };
	}
	if (isCallError(error) && "statusCode" in error && error.statusCode < 500)
		return { kind: "refused", reason };
	const cause = isCallError(error) && "original" in error ? error.original : error;
	return cause instanceof NotSent ? { kind: "retry", reason } : { kind: "unknown", reason };
}

/** In plain words. */
export function reasonOf(error: unknown): string {
	const word = wordOf(error);
	if (word !== null) return `Slack answered ${word}`;
	if (!isCallError(error)) return error instanceof Error ? error.message : String(error);
	if ("retryAfter" in error) return `Slack asks to wait ${error.retryAfter} s`;
	if ("statusCode" in error) return `HTTP status ${error.statusCode}`;
	return "original" in error ? error.original.message : "Slack's answer could not be read";
}
