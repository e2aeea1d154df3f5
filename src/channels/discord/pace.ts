// The bot's global rate: 50 requests a second. Everyone waits in arrival order, so that many answers slow down together. Discord reports
// per-channel limits with each answer; REST respects those.
import type { Clock } from "../../time/index.ts";

/** At most 41 in any second as they leave. On the way some catch up with others: there is room for that. */
const BURST = 5;
const EVERY_MS = 28;
/**
 * Longer waits are refused. A message then waits in the store: if it were killed while waiting here, its outcome would be unknown
 * although it never left. An edit may be repeated.
 */
const LONGEST_WAIT_MS = { message: 2500, change: 5000 } as const;

export type Turn =
	/** It may go after this long. */
	| { readonly afterMs: number }
	/** No slot: it may ask again after this long. */
	| { readonly askAfterMs: number };

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	/** When the allowance is full again. */
	#wholeAt = Number.NEGATIVE_INFINITY;

	constructor(clock: Pick<Clock, "monotonic">) {
		this.#clock = clock;
	}

	take(what: "message" | "change"): Turn {
		const wait = this.#wait();
		const longest = LONGEST_WAIT_MS[what];
		if (wait > longest) return { askAfterMs: Math.ceil(wait - longest / 2) };
		this.#use();
		return { afterMs: Math.ceil(wait) };
	}

	/** Whether something that may be left out fits in now; if so, it counts. */
	fits(): boolean {
		if (this.#wait() > 0) return false;
		this.#use();
		return true;
	}

	#wait(): number {
		return Math.max(0, this.#wholeAt - this.#clock.monotonic() - (BURST - 1) * EVERY_MS);
	}

	#use(): void {
		this.#wholeAt = Math.max(this.#clock.monotonic(), this.#wholeAt) + EVERY_MS;
	}
}
