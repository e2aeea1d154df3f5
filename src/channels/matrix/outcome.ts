// Interprets a request's error. Refused, retry and unknown are three results; only certain ones are reported as such (I7).
import type { SendResult } from "../../gateway/index.ts";
import { NotSent } from "../transport.ts";
import { MatrixError } from "./api.ts";

/** Codes by which a server says that it does not know the token. */
const TOKEN_CODES: ReadonlySet<string> = new Set([
	"M_UNKNOWN_TOKEN",
	"M_MISSING_TOKEN",
	"M_USER_DEACTIVATED",
	"M_USER_LOCKED",
]);

export function isTokenRefused(error: unknown): boolean {
	return error instanceof MatrixError && (error.status === 401 || TOKEN_CODES.has(error.code));
}

/** Why this room can no longer be written to. */
export function goneReason(error: unknown): string | null {
	if (!(error instanceof MatrixError) || error.status === 429) return null;
	return error.code === "M_FORBIDDEN" &&
		/not in room|not a member|not joined|not invited/i.test(error.message)
		? error.message
		: null;
}

export function outcomeOf(error: unknown, plain: boolean): SendResult {
	const reason = reasonOf(error);
	if (error instanceof NotSent) return { kind: "retry", reason };
	if (!(error instanceof MatrixError)) return { kind: "unknown", reason };
	if (error.status === 429) return { kind: "retry", afterMs: error.retryAfterMs ?? 1000, reason };
	// Waits until the channel has an accepted token; uses up no attempt.
	if (isTokenRefused(error))
		return { kind: "retry", afterMs: 5000, reason: "the server does not accept the access token" };
	if (error.status >= 500)
		return { kind: "unknown", reason: `the server answered ${error.status}: ${reason}` };
	if (!plain && (error.code === "M_TOO_LARGE" || error.code === "M_BAD_JSON"))
		return { kind: "markup_refused" };
	return { kind: "refused", reason };
}

/** For requests before anything visible was sent: nothing can have arrived. */
export function outcomeBefore(error: unknown): SendResult {
	const outcome = outcomeOf(error, true);
	return outcome.kind === "unknown" ? { kind: "retry", reason: outcome.reason } : outcome;
}

export function reasonOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
