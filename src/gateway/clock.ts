import type { Clock } from "../store/index.ts";

/** The gateway's only source of time: now, and something to happen later. */
export interface GatewayClock extends Clock {
	/** Calls back after so many milliseconds; answers how to cancel that. */
	after(ms: number, callback: () => void): () => void;
}

export const systemClock: GatewayClock = {
	now: () => Date.now(),
	after: (ms, callback) => {
		// Longer waits than a timer can hold are cut: whoever waits looks at the clock again.
		const timer = setTimeout(callback, Math.min(Math.max(0, ms), 2 ** 31 - 1));
		timer.unref();
		return () => clearTimeout(timer);
	},
};
