// Retries a write that must not be given up while the store is in trouble: a full disk, a lock, a failing device. Always with a pause.
import type { Clock } from "./clock.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

export interface Patience {
	readonly clock: Clock;
	/** Ends the retries and the pause. */
	readonly signal: AbortSignal;
	/** Whether the same can succeed later; any other error is thrown. */
	readonly isPassing: (error: unknown) => boolean;
	readonly log: (error: unknown) => void;
}

/** Retries, a little later each time, until it succeeds or the signal aborts. */
export async function untilWritten<Value>(work: () => Promise<Value>, patience: Patience): Promise<Value> {
	const pauses = new Pauses(patience);
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!patience.isPassing(error)) throw error;
			patience.log(error);
			await pauses.next();
			if (patience.signal.aborted) throw error;
		}
	}
}

/** Pauses between attempts, growing each time. */
export class Pauses {
	readonly #options: Pick<Patience, "clock" | "signal">;
	#ms = FIRST_PAUSE_MS;

	constructor(options: Pick<Patience, "clock" | "signal">) {
		this.#options = options;
	}

	/** Resolves at once if the signal is aborted; the caller must check it. */
	next(): Promise<void> {
		const { clock, signal } = this.#options;
		const ms = this.#ms;
		this.#ms = Math.min(LONGEST_PAUSE_MS, ms * 2);
		return new Promise((resolve) => {
			if (signal.aborted) return resolve();
			const end = () => {
				cancel();
				signal.removeEventListener("abort", end);
				resolve();
			};
			const cancel = clock.after(ms, end);
			signal.addEventListener("abort", end, { once: true });
		});
	}
}
