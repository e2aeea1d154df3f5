// The options of every platform channel.
import type { Clock } from "../time/index.ts";

export interface PlatformOptions {
	/** The name of its entry in `channels`. */
	readonly name: string;
	/** Distinguishes several bots; default: the only one. */
	readonly account?: string;
	/** The profile of its messages. */
	readonly profile?: string;
	/** The bot's token. Read when connecting, and again after a refusal. */
	readonly token: () => Promise<string>;
	/** Another server that speaks the platform's protocol. */
	readonly apiRoot?: string;
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	readonly random?: () => number;
	/** After this long without an answer, the channel counts as down. */
	readonly aliveMs?: number;
	/** How long fetching one file may take. */
	readonly downloadMs?: number;
	/** The pause after the first failure; doubles up to `longestPauseMs`. */
	readonly firstPauseMs?: number;
	readonly longestPauseMs?: number;
}
