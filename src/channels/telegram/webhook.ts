// Webhook mode: Telegram posts each update to the channel's address. A secret in a header proves it. It is derived from the bot's token,
// so nobody has to store it, and a new token brings a new one.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Update, WebhookInfo } from "grammy/types";

/** Chats are served in parallel, so that a large file delays only its own chat. */
export const MOST_AT_ONCE = 40;
export const SECRET_HEADER = "x-telegram-bot-api-secret-token";

export function secretOf(token: string): string {
	return createHmac("sha256", token).update("keryx: webhook of Telegram").digest("hex");
}

export function isSecret(given: string | undefined, secret: string): boolean {
	const digest = (text: string) => createHash("sha256").update(text).digest();
	return given !== undefined && timingSafeEqual(digest(given), digest(secret));
}

/** Null if it is none. */
export function readUpdate(body: Uint8Array): Update | null {
	try {
		const update = JSON.parse(Buffer.from(body).toString()) as Partial<Update> | null;
		return Number.isSafeInteger(update?.update_id) ? (update as Update) : null;
	} catch {
		return null;
	}
}

/** Stored as the channel's cursor before the webhook is set, so that a later run knows it may remove it. */
export function webhookCursor(bot: number, url: string): string {
	return `webhook:${bot}:${url}`;
}

/** The address Keryx itself set for this bot; null if none. */
export function ownUrl(cursor: string | null, bot: number): string | null {
	const prefix = webhookCursor(bot, "");
	return cursor?.startsWith(prefix) ? cursor.slice(prefix.length) : null;
}

/** The bot's updates go to an address that Keryx did not set. */
export class ForeignWebhook extends Error {
	/** Without its path, which may contain a secret. */
	readonly host: string;

	constructor(url: string) {
		super("another webhook");
		this.host = URL.canParse(url) ? new URL(url).host : "another address";
	}
}

/** Why Telegram's requests do not get through, if none has since. */
export function deliveryTrouble(
	{ last_error_date: at = 0, last_error_message: message, pending_update_count: waiting }: WebhookInfo,
	heardAt: number,
): string | undefined {
	if (waiting === 0 || message === undefined || at * 1000 + 999 < heardAt) return undefined;
	return `Telegram cannot deliver to webhook_url (${message}): check the address and what stands in front of Keryx; ${waiting} updates wait`;
}
