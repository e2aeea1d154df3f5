// What only a lane can be asked about: the instant between the begin of a turn in the store and in memory.
import { expect, test } from "vitest";
import { conversationId } from "../../src/domain/index.ts";
import { type Begun, Lanes } from "../../src/gateway/lanes/lanes.ts";
import type { StopReason } from "../../src/gateway/turn/dependencies.ts";
import type { Turn } from "../../src/gateway/turn/turn.ts";
import { createVirtualClock } from "../../src/testing/index.ts";

const C = conversationId("c");

const NOW = Date.UTC(2026, 2, 10, 12);

/** A turn that runs until it is stopped, and remembers why. */
function standIn(id: string): { readonly turn: Turn; readonly stops: StopReason[] } {
	const stops: StopReason[] = [];
	let end = () => {};
	const ended = new Promise<"lost">((resolve) => {
		end = () => resolve("lost");
	});
	const stop = (reason: StopReason) => {
		stops.push(reason);
		end();
	};
	return { turn: { id, stop, run: () => ended } as unknown as Turn, stops };
}

const NOTHING: Begun = { kind: "none" };

function lanesThatBegin(
	begin: () => Promise<Begun>,
	resume: (conversation: string, turn: string) => Promise<Begun> = () => Promise.resolve(NOTHING),
) {
	const clock = createVirtualClock(NOW);
	const work = { begin, resume, log: () => {} };
	const lanes = new Lanes({ clock, maxTurns: 4, batchCapMs: 0, work });
	lanes.add(
		C,
		{
			id: 1,
			kind: "person",
			principal: null,
			role: null,
			arrivedAt: 0,
			sentAt: NOW,
			batchMs: 0,
			late: false,
		},
		"queue",
	);
	return { clock, lanes };
}

for (const [ended, stops] of [
	["this one", ["lost"]],
	["another one", []],
] as const)
	test(`a turn that is just beginning here while the store ends ${ended} is told ${stops.length} times`, async () => {
		const one = standIn("this one");
		let hasBegun = (_: Begun): void => {};
		const { clock, lanes } = lanesThatBegin(() => new Promise((resolve) => (hasBegun = resolve)));
		await clock.advance(0);
		lanes.lose(C, ended);
		hasBegun({ kind: "turn", turn: one.turn });
		await clock.advance(0);
		expect(one.stops).toEqual(stops);
		expect(lanes.active).toBe(stops.length === 0 ? 1 : 0);
	});

test("a turn that is just beginning when all are cut off is cut off, too", async () => {
	const one = standIn("one");
	let hasBegun = (_: Begun): void => {};
	const { clock, lanes } = lanesThatBegin(() => new Promise((resolve) => (hasBegun = resolve)));
	await clock.advance(0);
	const drained = lanes.drain();
	lanes.abortAll("shutdown");
	hasBegun({ kind: "turn", turn: one.turn });
	await drained;
	expect(one.stops).toEqual(["shutdown"]);
});

test("a turn that runs is lost by its id alone", async () => {
	const one = standIn("one");
	const { clock, lanes } = lanesThatBegin(() => Promise.resolve({ kind: "turn", turn: one.turn }));
	await clock.advance(0);
	lanes.lose(C, "an earlier one");
	lanes.lose(conversationId("elsewhere"), "one");
	expect(one.stops).toEqual([]);
	lanes.lose(C, "one");
	expect(one.stops).toEqual(["lost"]);
});

test("a turn that a command began and another ended before it ran is not run", async () => {
	const one = standIn("one");
	let runs = 0;
	const { clock, lanes } = lanesThatBegin(() => Promise.resolve({ kind: "none" }));
	await clock.advance(0);
	const letGo = lanes.hold(C);
	lanes.run(C, Object.assign(one.turn, { run: () => Promise.resolve(++runs) }));
	lanes.lose(C, "one");
	letGo();
	await clock.advance(0);
	expect(runs).toBe(0);
});

test("a turn that runs elsewhere is asked about with pauses, and what waits begins when that has ended", async () => {
	const one = standIn("one");
	let asked = 0;
	let runsElsewhere = true;
	const { clock, lanes } = lanesThatBegin(
		() => {
			// Brings a loop without a pause to a stand.
			if (++asked > 100) return new Promise(() => {});
			return Promise.resolve(
				runsElsewhere ? { kind: "resume", turn: "other" } : { kind: "turn", turn: one.turn },
			);
		},
		() => Promise.resolve(NOTHING),
	);
	await clock.advance(60_000);
	expect(asked).toBeGreaterThan(3);
	expect(asked).toBeLessThan(10);
	runsElsewhere = false;
	await clock.advance(30_000);
	expect(lanes.running(C)).toBe("one");
});

test("a turn that ends as soon as it has begun, and again, is begun again with pauses", async () => {
	let begun = 0;
	const lost = () => ({
		id: "one",
		stop: () => {},
		messageArrived: () => {},
		run: () => Promise.resolve("lost"),
	});
	const { clock } = lanesThatBegin(
		() => Promise.resolve({ kind: "resume", turn: "one" }),
		() => {
			if (++begun > 100) return new Promise(() => {});
			return Promise.resolve({ kind: "turn", turn: lost() as unknown as Turn });
		},
	);
	await clock.advance(60_000);
	expect(begun).toBeGreaterThan(3);
	expect(begun).toBeLessThan(10);
});

test("a message begins a turn in a suspended session, whatever waits before it", async () => {
	const clock = createVirtualClock(NOW);
	const begun: number[][] = [];
	let isSuspended = true;
	const lanes = new Lanes({
		clock,
		maxTurns: 4,
		batchCapMs: 0,
		work: {
			begin: async (_, items) => {
				begun.push(items.map(({ id }) => id));
				if (isSuspended && items.every(({ kind }) => kind !== "person")) return { kind: "parked" };
				isSuspended = false;
				return NOTHING;
			},
			resume: async () => NOTHING,
			log: () => {},
		},
	});
	const item = (id: number, kind: "person" | "process") => {
		const role = kind === "person" ? ("owner" as const) : null;
		return { id, kind, principal: null, role, arrivedAt: 0, sentAt: NOW, batchMs: 0, late: false };
	};
	lanes.add(C, item(1, "process"));
	await clock.advance(0);
	lanes.add(C, item(2, "person"), "queue");
	await clock.advance(0);
	lanes.hold(C)();
	await clock.advance(0);
	expect(begun).toEqual([[1], [2], [1]]);
	expect(lanes.waiting(C)).toBe(0);
});
