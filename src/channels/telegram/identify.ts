// Identifies a token, for setting up a channel: one getMe call.
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { Transport } from "../transport.ts";
import { isTokenRefused, reasonOf } from "./outcome.ts";

const ANSWER_MS = 20_000;

export interface TelegramIdentity {
	readonly who: string;
	/** What the bot cannot do as configured in Telegram, each with the remedy. */
	readonly remarks: readonly string[];
}

/** Throws channel.refused, which says whether Telegram refused the token or could not be reached. */
export async function identifyTelegram(options: {
	readonly token: string;
	readonly apiRoot?: string;
}): Promise<TelegramIdentity> {
	const { Api } = await import("grammy");
	const { token, apiRoot } = options;
	// Its own fetch follows redirects, and puts the address with the token into errors.
	const transport = new Transport({ clock: systemClock, deadlineOf: () => ANSWER_MS });
	const fetch = transport.fetch as unknown as typeof globalThis.fetch;
	const api = new Api(token, {
		fetch,
		...(apiRoot !== undefined && { apiRoot: apiRoot.replace(/\/+$/, "") }),
	});
	try {
		const me = await api.getMe();
		return {
			who: `@${me.username}`,
			remarks: me.can_read_all_group_messages
				? []
				: [
						"In groups, the bot only sees commands, mentions and replies. To let it see everything, send /setprivacy to @BotFather.",
					],
		};
	} catch (error) {
		throw isTokenRefused(error)
			? new KeryxError("channel.refused", `Telegram does not accept the token: ${reasonOf(error)}`)
			: new KeryxError("channel.refused", `could not ask Telegram who the bot is: ${reasonOf(error)}`, {
					hint: "check this machine's network and api_root, then try again",
				});
	} finally {
		transport.close();
	}
}
