// Instants on a wall clock that may change at any moment: waiting for one, and measuring how long ago one was.
import type { Clock } from "./clock.ts";

/** A changed wall clock is noticed after this at the latest. */
const LOOK_EVERY_MS = 60_000;
/** Machines correct their clocks by less than this all the time; more is a jump. */
const JUMP_MS = 1000;
/** Older stretches are forgotten: with a clock set this often, ages are unknown anyway. */
const MOST_STRETCHES = 32;

type Clocks = Pick<Clock, "now" | "monotonic">;

/**
 * Calls back when the wall clock shows `at`; also within a minute after the clock was set, so that the caller checks what is due and
 * waits again. Returns the cancel function.
 */
export function wakeAt(clock: Clock, at: number, callback: () => void): () => void {
	const offset = offsetOf(clock);
	let cancel = () => {};
	const wait = () => {
		cancel = clock.after(Math.min(LOOK_EVERY_MS, Math.max(0, at - clock.now())), () => {
			if (clock.now() >= at || hasJumped(clock, offset)) callback();
			else wait();
		});
	};
	wait();
	return () => cancel();
}

/** While the wall clock is not set, it is the monotonic clock plus an offset. */
interface Stretch {
	readonly offset: number;
	/** By the monotonic clock: the earliest and the latest time. */
	readonly from: number;
	until: number;
}

/** The history of the wall clock since the process started, so that ages do not jump with it. */
export class WallHistory {
	readonly #clock: Clocks;
	/** Newest last. Anything dated before the start belongs to the first. */
	readonly #stretches: Stretch[];
	/** The offset that was last reported. */
	#reportedOffset: number;

	constructor(clock: Clocks) {
		this.#clock = clock;
		this.#reportedOffset = offsetOf(clock);
		this.#stretches = [
			{ offset: this.#reportedOffset, from: Number.NEGATIVE_INFINITY, until: clock.monotonic() },
		];
	}

	/** By how much the wall clock was set since the last call; 0 if it was not, or was set back again. */
	jumped(): number {
		this.#look();
		const by = this.#newest.offset - this.#reportedOffset;
		this.#reportedOffset = this.#newest.offset;
		return by;
	}

	/** Milliseconds since the wall clock showed this. 0 for a time it has not shown yet. */
	ageOf(instant: number): number {
		this.#look();
		const at = this.#stretches
			.map(({ offset, from, until }) => ({ at: instant - offset, from, until }))
			.findLast((one) => one.at >= one.from - JUMP_MS && one.at <= one.until + JUMP_MS)?.at;
		return at === undefined ? this.#beyond(instant) : Math.max(0, this.#clock.monotonic() - at);
	}

	/** Dated in a forgotten stretch, or in the future: only the wall clock is left. */
	#beyond(instant: number): number {
		return Math.max(0, this.#clock.now() - instant);
	}

	#look(): void {
		const { offset, until } = this.#newest;
		const now = this.#clock.monotonic();
		this.#newest.until = now;
		if (!hasJumped(this.#clock, offset)) return;
		this.#stretches.push({ offset: offsetOf(this.#clock), from: until, until: now });
		if (this.#stretches.length > MOST_STRETCHES) this.#stretches.shift();
	}

	get #newest(): Stretch {
		return this.#stretches.at(-1) as Stretch;
	}
}

function offsetOf(clock: Clocks): number {
	return clock.now() - clock.monotonic();
}

function hasJumped(clock: Clocks, offset: number): boolean {
	return Math.abs(offsetOf(clock) - offset) > JUMP_MS;
}
