// How fast an app may speak and read. Slack counts by method: messages one a second in a channel and some hundreds a minute in all, changes
// and reads 50 a minute in all. Everybody waits in the order in which they came, so that many answers at once get slower together.
import type { Clock } from "../../time/index.ts";

interface Allowance {
	/** How many at once. */
	readonly burst: number;
	/** How long until there is one more. */
	readonly everyMs: number;
}

type Kind = "message" | "change" | "read";
/** What is sent in one channel counts for that, too. */
export type Allowances = Readonly<Record<Kind | "channel", Allowance>>;

/** In any minute at most 50 changes and 50 reads, each of a method of its own. */
export const ALLOWED: Allowances = {
	message: { burst: 20, everyMs: 200 },
	channel: { burst: 5, everyMs: 1000 },
	change: { burst: 4, everyMs: 1320 },
	read: { burst: 4, everyMs: 1320 },
};
/**
 * Whoever would wait longer is sent away. A message waits in the store then: what is killed while it waits here would be of unknown outcome,
 * though it never left. A change may be repeated; a read has the time.
 */
const LONGEST_WAIT_MS: Readonly<Record<Kind, number>> = {
	message: 2500,
	change: 5000,
	read: Number.POSITIVE_INFINITY,
};
/** Channels that have not been written to for long are forgotten when there are so many. */
const REMEMBERED = 1000;

export type Place =
	/** It has its place: it may go after so long. */
	| { readonly afterMs: number }
	/** It has none: it may ask again after so long. */
	| { readonly askAfterMs: number };

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	readonly #allowed: Allowances;
	/** When each allowance will be whole again, by kind or channel. */
	readonly #wholeAt = new Map<string, number>();

	constructor(clock: Pick<Clock, "monotonic">, allowed: Allowances = ALLOWED) {
		this.#clock = clock;
		this.#allowed = allowed;
	}

	/** `by` names the channel of a message, the method of a read. */
	take(kind: Kind, by: string): Place {
		const key = kind === "read" ? by : kind;
		const allowed = this.#allowed[kind];
		const ofChannel = kind === "message" ? this.#waitOf(`in ${by}`, this.#allowed.channel) : 0;
		const wait = Math.max(this.#waitOf(key, allowed), ofChannel);
		const longest = LONGEST_WAIT_MS[kind];
		if (wait > longest) return { askAfterMs: Math.ceil(wait - longest / 2) };
		this.#use(key, allowed);
		if (kind === "message") this.#use(`in ${by}`, this.#allowed.channel);
		return { afterMs: Math.ceil(wait) };
	}

	#waitOf(key: string, { burst, everyMs }: Allowance): number {
		const missing = (this.#wholeAt.get(key) ?? 0) - this.#clock.monotonic();
		return Math.max(0, missing - (burst - 1) * everyMs);
	}

	#use(key: string, { everyMs }: Allowance): void {
		const now = this.#clock.monotonic();
		this.#wholeAt.set(key, Math.max(now, this.#wholeAt.get(key) ?? 0) + everyMs);
		if (this.#wholeAt.size <= REMEMBERED) return;
		for (const [known, at] of this.#wholeAt) if (at <= now) this.#wholeAt.delete(known);
	}
}
