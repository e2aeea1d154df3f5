// Time that only a test moves. Timers fire in order, and after each one everything it triggers
// can happen.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { KeryxError } from "../errors.ts";
import type { Clock } from "../time/index.ts";

export interface VirtualClock extends Clock {
	/** Advances by this much: fires due timers in order, and resolves when everything has settled. */
	advance(ms: number): Promise<void>;
	/** The same at once: nothing that is set off has room to happen in between. For code that does all its work in its timers. */
	pass(ms: number): void;
	/** As advance, up to an instant, which must not be in the past. */
	advanceTo(at: number): Promise<void>;
	/** Sets the wall clock forwards or back, as an administrator would. No time passes: timers keep their remaining time. */
	jump(ms: number): void;
	/** When each waiting timer is due, soonest first. */
	pendingTimers(): readonly number[];
}

export interface VirtualClockOptions {
	/**
	 * Resolves when nothing is running any more. Default: a few turns of the event loop, enough for work in
	 * this thread; a store has its own threads (see `trackedEngine`).
	 */
	readonly settle?: () => Promise<void>;
}

interface Timer {
	/** By the monotonic clock. */
	readonly at: number;
	readonly callback: () => void;
}

export function createVirtualClock(
	start: number,
	{ settle = fewTurns }: VirtualClockOptions = {},
): VirtualClock {
	let wall = start;
	let elapsed = 0;
	const timers = new Set<Timer>();
	let moving: Promise<void> = Promise.resolve();

	const passTo = (at: number) => {
		wall += at - elapsed;
		elapsed = at;
	};
	const endAfter = (ms: number) => {
		if (ms >= 0) return elapsed + ms;
		throw new KeryxError("argument.invalid", "time passes forwards only", {
			hint: "use jump to set the clock back",
		});
	};
	/** False: nothing is due until then. */
	const fireNext = (until: number) => {
		const timer = nextBy(timers, until);
		if (!timer) return false;
		timers.delete(timer);
		passTo(timer.at);
		timer.callback();
		return true;
	};
	const move = async (ms: number) => {
		const until = endAfter(ms);
		await settle();
		while (fireNext(until)) await settle();
		passTo(until);
		await settle();
	};
	/** One after the other, even if the caller does not wait in between. */
	const queue = (ms: () => number): Promise<void> => {
		const moved = moving.then(() => move(ms()));
		moving = moved.catch(() => {});
		return moved;
	};

	return {
		now: () => wall,
		monotonic: () => elapsed,
		after: (ms, callback) => {
			const timer = { at: elapsed + Math.max(0, ms), callback };
			timers.add(timer);
			return () => timers.delete(timer);
		},
		advance: (ms) => queue(() => ms),
		pass: (ms) => {
			const until = endAfter(ms);
			while (fireNext(until));
			passTo(until);
		},
		advanceTo: (at) => queue(() => at - wall),
		jump: (ms) => {
			wall += ms;
		},
		pendingTimers: () => [...timers].map(({ at }) => at - elapsed + wall).sort((a, b) => a - b),
	};
}

/** The earliest; of several at one instant, the one set first. */
function nextBy(timers: ReadonlySet<Timer>, until: number): Timer | undefined {
	let next: Timer | undefined;
	for (const timer of timers) if (timer.at <= until && (!next || timer.at < next.at)) next = timer;
	return next;
}

const TURNS = 8;

async function fewTurns(): Promise<void> {
	for (let turn = 0; turn < TURNS; turn++) await turnOfTheLoop();
}
