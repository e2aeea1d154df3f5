// What every channel on a platform is made with.
import type { Clock } from "../time/index.ts";

export interface PlatformOptions {
	/** The name of its entry in `channels`. */
	readonly name: string;
	/** Tells several bots apart; left out: the only one. */
	readonly account?: string;
	/** The profile that its messages are for. */
	readonly profile?: string;
	/** The bot's. Read when it connects, and again when it was refused. */
	readonly token: () => Promise<string>;
	/** Another server that speaks the platform's protocol. */
	readonly apiRoot?: string;
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	readonly random?: () => number;
	/** So long without an answer, and the channel counts as down. */
	readonly aliveMs?: number;
	/** How long one file may take to come. */
	readonly downloadMs?: number;
	/** The pause after the first failure; it doubles up to `longestPauseMs`. */
	readonly firstPauseMs?: number;
	readonly longestPauseMs?: number;
}
