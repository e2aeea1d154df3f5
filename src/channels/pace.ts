// Keryx's sending rate: a bucket of commands that refills one by one. Servers slow down or disconnect faster senders.
import type { Clock } from "../time/index.ts";

export interface Flood {
	/** This many commands at once. */
	readonly burst: number;
	/** One more after this long. */
	readonly everyMs: number;
}

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	readonly #flood: Flood;
	/** When the bucket is full again. */
	#fullAt = Number.NEGATIVE_INFINITY;

	constructor(clock: Pick<Clock, "monotonic">, flood: Flood) {
		this.#clock = clock;
		this.#flood = flood;
	}

	/** How many commands may go now, and how long until there is room for `wanted`. */
	room(wanted: number): { readonly free: number; readonly afterMs: number } {
		const { burst, everyMs } = this.#flood;
		const debt = Math.max(0, this.#fullAt - this.#clock.monotonic());
		const free = Math.max(0, burst - Math.ceil(debt / everyMs));
		const most = Math.min(wanted, burst);
		return { free, afterMs: Math.max(0, Math.ceil(debt - (burst - most) * everyMs)) };
	}

	/** Counts a command, even if it must not wait. */
	count(commands: number): void {
		const now = this.#clock.monotonic();
		this.#fullAt = Math.max(now, this.#fullAt) + commands * this.#flood.everyMs;
	}
}
