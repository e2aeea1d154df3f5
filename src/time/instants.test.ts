import fc from "fast-check";
import { expect, test } from "vitest";
import { createVirtualClock } from "../testing/index.ts";
import { WallHistory, wakeAt } from "./instants.ts";

/** A wall clock that is set, and time that passes. */
function clocks() {
	const clock = createVirtualClock(1_000_000_000);
	return { clock, set: clock.jump, pass: clock.pass, waiting: () => clock.pendingTimers().length };
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("an instant is waited for, and called back once", () => {
	const { clock, pass, waiting } = clocks();
	let called = 0;
	wakeAt(clock, clock.now() + HOUR, () => called++);
	pass(HOUR - 1);
	expect(called).toBe(0);
	pass(1);
	expect([called, waiting()]).toEqual([1, 0]);
});

test("a clock that passes the instant by being set is noticed within a minute", () => {
	const { clock, pass, set } = clocks();
	let called = 0;
	wakeAt(clock, clock.now() + HOUR, () => called++);
	pass(90_000);
	set(DAY);
	pass(60_000);
	expect(called).toBe(1);
});

test("whoever waits is called within a minute where the clock was set back, too", () => {
	const { clock, pass, set } = clocks();
	let called = 0;
	wakeAt(clock, clock.now() + HOUR, () => called++);
	set(-DAY);
	pass(60_000);
	expect(called).toBe(1);
});

test("a correction by less than a second calls nobody early", () => {
	const { clock, pass, set } = clocks();
	let called = 0;
	wakeAt(clock, clock.now() + HOUR, () => called++);
	set(-900);
	pass(HOUR);
	expect(called).toBe(0);
	pass(900);
	expect(called).toBe(1);
});

test("a cancelled wait calls nobody, also after it has looked at the clock", () => {
	const { clock, pass, waiting } = clocks();
	let called = 0;
	const cancel = wakeAt(clock, clock.now() + HOUR, () => called++);
	pass(90_000);
	cancel();
	pass(DAY);
	expect([called, waiting()]).toEqual([0, 0]);
});

test("a jump is told once, with its size; what was set right again is none", () => {
	const { clock, pass, set } = clocks();
	const wall = new WallHistory(clock);
	pass(HOUR);
	expect(wall.jumped()).toBe(0);
	set(DAY);
	expect([wall.jumped(), wall.jumped()]).toEqual([DAY, 0]);
	set(DAY);
	wall.ageOf(clock.now());
	set(-DAY);
	expect(wall.jumped()).toBe(0);
});

test("the age of what the clock has dated is the time that passed, wherever the clock was set", () => {
	const step = fc.oneof(
		fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 10 * HOUR }) }),
		// Each jump leaves the times before it far behind, so that no instant was shown twice.
		fc.record({ kind: fc.constant("set" as const), ms: fc.constantFrom(400 * DAY, 900 * DAY) }),
		fc.record({ kind: fc.constant("date" as const) }),
	);
	fc.assert(
		fc.property(fc.array(step, { maxLength: 25 }), fc.boolean(), (steps, back) => {
			const { clock, pass, set } = clocks();
			const wall = new WallHistory(clock);
			const dated: { readonly shown: number; readonly at: number }[] = [];
			for (const one of steps) {
				if (one.kind === "pass") pass(one.ms);
				if (one.kind === "set") set(back ? -one.ms : one.ms);
				if (one.kind === "date") dated.push({ shown: clock.now(), at: clock.monotonic() });
				wall.ageOf(clock.now());
			}
			for (const { shown, at } of dated) expect(wall.ageOf(shown)).toBe(clock.monotonic() - at);
		}),
	);
});

test("what was dated before the process began has its age by the wall clock of the start", () => {
	const { clock, pass, set } = clocks();
	const before = clock.now() - 3 * DAY;
	const wall = new WallHistory(clock);
	pass(HOUR);
	set(DAY);
	expect(wall.ageOf(before)).toBe(3 * DAY + HOUR);
});

test("what the clock has not shown yet has no age", () => {
	const { clock } = clocks();
	expect(new WallHistory(clock).ageOf(clock.now() + DAY)).toBe(0);
});
