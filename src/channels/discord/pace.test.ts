import fc from "fast-check";
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("an answer of 20 seconds is changed every second without waiting", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	for (; now < 20_000; now += 1000) expect(pace.take("change")).toEqual({ afterMs: 0 });
});

test("fewer than 50 go in any second, whoever asks when", () => {
	const asking = fc.record({
		at: fc.nat(10_000),
		what: fc.constantFrom("message" as const, "change" as const, "typing" as const),
	});
	fc.assert(
		fc.property(fc.array(asking, { maxLength: 600 }), (requests) => {
			let now = 0;
			const pace = new Pace({ monotonic: () => now });
			const gone = requests
				.toSorted((a, b) => a.at - b.at)
				.flatMap(({ at, what }) => {
					now = at;
					if (what === "typing") return pace.fits() ? [at] : [];
					const turn = pace.take(what);
					return "afterMs" in turn ? [at + turn.afterMs] : [];
				})
				.toSorted((a, b) => a - b);
			for (const [n, from] of gone.entries())
				expect((gone[n + 49] ?? from + 1000) - from).toBeGreaterThanOrEqual(1000);
		}),
	);
});

test("the sign that somebody is writing goes only where nobody waits", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	const typing = Array.from({ length: 50 }, () => pace.fits());
	expect(typing.filter(Boolean)).toHaveLength(5);
	expect(pace.take("message")).toEqual({ afterMs: 28 });
	now += 2000;
	expect(pace.fits()).toBe(true);
});

test("50 answers at once get slower together: each is changed at least every two seconds, in turn", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	const streams = Array.from({ length: 50 }, () => ({ at: 0, gone: [] as number[] }));
	while (now < 30_000) {
		const first = streams.toSorted((a, b) => a.at - b.at)[0] as (typeof streams)[number];
		now = first.at;
		const turn = pace.take("change");
		if ("afterMs" in turn) first.gone.push(now + turn.afterMs);
		first.at = now + ("afterMs" in turn ? Math.max(1000, turn.afterMs) : turn.askAfterMs);
	}
	for (const { gone } of streams)
		for (const [n, at] of gone.slice(1).entries()) expect(at - (gone[n] as number)).toBeLessThanOrEqual(2000);
});

test("whoever is sent away finds a place at the time named", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now });
	while ("afterMs" in pace.take("message"));
	const turn = pace.take("message");
	now += "askAfterMs" in turn ? turn.askAfterMs : 0;
	expect(pace.take("message")).toHaveProperty("afterMs");
});
