// What is wrong with the line to Slack, with the remedy.
import { KeryxError } from "../../errors.ts";
import type { Trouble } from "../vitals.ts";
import { isTokenRefused, reasonOf, wordOf } from "./outcome.ts";
import { SocketRefused } from "./socket.ts";

export const FORGED =
	"a request came without the right signature: if Slack sent it, put the signing secret of the app (Basic Information at api.slack.com/apps) in the place of the old one";

export function connectedTimes(count: number): string {
	return `${count} programs are connected to this app, and Slack sends each event to only one of them: stop the others`;
}

export function troubleOf(error: unknown): Trouble {
	if (error instanceof KeryxError) return attention(`${error.message}: ${error.hint}`);
	if (error instanceof SocketRefused) {
		if (error.end === "disabled")
			return attention("Socket Mode is off for the app: turn it on at api.slack.com/apps, under Socket Mode");
		if (error.end === "too many") return attention(TOO_MANY);
	}
	const word = wordOf(error);
	if (word === "not_allowed_token_type")
		return attention(
			"wrong kind of token: token_env or token_file must hold the bot token (xoxb-), app_token_env or app_token_file the app-level token (xapp-)",
		);
	if (word === "missing_scope")
		return attention(
			"the app-level token is not allowed to connect: create one with the scope connections:write at api.slack.com/apps, under Basic Information",
		);
	if (word === "too_many_websockets") return attention(TOO_MANY);
	if (isTokenRefused(error))
		return attention(
			`Slack does not accept the app's token (${word}): install the app again at api.slack.com/apps, under Install App, and replace the old token; Keryx checks again automatically`,
		);
	return { state: "degraded", detail: `Slack cannot be reached: ${reasonOf(error)}` };
}

const TOO_MANY =
	"ten programs are connected to this app, which is Slack's limit: stop the others, or give each its own app";

function attention(detail: string): Trouble {
	return { state: "needs_attention", detail };
}
