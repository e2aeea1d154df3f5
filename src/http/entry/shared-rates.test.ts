import { expect, test } from "vitest";
import { createVirtualClock } from "../../testing/index.ts";
import { Rates } from "./guards.ts";
import { shareRates } from "./shared-rates.ts";

/** Gateways that hear each other. */
function cluster(count: number) {
	const listeners: ((text: string, from: number) => void)[] = [];
	return Array.from({ length: count }, (_, n) => ({
		broadcast: (text: string) => {
			for (const [to, listener] of listeners.entries()) if (to !== n) listener(text, n);
		},
		onBroadcast: (listener: (text: string, from: number) => void) => {
			listeners[n] = listener;
			return () => {};
		},
	}));
}

test("what passes at one gateway is used up at the others, and what was too much is waited for", async () => {
	const clock = createVirtualClock(0);
	const gateways = cluster(3).map((line) => {
		const rates = new Rates(60, clock.monotonic);
		shareRates(rates, line, clock.after);
		return rates;
	});
	const [a, b, c] = gateways as [Rates, Rates, Rates];
	const passed = (rates: Rates, caller: string, times: number) =>
		Array.from({ length: times }, () => rates.take(caller)).filter((wait) => wait === null).length;
	expect(passed(a, "ada", 60)).toBe(60);
	await clock.advance(100);
	expect(passed(b, "ada", 60)).toBe(0);
	expect(passed(b, "bob", 60)).toBe(60);
	expect(b.take("ada")).toBe(1);
	// At all of them in the same moment: that is two allowances too many, and one of them is paid back.
	const all = gateways.map((rates) => passed(rates, "carol", 60));
	expect(all).toEqual([60, 60, 60]);
	await clock.advance(100);
	expect(c.take("carol")).toBeGreaterThan(60);
	await clock.advance(62_000);
	expect(gateways.map((rates) => rates.take("carol"))).toEqual([null, null, null]);
});

test("text of other kinds is nobody's request", () => {
	const [line, other] = cluster(2) as [ReturnType<typeof cluster>[0], ReturnType<typeof cluster>[0]];
	const rates = new Rates(1, () => 0);
	shareRates(rates, line, () => () => {});
	for (const text of ['"follow"', '["rates"]', '["rates",[["ada",-5]]]', '["rates",[["ada",0.5]]]'])
		other.broadcast(text);
	expect(rates.take("ada")).toBeNull();
});
