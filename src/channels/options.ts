// The options of every platform channel.
import type { Clock } from "../time/index.ts";

/** For any channel that keeps a connection. */
export interface ConnectionOptions {
	/** The name of its entry in `channels`. */
	readonly name: string;
	/** Distinguishes several bots; default: the only one. */
	readonly account?: string;
	/** The profile of its messages. */
	readonly profile?: string;
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	readonly random?: () => number;
	/** After this long without an answer, the channel counts as down. */
	readonly aliveMs?: number;
	/** The pause after the first failure; doubles up to `longestPauseMs`. */
	readonly firstPauseMs?: number;
	readonly longestPauseMs?: number;
}

/** For a platform with bots and tokens. */
export interface PlatformOptions extends ConnectionOptions {
	/** The bot's token. Read when connecting, and again after a refusal. */
	readonly token: () => Promise<string>;
	/** Another server that speaks the platform's protocol. */
	readonly apiRoot?: string;
	/** How long fetching one file may take. */
	readonly downloadMs?: number;
}
