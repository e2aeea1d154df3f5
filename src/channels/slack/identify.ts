// Identifies the tokens, for setting up a channel: one call each.
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { isTokenRefused, reasonOf, wordOf } from "./outcome.ts";
import { API_ROOT, Web } from "./web.ts";

export interface SlackIdentity {
	readonly who: string;
	/** What the app cannot do as configured in Slack, each with the remedy. */
	readonly remarks: readonly string[];
}

/** The purpose of each scope; without those of the first line nothing works. */
const SCOPES: Readonly<Record<string, string>> = {
	"chat:write": "it cannot send messages",
	"im:history": "it cannot read direct messages",
	"channels:history": "it cannot read public channels",
	"groups:history": "it cannot read private channels",
	"im:read": "it misses direct messages sent while Keryx is down",
	"channels:read": "it misses messages in public channels sent while Keryx is down",
	"users:read": "it cannot see people's names",
	"files:read": "it cannot read files",
	"files:write": "it cannot send files",
};

/** Throws channel.refused, which says whether Slack refused a token, which one, or could not be reached. */
export async function identifySlack(options: {
	readonly token: string;
	/** Empty if Slack posts its events. */
	readonly appToken: string;
	readonly apiRoot?: string;
}): Promise<SlackIdentity> {
	const { WebClient } = await import("@slack/web-api");
	const { token, appToken, apiRoot = API_ROOT } = options;
	const web = (of: string) => new Web({ WebClient, token: of, apiRoot, clock: systemClock });
	const bot = await asked("bot token (xoxb-)", () =>
		web(token).call<{ user?: string; team?: string; response_metadata?: { scopes?: string[] } }>("auth.test"),
	);
	if (appToken !== "")
		await asked("app-level token (xapp-)", () => web(appToken).call("apps.connections.open"));
	const granted = new Set(bot.response_metadata?.scopes ?? []);
	const missing = Object.entries(SCOPES).filter(([scope]) => granted.size > 0 && !granted.has(scope));
	return {
		who: `@${bot.user} in ${bot.team}`,
		remarks: missing.map(
			([scope, effect]) =>
				`The app lacks the scope ${scope}: ${effect}. Add it at api.slack.com/apps, under OAuth & Permissions, and install the app again.`,
		),
	};
}

async function asked<Answer>(which: string, call: () => Promise<Answer>): Promise<Answer> {
	try {
		return await call();
	} catch (error) {
		if (wordOf(error) === "not_allowed_token_type")
			throw new KeryxError(
				"channel.refused",
				`Slack does not accept this as the ${which}: it is a different kind of token`,
				{
					hint: "the bot token starts with xoxb-, the app-level token with xapp-",
				},
			);
		if (wordOf(error) === "missing_scope")
			throw new KeryxError("channel.refused", `the ${which} is not allowed to connect`, {
				hint: "create an app-level token with the scope connections:write",
			});
		throw isTokenRefused(error)
			? new KeryxError("channel.refused", `Slack does not accept the ${which}: ${reasonOf(error)}`)
			: new KeryxError("channel.refused", `could not ask Slack who the app is: ${reasonOf(error)}`, {
					hint: "check this machine's network and api_root, then try again",
				});
	}
}
