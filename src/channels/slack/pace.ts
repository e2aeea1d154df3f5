// The app's rate. Slack counts by method: one message a second per channel and some hundreds a minute in total, 50 edits and 50 reads a
// minute. Everyone waits in arrival order, so that many answers slow down together.
import type { Clock } from "../../time/index.ts";

interface Allowance {
	/** How many at once. */
	readonly burst: number;
	/** How long until one more. */
	readonly everyMs: number;
}

type Kind = "message" | "change" | "read";
/** Messages also count towards their channel. */
export type Allowances = Readonly<Record<Kind | "channel", Allowance>>;

/** At most 50 edits and 50 reads in any minute, each per method. */
export const ALLOWED: Allowances = {
	message: { burst: 20, everyMs: 200 },
	channel: { burst: 5, everyMs: 1000 },
	change: { burst: 4, everyMs: 1320 },
	read: { burst: 4, everyMs: 1320 },
};
/**
 * Longer waits are refused. A message then waits in the store: if it were killed while waiting here, its outcome would be unknown
 * although it never left. An edit may be repeated; a read has time.
 */
const LONGEST_WAIT_MS: Readonly<Record<Kind, number>> = {
	message: 2500,
	change: 5000,
	read: Number.POSITIVE_INFINITY,
};
/** Long unused channels are dropped when there are this many. */
const REMEMBERED = 1000;

export type Slot =
	/** It has a slot: it may go after this long. */
	| { readonly afterMs: number }
	/** No slot: it may ask again after this long. */
	| { readonly askAfterMs: number };

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	readonly #allowed: Allowances;
	/** When each allowance is full again, by kind or channel. */
	readonly #wholeAt = new Map<string, number>();

	constructor(clock: Pick<Clock, "monotonic">, allowed: Allowances = ALLOWED) {
		this.#clock = clock;
		this.#allowed = allowed;
	}

	/** `by` names a message's channel, or a read's method. */
	take(kind: Kind, by: string): Slot {
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
