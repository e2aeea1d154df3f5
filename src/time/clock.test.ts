import { expect, test, vi } from "vitest";
import { createSystemClock, systemClock } from "./clock.ts";

/** Timers of a machine that takes at most so much at once, and fires when it is told. */
function machine() {
	const set: { readonly ms: number; readonly callback: () => void; cancelled: boolean }[] = [];
	return {
		set,
		clock: createSystemClock({
			set: (ms, callback) => {
				const timer = { ms, callback, cancelled: false };
				set.push(timer);
				return () => {
					timer.cancelled = true;
				};
			},
		}),
	};
}

const LONGEST = 2 ** 31 - 1;

test("a wait that no timer can hold is made of several, and ends after the last", () => {
	const { set, clock } = machine();
	let fired = 0;
	clock.after(2 * LONGEST + 5, () => fired++);
	for (let n = 0; n < 3; n++) set[n]?.callback();
	expect(set.map(({ ms }) => ms)).toEqual([LONGEST, LONGEST, 5]);
	expect(fired).toBe(1);
});

test("a long wait can be cancelled in each of its parts", () => {
	const { set, clock } = machine();
	const cancel = clock.after(LONGEST + 5, () => {});
	set[0]?.callback();
	cancel();
	expect(set[1]?.cancelled).toBe(true);
});

test("a wait of less than nothing is over at once", () => {
	const { set, clock } = machine();
	clock.after(-5, () => {});
	expect(set[0]?.ms).toBe(0);
});

test("a timer of the machine that is set for more than it can hold does not fire at once", () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	try {
		let overflowed = 0;
		let fired = 0;
		setTimeout(() => overflowed++, 2 ** 31 + 1);
		systemClock.after(2 ** 31 + 1, () => fired++);
		// These timers overflow as Node's do.
		vi.advanceTimersByTime(1);
		expect([overflowed, fired]).toEqual([1, 0]);
		vi.advanceTimersByTime(2 ** 31 - 1);
		expect(fired).toBe(0);
		vi.advanceTimersByTime(1);
		expect(fired).toBe(1);
	} finally {
		vi.useRealTimers();
	}
});

test("the monotonic clock counts milliseconds", () => {
	const before = performance.now();
	const shown = systemClock.monotonic();
	expect(shown).toBeGreaterThanOrEqual(before);
	expect(shown).toBeLessThanOrEqual(performance.now());
});
