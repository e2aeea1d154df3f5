// What is wrong with the line to Telegram, with the remedy.
import { KeryxError } from "../../errors.ts";
import type { Trouble } from "../vitals.ts";
import { isApiError, isConflict, isTokenRefused, isWebhookConflict, reasonOf } from "./outcome.ts";
import { ForeignWebhook } from "./webhook.ts";

/** How long Telegram asks to wait. */
export function askedPause(error: unknown): number {
	return isApiError(error) ? (error.parameters.retry_after ?? 0) * 1000 : 0;
}

export function troubleOf(error: unknown): Trouble {
	if (error instanceof KeryxError)
		return { state: "needs_attention", detail: `${error.message}: ${error.hint}` };
	if (isTokenRefused(error))
		return {
			state: "needs_attention",
			detail:
				"Telegram does not accept the bot's token: get a new one from @BotFather with /token and replace the old one; Keryx checks again automatically",
		};
	if (isApiError(error) && isConflict(error))
		return {
			state: "needs_attention",
			detail: isWebhookConflict(error)
				? "this bot has a webhook, so Telegram sends its messages there: remove it with deleteWebhook, or use another bot"
				: "another program is reading this bot's messages: stop it, or give each its own bot",
		};
	if (error instanceof ForeignWebhook)
		return {
			state: "needs_attention",
			detail: `this bot's messages go to another program's webhook, at ${error.host}: remove it with deleteWebhook, or use another bot`,
		};
	return { state: "degraded", detail: `Telegram cannot be reached: ${reasonOf(error)}` };
}
