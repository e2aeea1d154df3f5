import fc from "fast-check";
import { expect, test } from "vitest";
import { SEED } from "../../../test/support/seed.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { decide, Pace, type PaceFacts, type Wish } from "./pace.ts";

/** A machine that is busy calls back late. */
class TestClock {
	readonly #clock = createVirtualClock(0, { settle: settled });
	lateMs: () => number = () => 0;

	monotonic = this.#clock.monotonic;
	after = (ms: number, call: () => void) => this.#clock.after(ms + this.lateMs(), call);

	get now(): number {
		return this.#clock.now();
	}

	get nextAt(): number {
		return this.#clock.pendingTimers()[0] ?? Number.POSITIVE_INFINITY;
	}

	to = (time: number) => this.#clock.advanceTo(Math.max(this.now, time));
}

async function settled(): Promise<void> {
	for (let n = 0; n < 4; n++) await Promise.resolve();
}

interface Asked {
	readonly at: number;
	readonly chat: string;
	readonly what: Wish["what"];
}

/** When each of these goes. Whoever is sent away asks again when they were told to. */
async function goings(
	asked: readonly Asked[],
	clock = new TestClock(),
): Promise<(Asked & { went: number })[]> {
	const pace = new Pace(clock);
	const gone: (Asked & { went: number })[] = [];
	let open = asked.length;
	const ask = (one: Asked, id: string) =>
		void pace.turn({ id, chatId: one.chat, what: one.what }).then((turn) => {
			if (turn !== "go") return void clock.after(turn.askAfterMs, () => ask(one, id));
			open--;
			gone.push({ ...one, went: clock.now });
		});
	for (const [n, one] of asked.toSorted((a, b) => a.at - b.at).entries()) {
		await clock.to(one.at);
		ask(one, String(n));
	}
	await settled();
	for (let rounds = 0; open > 0 && rounds < 100_000; rounds++)
		await clock.to(Math.max(clock.now, clock.nextAt));
	return gone;
}

/** The most that went within a second. */
function worstSecond(times: readonly number[]): number {
	const sorted = times.toSorted((a, b) => a - b);
	return Math.max(0, ...sorted.map((from, n) => sorted.findLastIndex((at) => at - from < 1000) - n + 1));
}

const request = fc.record({
	at: fc.nat(3000),
	chat: fc.constantFrom("1", "2", "3", "-4"),
	what: fc.constantFrom("message" as const, "change" as const),
});

test("at most 23 go in any second, whatever is asked for and however late a busy machine calls back; and everybody goes", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(request, { minLength: 60, maxLength: 150 }),
			fc.infiniteStream(fc.nat(400)),
			async (requests, late) => {
				const clock = new TestClock();
				clock.lateMs = () => late.next().value as number;
				const gone = await goings(requests, clock);
				expect(gone).toHaveLength(requests.length);
				expect(worstSecond(gone.map(({ went }) => went))).toBeLessThanOrEqual(23);
			},
		),
		{ seed: SEED, numRuns: 60 },
	);
});

test("a message waits here behind a few at most, so that a kill finds hardly any; those sent away go in the order in which they asked", async () => {
	const clock = new TestClock();
	const pace = new Pace(clock);
	let here = 0;
	let most = 0;
	const order: number[] = [];
	const ask = (n: number) => {
		here++;
		void pace.turn({ id: String(n), chatId: String(n), what: "message" }).then((turn) => {
			here--;
			if (turn === "go") return void order.push(n);
			clock.after(turn.askAfterMs, () => ask(n));
		});
		most = Math.max(most, here);
	};
	for (let n = 0; n < 200; n++) {
		ask(n);
		await settled();
	}
	await clock.to(200 * 50 + 1000);
	expect(order).toEqual(Array.from({ length: 200 }, (_, n) => n));
	expect(most).toBeLessThanOrEqual(8);
});

test("new messages go before changes that wait", async () => {
	const changes = Array.from({ length: 40 }, (_, n) => ({ at: 0, chat: String(n), what: "change" as const }));
	const gone = await goings([...changes, { at: 500, chat: "99", what: "message" }]);
	expect(gone.find(({ what }) => what === "message")?.went).toBeLessThanOrEqual(550);
});

test("an answer of 20 seconds is changed every second without waiting, in private and in a group", async () => {
	for (const chat of ["7", "-7"]) {
		const asked = Array.from({ length: 20 }, (_, n) => ({ at: n * 1000, chat, what: "change" as const }));
		expect((await goings(asked)).map(({ went }) => went)).toEqual(asked.map(({ at }) => at));
	}
});

test("in a group a message is changed at most 40 times in the first minute and about 20 in each one after it", async () => {
	const clock = new TestClock();
	const pace = new Pace(clock);
	const gone: number[] = [];
	const ask = () =>
		void pace.turn({ id: "1", chatId: "-7", what: "change" }).then((turn) => {
			if (turn === "go") gone.push(clock.now);
			clock.after(turn === "go" ? 100 : turn.askAfterMs, ask);
		});
	ask();
	await clock.to(180_000);
	expect(gone.filter((at) => at < 60_000).length).toBeLessThanOrEqual(40);
	expect(gone.filter((at) => at >= 60_000 && at < 120_000).length).toBeLessThanOrEqual(21);
});

test("50 answers at once get slower together: each is changed at least every three seconds", async () => {
	const clock = new TestClock();
	const pace = new Pace(clock);
	const gone = Array.from({ length: 50 }, (): number[] => []);
	const ask = (n: number) =>
		void pace.turn({ id: String(n), chatId: String(n + 1), what: "change" }).then((turn) => {
			if (turn === "go") gone[n]?.push(clock.now);
			clock.after(turn === "go" ? 1000 : turn.askAfterMs, () => ask(n));
		});
	for (let n = 0; n < 50; n++) ask(n);
	await clock.to(30_000);
	for (const times of gone)
		for (const [n, at] of times.slice(1).entries())
			expect(at - (times[n] as number)).toBeLessThanOrEqual(3000);
	expect(worstSecond(gone.flat())).toBeLessThanOrEqual(23);
});

test("what may be left out is left out while others wait, and counts where it is not", async () => {
	const clock = new TestClock();
	const pace = new Pace(clock);
	expect([pace.fits(), pace.fits(), pace.fits(), pace.fits()]).toEqual([true, true, true, false]);
	void pace.turn({ id: "1", chatId: "1", what: "change" });
	expect(pace.fits()).toBe(false);
	await clock.to(60);
	expect(pace.fits()).toBe(false);
	await clock.to(2000);
	expect(pace.fits()).toBe(true);
});

test("whoever is sent away is told a time, and a message that comes back at it has its place", () => {
	fc.assert(
		fc.property(
			fc.record({
				waitMs: fc.nat(10_000),
				chatWaitMs: fc.nat(60_000),
				messagesAhead: fc.nat(50),
				changesAhead: fc.nat(200),
				isPromised: fc.boolean(),
				promisedMs: fc.integer({ min: -10_000, max: 60_000 }),
			}),
			fc.constantFrom("message" as const, "change" as const),
			(facts: PaceFacts, what) => {
				const decision = decide(what, facts);
				if (decision.kind === "later") expect(decision.ms).toBeGreaterThan(0);
				if (what === "message") expect(decide(what, { ...facts, isPromised: true }).kind).toBe("queue");
			},
		),
		{ seed: SEED },
	);
});
