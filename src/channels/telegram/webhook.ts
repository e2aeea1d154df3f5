// Webhook mode: Telegram posts each update to the channel's address. The secret in a header proves that it did. It is made from the bot's
// token, so nobody has to keep it, and a new token brings a new one.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Update, WebhookInfo } from "grammy/types";

/** Chats are served side by side, so that a large file holds up its own chat alone. */
export const MOST_AT_ONCE = 40;
export const SECRET_HEADER = "x-telegram-bot-api-secret-token";

export function secretOf(token: string): string {
	return createHmac("sha256", token).update("keryx: webhook of Telegram").digest("hex");
}

export function isSecret(given: string | undefined, secret: string): boolean {
	const digest = (text: string) => createHash("sha256").update(text).digest();
	return given !== undefined && timingSafeEqual(digest(given), digest(secret));
}

/** Null where it is none. */
export function readUpdate(body: Uint8Array): Update | null {
	try {
		const update = JSON.parse(Buffer.from(body).toString()) as Partial<Update> | null;
		return Number.isSafeInteger(update?.update_id) ? (update as Update) : null;
	} catch {
		return null;
	}
}

/** Kept as the channel's cursor before the webhook is set: a later life knows that it may remove it. */
export function webhookCursor(bot: number, url: string): string {
	return `webhook:${bot}:${url}`;
}

/** The address that Keryx itself set for this bot; null where it set none. */
export function ownUrl(cursor: string | null, bot: number): string | null {
	const prefix = webhookCursor(bot, "");
	return cursor?.startsWith(prefix) ? cursor.slice(prefix.length) : null;
}

/** The bot's updates go to an address that Keryx did not set. */
export class ForeignWebhook extends Error {
	/** Without its path, which may hold a secret. */
	readonly host: string;

	constructor(url: string) {
		super("another webhook");
		this.host = URL.canParse(url) ? new URL(url).host : "another address";
	}
}

/** Why Telegram's requests do not get through, where nothing has come through since. */
export function deliveryTrouble(
	{ last_error_date: at = 0, last_error_message: message, pending_update_count: waiting }: WebhookInfo,
	heardAt: number,
): string | undefined {
	if (waiting === 0 || message === undefined || at * 1000 + 999 < heardAt) return undefined;
	return `Telegram cannot deliver to webhook_url (${message}): check the address and what stands in front of Keryx; ${waiting} updates wait`;
}
