// Clocks of tests: one that only the test moves, and the machine's own, which counts.
import { type Clock, systemClock } from "../../src/time/index.ts";

export {
	countedIds,
	createWallClock,
	HOUR,
	MINUTE,
	NOON,
	type WallClock,
} from "../../src/testing/conformance/clock.ts";

export interface CountedClock extends Clock {
	/** How long Keryx itself has waited: the sum of all its timers that fired. What others took is not in it. */
	waitedMs(): number;
}

export function countedClock(): CountedClock {
	let waited = 0;
	return {
		...systemClock,
		after: (ms, callback) =>
			systemClock.after(ms, () => {
				waited += ms;
				callback();
			}),
		waitedMs: () => waited,
	};
}
