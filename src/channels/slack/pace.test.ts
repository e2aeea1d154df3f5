import fc from "fast-check";
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

const MINUTE = 60_000;

/** Answers that are written until the end, each changed a second after its last change at the earliest. */
function streams(count: number, ms: number): readonly (readonly number[])[] {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	const answers = Array.from({ length: count }, () => ({ at: 1000, gone: [0] }));
	for (;;) {
		const [first] = answers.toSorted((a, b) => a.at - b.at);
		if (!first || first.at > ms) return answers.map(({ gone }) => gone);
		now = first.at;
		const slot = pace.take("change", "C1");
		if ("afterMs" in slot) first.gone.push(now + slot.afterMs);
		first.at = now + ("afterMs" in slot ? Math.max(1000, slot.afterMs) : slot.askAfterMs);
	}
}

function most(at: readonly number[], ms: number): number {
	const sorted = at.toSorted((a, b) => a - b);
	return Math.max(0, ...sorted.map((from) => sorted.filter((to) => to >= from && to < from + ms).length));
}

test("an answer of 20 seconds is changed at least every two seconds", () => {
	const [gone = []] = streams(1, 20_000);
	for (const [n, at] of gone.slice(1).entries()) expect(at - (gone[n] as number)).toBeLessThanOrEqual(2000);
	expect(gone.at(-1)).toBeGreaterThan(18_000);
});

test("50 answers at once get slower together, and never make more than 50 changes in a minute", () => {
	const answers = streams(50, 3 * MINUTE);
	const changes = answers.flatMap((gone) => gone.slice(1));
	expect(most(changes, MINUTE)).toBeLessThanOrEqual(50);
	expect(changes.filter((at) => at > MINUTE && at <= 2 * MINUTE).length).toBeGreaterThanOrEqual(44);
});

test("whatever is asked for when: at most 50 changes and 50 reads of a method go in any minute", () => {
	const request = fc.record({
		at: fc.nat(3 * MINUTE),
		kind: fc.constantFrom("change" as const, "read" as const),
	});
	fc.assert(
		fc.property(fc.array(request, { maxLength: 300 }), (requests) => {
			let now = 0;
			const pace = new Pace({ monotonic: () => now });
			const gone = { change: [] as number[], read: [] as number[] };
			for (const { at, kind } of requests.toSorted((a, b) => a.at - b.at)) {
				now = at;
				const slot = pace.take(kind, "conversations.history");
				if ("afterMs" in slot) gone[kind].push(at + slot.afterMs);
			}
			for (const times of Object.values(gone)) expect(most(times, MINUTE)).toBeLessThanOrEqual(50);
		}),
		{ numRuns: 50 },
	);
});

test("messages go one a second in a channel, and do not keep other channels waiting", () => {
	const pace = new Pace({ monotonic: () => 0 });
	const waits = Array.from({ length: 7 }, () => pace.take("message", "C1"));
	expect(waits.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => ({ afterMs: 0 })));
	expect(waits.slice(5)).toEqual([{ afterMs: 1000 }, { afterMs: 2000 }]);
	expect(pace.take("message", "C1")).toHaveProperty("askAfterMs");
	expect(pace.take("message", "C2")).toEqual({ afterMs: 0 });
});

test("whoever is sent away finds a place at the time named", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	for (let n = 0; n < 20; n++) pace.take("change", "C1");
	const slot = pace.take("change", "C1");
	expect(slot).toHaveProperty("askAfterMs");
	now += "askAfterMs" in slot ? slot.askAfterMs : 0;
	expect(pace.take("change", "C1")).toHaveProperty("afterMs");
});
