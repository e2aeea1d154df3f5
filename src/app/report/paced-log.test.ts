import { expect, test } from "vitest";
import { pacedLog } from "./paced-log.ts";

function bench() {
	const lines: string[] = [];
	let now = 0;
	let timers: { at: number; call: () => void }[] = [];
	const log = pacedLog((line) => lines.push(line), {
		after: (ms, call) => {
			const timer = { at: now + ms, call };
			timers.push(timer);
			return () => {
				timers = timers.filter((one) => one !== timer);
			};
		},
	});
	const pass = (ms: number): void => {
		const until = now + ms;
		for (;;) {
			const [next] = timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
			if (!next) break;
			now = next.at;
			timers = timers.filter((one) => one !== next);
			next.call();
		}
		now = until;
	};
	return { lines, log, pass, waiting: () => timers.length };
}

test("of many lines that say the same the first is written at once, and the others are counted", () => {
	const { lines, log, pass } = bench();
	for (let n = 0; n < 840; n++) {
		log.write(`turn 01a${n}f cannot start yet: database or disk is full`);
		pass(10);
	}
	expect(lines).toEqual(["turn 01a0f cannot start yet: database or disk is full"]);
	pass(10_000);
	expect(lines.slice(1)).toEqual([
		"turn 01a839f cannot start yet: database or disk is full (and 838 more like it within 10 s)",
	]);
});

test("lines of other kinds are written at once, and so is the same one after a quiet time", () => {
	const { lines, log, pass, waiting } = bench();
	log.write("one");
	log.write("two");
	log.write("one");
	pass(10_000);
	expect(lines).toEqual(["one", "two", "one"]);
	pass(60_000);
	expect(waiting()).toBe(0);
	log.write("one");
	expect(lines).toHaveLength(4);
});

test("trouble that lasts for an hour takes a few lines, and its end loses no count", () => {
	const { lines, log, pass, waiting } = bench();
	for (let n = 0; n < 3600; n++) {
		log.write("the disk is full");
		pass(1000);
	}
	log.write("the disk is full");
	log.end();
	expect(lines.length).toBeLessThan(25);
	const counts = lines.map((line) => Number(/and (\d+) more/.exec(line)?.[1] ?? 0) + 1);
	expect(counts.reduce((sum, one) => sum + one, 0)).toBe(3601);
	expect(waiting()).toBe(0);
});
