// How fast a bot may speak in all: 50 requests a second. Everybody waits in the order in which they came, so that many answers at once get
// slower together. What a single channel is allowed Discord says with each answer; REST goes by that.
import type { Clock } from "../../time/index.ts";

/** At most 45 in any second. */
const BURST = 5;
const EVERY_MS = 25;
/**
 * Whoever would wait longer is sent away. A message waits in the store then: what is killed while it waits here would be of unknown outcome,
 * though it never left. A change may be repeated.
 */
const LONGEST_WAIT_MS = { message: 2500, change: 5000 } as const;

export type Turn =
	/** It may go after so long. */
	| { readonly afterMs: number }
	/** It has no place: it may ask again after so long. */
	| { readonly askAfterMs: number };

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	/** When the allowance will be whole again. */
	#wholeAt = Number.NEGATIVE_INFINITY;

	constructor(clock: Pick<Clock, "monotonic">) {
		this.#clock = clock;
	}

	take(what: "message" | "change"): Turn {
		const now = this.#clock.monotonic();
		const wait = Math.max(0, this.#wholeAt - now - (BURST - 1) * EVERY_MS);
		const longest = LONGEST_WAIT_MS[what];
		if (wait > longest) return { askAfterMs: Math.ceil(wait - longest / 2) };
		this.#wholeAt = Math.max(now, this.#wholeAt) + EVERY_MS;
		return { afterMs: Math.ceil(wait) };
	}
}
