// Notifies a webhook of a request. Signed, so that its receiver knows the sender and time; it gives no right to answer.
import { createHmac } from "node:crypto";
import type { Confirmation } from "../store/index.ts";

const TIMEOUT_MS = 10_000;
const MOST_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 5_000;
export const LONGEST_PAUSE_MS = FIRST_PAUSE_MS * 2 ** (MOST_ATTEMPTS - 2);

export interface Webhook {
	readonly url: string;
	/** The signature's secret, shared with the receiver. */
	readonly secret: string;
}

const FEWEST_BYTES = 16;

/** What is wrong with a signing secret, or null. With one signed message, short secrets can be guessed. */
export function weakSecret(variable: string, secret: string): string | null {
	const bytes = Buffer.byteLength(secret);
	return bytes >= FEWEST_BYTES ? null : `${variable} has ${bytes} bytes, but needs at least ${FEWEST_BYTES}`;
}

export type WebhookOutcome =
	| { readonly kind: "sent" }
	| { readonly kind: "retry"; readonly reason: string; readonly afterMs: number }
	| { readonly kind: "dead"; readonly reason: string };

/** Never throws. The body contains the confirmation's id, so that a receiver can recognise a repeated call. */
export async function tellWebhook(
	{ url, secret }: Webhook,
	confirmation: Confirmation,
	{ now, attempts }: { readonly now: number; readonly attempts: number },
): Promise<WebhookOutcome> {
	const body = JSON.stringify({ event: "confirmation.requested", confirmation: wire(confirmation) });
	const at = String(Math.floor(now / 1000));
	const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
	const failed = (reason: string): WebhookOutcome =>
		attempts + 1 >= MOST_ATTEMPTS
			? { kind: "dead", reason }
			: { kind: "retry", reason, afterMs: FIRST_PAUSE_MS * 2 ** attempts };
	try {
		const response = await fetch(url, {
			method: "POST",
			redirect: "error",
			headers: {
				"content-type": "application/json",
				"x-keryx-timestamp": at,
				"x-keryx-signature": `v1=${signature}`,
			},
			body,
			signal: AbortSignal.timeout(TIMEOUT_MS),
		});
		await response.body?.cancel();
		if (response.ok) return { kind: "sent" };
		const reason = `it answered ${response.status}`;
		const temporary = response.status >= 500 || response.status === 408 || response.status === 429;
		return temporary ? failed(reason) : { kind: "dead", reason };
	} catch (error) {
		return failed(error instanceof Error ? error.message : String(error));
	}
}

function wire({ id, action, description, details, requester, sessionKey, askedBy, expiresAt }: Confirmation) {
	return {
		id,
		action,
		description,
		details,
		requester,
		asked_by: askedBy,
		session_key: sessionKey,
		expires_at: expiresAt / 1000,
		how_to_answer: `keryx confirm approve ${id}, or keryx confirm deny ${id}`,
	};
}
