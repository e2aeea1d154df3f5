import fc from "fast-check";
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

/** Changes of one message, tried as soon as one was let through and the next second has begun. */
function changesOf(chat: string, seconds: number): number[] {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	const at: number[] = [];
	while (now < seconds * 1000) {
		const wait = pace.change(chat);
		if (wait === 0) at.push(now);
		now += Math.max(wait, 1000);
	}
	return at;
}

test("an answer of 20 seconds is changed every second, in private and in a group", () => {
	for (const chat of ["7", "-7"]) {
		const at = changesOf(chat, 20);
		expect(at).toEqual(Array.from({ length: 20 }, (_, n) => n * 1000));
	}
});

test("a group gets at most 20 a minute in the long run, and 50 chats at once at most 30 a second in all", () => {
	expect(changesOf("-7", 600).length).toBeLessThanOrEqual(20 + 600 / 3);
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	const passed: number[] = [];
	for (; now < 20_000; now += 10)
		for (let chat = 1; chat <= 50; chat++) if (pace.change(String(chat)) === 0) passed.push(now);
	for (let second = 0; second < 19_000; second += 100) {
		const within = passed.filter((at) => at >= second + 1000 && at < second + 2000).length;
		expect(within).toBeLessThanOrEqual(30);
	}
	// And everybody gets on: one in about two and a half seconds.
	expect(passed.length).toBeGreaterThan(50 * 7);
});

test("whoever waits as long as told is let through, whatever was sent before", () => {
	const steps = fc.array(
		fc.record({ chat: fc.constantFrom("1", "2", "-3"), ms: fc.nat(2000), sends: fc.boolean() }),
	);
	fc.assert(
		fc.property(steps, (all) => {
			let now = 0;
			const pace = new Pace({ monotonic: () => now });
			for (const { chat, ms, sends } of all) {
				now += ms;
				if (sends) pace.sent(chat);
				else pace.change(chat);
			}
			const wait = pace.change("-3");
			now += wait;
			if (wait > 0) expect(pace.change("-3")).toBe(0);
		}),
	);
});
