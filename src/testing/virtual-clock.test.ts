import { describe, expect, test } from "vitest";
import { createVirtualClock } from "./virtual-clock.ts";

describe("a virtual clock", () => {
	test("fires what falls due in the order of its time, each at its own instant", async () => {
		const clock = createVirtualClock(1000);
		const fired: [string, number][] = [];
		const note = (name: string) => () => fired.push([name, clock.now()]);
		clock.after(30, note("c"));
		clock.after(10, note("a"));
		clock.after(10, note("b"));
		clock.after(31, note("not yet"));
		await clock.advance(30);
		expect(fired).toEqual([
			["a", 1010],
			["b", 1010],
			["c", 1030],
		]);
		expect(clock.now()).toBe(1030);
		expect(clock.pendingTimers()).toEqual([1031]);
	});

	test("gives what a timer sets off room to happen before the next one, timers of its own included", async () => {
		const clock = createVirtualClock(0);
		const seen: string[] = [];
		clock.after(10, () => {
			void Promise.resolve()
				.then(() => new Promise((resolve) => setImmediate(resolve)))
				.then(() => {
					seen.push("settled");
					clock.after(5, () => seen.push(`nested at ${clock.now()}`));
				});
		});
		clock.after(20, () => seen.push("second"));
		await clock.advance(20);
		expect(seen).toEqual(["settled", "nested at 15", "second"]);
	});

	test("passes at once where nothing needs room, timers that a timer sets included", () => {
		const clock = createVirtualClock(1000);
		const fired: [string, number][] = [];
		clock.after(20, () => fired.push(["second", clock.now()]));
		clock.after(10, () => {
			fired.push(["first", clock.now()]);
			clock.after(5, () => fired.push(["nested", clock.now()]));
		});
		clock.after(31, () => fired.push(["not yet", clock.now()]));
		clock.pass(30);
		expect(fired).toEqual([
			["first", 1010],
			["nested", 1015],
			["second", 1020],
		]);
		expect([clock.now(), clock.monotonic(), clock.pendingTimers()]).toEqual([1030, 30, [1031]]);
		expect(() => clock.pass(-1)).toThrow("time passes forwards only");
	});

	test("a cancelled timer never fires, also when another one cancels it at the same instant", async () => {
		const clock = createVirtualClock(0);
		const fired: string[] = [];
		clock.after(5, () => cancel());
		const cancel = clock.after(5, () => fired.push("cancelled"));
		await clock.advance(10);
		expect(fired).toEqual([]);
	});

	test("moves one after the other, also when nobody waits in between", async () => {
		const clock = createVirtualClock(0);
		const at: number[] = [];
		clock.after(15, () => at.push(clock.now()));
		await Promise.all([clock.advance(10), clock.advanceTo(20), clock.advance(5)]);
		expect([at, clock.now()]).toEqual([[15], 25]);
	});

	test("a jump moves the time of day and leaves timers as far away as they were", async () => {
		const clock = createVirtualClock(1_000_000);
		const at: number[] = [];
		clock.after(100, () => at.push(clock.now()));
		clock.jump(-500_000);
		await clock.advance(99);
		expect(at).toEqual([]);
		await clock.advance(1);
		expect(at).toEqual([500_100]);
	});

	test("does not run backwards", async () => {
		const clock = createVirtualClock(10);
		await expect(clock.advance(-1)).rejects.toMatchObject({ code: "argument.invalid" });
		await expect(clock.advanceTo(9)).rejects.toMatchObject({ code: "argument.invalid" });
		await clock.advance(0);
		expect(clock.now()).toBe(10);
	});

	test("an error in a timer reaches whoever moved the clock", async () => {
		const clock = createVirtualClock(0);
		clock.after(1, () => {
			throw new Error("in a timer");
		});
		await expect(clock.advance(1)).rejects.toThrow("in a timer");
	});
});
