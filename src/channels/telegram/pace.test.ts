import fc from "fast-check";
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

interface Asked {
	readonly at: number;
	readonly chat: string;
	readonly what?: "message" | "change" | undefined;
}

/** When each of these goes, asked for at its time. */
function goings(asked: readonly Asked[]): number[] {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	return asked.flatMap(({ at, chat, what = "change" }) => {
		now = at;
		const place = pace.take(chat, what);
		return "afterMs" in place ? [at + place.afterMs] : [];
	});
}

test("an answer of 20 seconds is changed every second without waiting, in private and in a group", () => {
	for (const chat of ["7", "-7"]) {
		const asked = Array.from({ length: 20 }, (_, n) => ({ at: n * 1000, chat }));
		expect(goings(asked)).toEqual(asked.map(({ at }) => at));
	}
});

test("at most 30 go in any second, in a group at most 40 in the first minute and 20 in each one after it", () => {
	const request = fc.record({
		at: fc.nat(10_000),
		chat: fc.constantFrom("1", "2", "3", "-4"),
		what: fc.constantFrom("message" as const, undefined),
	});
	fc.assert(
		fc.property(fc.array(request, { maxLength: 400 }), (requests) => {
			const sorted = requests.toSorted((a, b) => a.at - b.at);
			const at = goings(sorted).toSorted((a, b) => a - b);
			for (const [n, from] of at.entries())
				expect((at[n + 30] ?? from + 1000) - from).toBeGreaterThanOrEqual(1000);
		}),
	);
	const changes = goings(Array.from({ length: 3600 }, (_, n) => ({ at: n * 100, chat: "-7" })));
	expect(changes.filter((at) => at < 60_000).length).toBeLessThanOrEqual(42);
	expect(changes.filter((at) => at >= 60_000 && at < 120_000).length).toBeLessThanOrEqual(21);
});

test("50 answers at once get slower together: each is changed about every three seconds, in turn", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	const next = Array.from({ length: 50 }, (_, n) => ({ chat: String(n + 1), at: 0, gone: [] as number[] }));
	while (now < 30_000) {
		const first = next.toSorted((a, b) => a.at - b.at)[0] as (typeof next)[number];
		now = first.at;
		const place = pace.take(first.chat, "change");
		if ("afterMs" in place) first.gone.push(now + place.afterMs);
		first.at = now + ("afterMs" in place ? Math.max(1000, place.afterMs) : place.askAfterMs);
	}
	for (const { gone } of next)
		for (const [n, at] of gone.slice(1).entries()) expect(at - (gone[n] as number)).toBeLessThanOrEqual(3500);
});

test("whoever is sent away finds a place at the time named", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	for (let n = 0; n < 40; n++) pace.take("-7", "message");
	const place = pace.take("-7", "change");
	expect(place).toHaveProperty("askAfterMs");
	now += "askAfterMs" in place ? place.askAfterMs : 0;
	expect(pace.take("-7", "change")).toHaveProperty("afterMs");
});
