import { expect, test } from "vitest";
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

test("a timer of the machine that is set for more than it can hold does not fire at once", async () => {
	let fired = false;
	const cancel = systemClock.after(2 ** 31 + 1, () => {
		fired = true;
	});
	// A timer that overflows fires after one millisecond, before this one.
	await new Promise<void>((resolve) => systemClock.after(2, resolve));
	cancel();
	expect(fired).toBe(false);
});

test("the monotonic clock counts milliseconds", async () => {
	const began = systemClock.monotonic();
	await new Promise<void>((resolve) => systemClock.after(5, resolve));
	expect(systemClock.monotonic() - began).toBeGreaterThanOrEqual(4);
});
