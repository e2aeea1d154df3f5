// What is wrong with the line to Discord, with the remedy.
import { KeryxError } from "../../errors.ts";
import type { Trouble } from "../vitals.ts";
import { NO_INTENT } from "./names.ts";
import { isRateLimit, isTokenRefused, pauseOf, reasonOf } from "./outcome.ts";

/** Only a person can change this. */
export class NeedsAttention extends Error {}

class TokenRefused extends Error {}

export class TooManySessions extends Error {
	readonly ms: number;
	constructor(ms: number) {
		super("Discord allows this bot no more sessions today");
		this.ms = ms;
	}
}

/** Discord's close codes. */
const CLOSED = {
	token: 4004,
	sequence: 4007,
	expired: 4009,
	shards: 4011,
	unknownIntents: 4013,
	intents: 4014,
} as const;

const TOO_MANY_SERVERS =
	"the bot is in more servers than one connection can serve: remove it from some, or use another bot";

/** The meaning of a connection closed by Discord. */
export function closedBy(code: number): Error {
	if (code === CLOSED.token) return new TokenRefused();
	if (code === CLOSED.intents || code === CLOSED.unknownIntents) return new NeedsAttention(NO_INTENT);
	if (code === CLOSED.shards) return new NeedsAttention(TOO_MANY_SERVERS);
	return new Error(`the connection was closed (${code})`);
}

/** Whether the session is over with the connection. */
export function endsSession(code: number): boolean {
	return code === CLOSED.sequence || code === CLOSED.expired;
}

/** How long Discord asks to wait. */
export function askedPause(error: unknown): number {
	if (isRateLimit(error)) return pauseOf(error);
	return error instanceof TooManySessions ? error.ms : 0;
}

export function troubleOf(error: unknown): Trouble {
	if (error instanceof KeryxError && error.code.startsWith("channel."))
		return { state: "needs_attention", detail: `${error.message}: ${error.hint}` };
	if (error instanceof NeedsAttention) return { state: "needs_attention", detail: error.message };
	if (error instanceof TokenRefused || isTokenRefused(error))
		return {
			state: "needs_attention",
			detail:
				"Discord does not accept the bot's token: reset it in the Developer Portal, under Bot, and replace the old one; Keryx checks again automatically",
		};
	const what = error instanceof KeryxError ? "an event could not be stored" : "Discord cannot be reached";
	return { state: "degraded", detail: `${what}: ${reasonOf(error)}` };
}
