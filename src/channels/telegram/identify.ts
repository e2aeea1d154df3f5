// Who a token is, for setting a channel up: one call of getMe.
import { KeryxError } from "../../errors.ts";
import { isTokenRefused, reasonOf } from "./outcome.ts";

const ANSWER_SECONDS = 20;

export interface TelegramIdentity {
	readonly who: string;
	/** What the bot cannot do as it is set up in Telegram, each with the remedy. */
	readonly remarks: readonly string[];
}

/** Throws channel.refused, which says whether Telegram refused the token or could not be reached. */
export async function identifyTelegram(options: {
	readonly token: string;
	readonly apiRoot?: string;
}): Promise<TelegramIdentity> {
	const { Api } = await import("grammy");
	const { token, apiRoot } = options;
	const api = new Api(token, { timeoutSeconds: ANSWER_SECONDS, ...(apiRoot !== undefined && { apiRoot }) });
	try {
		const me = await api.getMe();
		return {
			who: `@${me.username}`,
			remarks: me.can_read_all_group_messages
				? []
				: [
						"In groups the bot sees only commands, mentions and replies. To give it the rest as context, send /setprivacy to @BotFather.",
					],
		};
	} catch (error) {
		throw isTokenRefused(error)
			? new KeryxError("channel.refused", `Telegram does not accept the token: ${reasonOf(error)}`)
			: new KeryxError("channel.refused", `Telegram cannot be asked who the bot is: ${reasonOf(error)}`, {
					hint: "check this machine's network and api_root, then try again",
				});
	}
}
