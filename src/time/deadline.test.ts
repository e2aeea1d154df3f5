import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { Aborted, withDeadlines, within } from "./deadline.ts";

const clock = systemClock;
const signal = AbortSignal.abort();

test("what fails after its wait was given up is nobody's error", async () => {
	let fail: (error: Error) => void = () => {};
	const work = new Promise<never>((_, reject) => {
		fail = reject;
	});
	await expect(within(work, { clock, ms: 1000, signal })).rejects.toThrow(Aborted);
	// Without a handler, this would end the program.
	const unhandled: unknown[] = [];
	const listen = (error: unknown) => unhandled.push(error);
	process.on("unhandledRejection", listen);
	fail(new Error("late"));
	await new Promise((resolve) => setImmediate(resolve));
	process.off("unhandledRejection", listen);
	expect(unhandled).toEqual([]);
});

test("a stream is asked for nothing once the signal is aborted", async () => {
	let asked = 0;
	const stream = {
		[Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error(String(++asked))) }),
	};
	const limits = { firstTokenMs: 1000, totalMs: 1000 };
	await expect(withDeadlines(stream, { clock, limits, signal }).next()).rejects.toThrow(Aborted);
	expect(asked).toBe(0);
});
