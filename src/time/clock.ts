// The only source of time. It answers two questions that must not be mixed up: what time it is, which may change at any moment, and how
// much time has passed, which cannot.

export interface Clock {
	/** The wall clock: milliseconds since 1970 in UTC. For instants that are stored, shown or compared with a policy. May jump. */
	now(): number;
	/** For durations: only differences matter. Never jumps; sleep of the machine may not count. */
	monotonic(): number;
	/** Calls back after this many milliseconds (monotonic); returns the cancel function. */
	after(ms: number, callback: () => void): () => void;
}

/** Node fires a timer that is set further away at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A clock on the timers of the machine. Lets an idle process exit: its timers keep nothing alive. */
export function createSystemClock(timers: SystemTimers = nodeTimers): Clock {
	return {
		now: () => Date.now(),
		monotonic: () => performance.now(),
		after: (ms, callback) => {
			let cancel = () => {};
			const wait = (left: number) => {
				cancel =
					left > LONGEST_TIMER_MS
						? timers.set(LONGEST_TIMER_MS, () => wait(left - LONGEST_TIMER_MS))
						: timers.set(Math.max(0, left), callback);
			};
			wait(ms);
			return () => cancel();
		},
	};
}

/** What the machine's timers can do. */
export interface SystemTimers {
	/** At most 2^31 - 1 milliseconds; returns the cancel function. */
	set(ms: number, callback: () => void): () => void;
}

const holdingTimers: SystemTimers = {
	set: (ms, callback) => {
		const timer = setTimeout(callback, ms);
		return () => clearTimeout(timer);
	},
};

const nodeTimers: SystemTimers = {
	set: (ms, callback) => {
		const timer = setTimeout(callback, ms).unref();
		return () => clearTimeout(timer);
	},
};

export const systemClock: Clock = createSystemClock();

/** For work that must finish before the process exits: its timers keep the process alive. */
export const holdingClock: Clock = createSystemClock(holdingTimers);
