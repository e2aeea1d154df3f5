// Interprets a call's error. Refused, retry and unknown are three results; only certain ones are reported as such (I7).
import type { GrammyError, HttpError } from "grammy";
import type { SendResult } from "../../gateway/index.ts";
import { NotSent } from "../transport.ts";

/** grammY is loaded when a channel starts, so its errors are recognised by name. */
export function isApiError(error: unknown): error is GrammyError {
	return error instanceof Error && error.name === "GrammyError";
}

function isHttpError(error: unknown): error is HttpError {
	return error instanceof Error && error.name === "HttpError";
}

/** Telegram does not accept the token; a malformed one is "not found". */
export function isTokenRefused(error: unknown): boolean {
	if (!isApiError(error)) return false;
	const { error_code: code, method } = error;
	return code === 401 || (code === 404 && method === "getMe");
}

/** Another program reads this bot's updates. */
export function isConflict(error: unknown): boolean {
	return isApiError(error) && error.error_code === 409;
}

/** A webhook is set, so nobody can poll. */
export function isWebhookConflict(error: unknown): boolean {
	return isApiError(error) && isConflict(error) && /webhook/i.test(error.description);
}

/** The group's id as a supergroup. */
export function movedTo(error: unknown): string | null {
	const to = isApiError(error) ? error.parameters.migrate_to_chat_id : undefined;
	return to === undefined ? null : String(to);
}

/** Why this chat can no longer be written to. */
export function goneReason(error: unknown): string | null {
	if (!isApiError(error)) return null;
	const { error_code: code, description } = error;
	return code === 403 || (code === 400 && /chat not found|user is deactivated/i.test(description))
		? description.replace(/^[^:]*: /, "")
		: null;
}

export function outcomeOf(error: unknown): SendResult {
	if (isApiError(error)) return outcomeOfAnswer(error);
	const reason = reasonOf(error);
	const cause = isHttpError(error) ? error.error : error;
	return cause instanceof NotSent ? { kind: "retry", reason } : { kind: "unknown", reason };
}

function outcomeOfAnswer(error: GrammyError): SendResult {
	const { error_code: code, description, parameters } = error;
	if (code === 429)
		return { kind: "retry", afterMs: (parameters.retry_after ?? 1) * 1000, reason: description };
	// Waits until the channel has an accepted token; uses up no attempt.
	if (code === 401)
		return { kind: "retry", afterMs: 5000, reason: "Telegram does not accept the bot's token" };
	if (code >= 500) return { kind: "unknown", reason: `Telegram answered ${code}: ${description}` };
	if (/can't parse entities|unsupported start tag/i.test(description)) return { kind: "markup_refused" };
	return { kind: "refused", reason: description };
}

/** In plain words, without the address, which contains the token. */
export function reasonOf(error: unknown): string {
	if (isApiError(error)) return error.description;
	const cause = isHttpError(error) ? error.error : error;
	return cause instanceof Error ? cause.message : String(cause);
}
