// Identifies a token, for setting up a channel.
import type { APIApplication, APIUser } from "discord-api-types/v10";
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { Transport } from "../transport.ts";
import { API_ROOT, CONTENT_FLAGS, NO_INTENT } from "./names.ts";
import { isTokenRefused, reasonOf } from "./outcome.ts";
import { openRest } from "./rest.ts";

const ANSWER_MS = 20_000;
/** View channels, send messages (also in threads), open threads, attach files, read the history, add reactions. */
const RIGHTS = "309237746752";

export interface DiscordIdentity {
	readonly who: string;
	/** What remains to be done in Discord, each with the remedy. */
	readonly remarks: readonly string[];
}

/** Throws channel.refused, which says whether Discord refused the token or could not be reached. */
export async function identifyDiscord(options: {
	readonly token: string;
	readonly apiRoot?: string;
}): Promise<DiscordIdentity> {
	const transport = new Transport({ clock: systemClock, deadlineOf: () => ANSWER_MS });
	try {
		const rest = await openRest(options.token, (options.apiRoot ?? API_ROOT).replace(/\/+$/, ""), transport);
		const me = (await rest.get("/users/@me")) as APIUser;
		const { id, flags = 0 } = (await rest.get("/applications/@me")) as APIApplication;
		return {
			who: `@${me.username}`,
			remarks: [
				...((flags & CONTENT_FLAGS) === 0 ? [`${NO_INTENT}.`] : []),
				`To add it to a server, open https://discord.com/oauth2/authorize?client_id=${id}&scope=bot+applications.commands&permissions=${RIGHTS}`,
			],
		};
	} catch (error) {
		throw isTokenRefused(error)
			? new KeryxError("channel.refused", `Discord does not accept the token: ${reasonOf(error)}`)
			: new KeryxError("channel.refused", `could not ask Discord who the bot is: ${reasonOf(error)}`, {
					hint: "check this machine's network and api_root, then try again",
				});
	} finally {
		transport.close();
	}
}
