import { expect, test } from "vitest";
import { createVirtualClock } from "../testing/index.ts";
import { Rounds } from "./rounds.ts";

/** Rounds whose time and whose answers only the test gives. */
function scene() {
	const clock = createVirtualClock(0);
	const open: { readonly answer: (next: number | null) => void; readonly fail: (error: Error) => void }[] =
		[];
	const faults: unknown[] = [];
	let begun = 0;
	const rounds = new Rounds({
		clock,
		round: () => {
			begun++;
			return new Promise((answer, fail) => open.push({ answer, fail }));
		},
		failed: (error) => faults.push(error),
	});
	const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
	return {
		rounds,
		faults,
		begun: () => begun,
		wakesAt: () => clock.pendingTimers()[0] ?? null,
		pass: clock.pass,
		set: clock.jump,
		end: async (next: number | null) => {
			open.shift()?.answer(next);
			await settle();
		},
		break: async () => {
			open.shift()?.fail(new Error("the disk is away"));
			await settle();
		},
	};
}

test("the next round comes when it said there is something to do, and none where it said nothing", async () => {
	const { rounds, begun, pass, end, wakesAt } = scene();
	rounds.start();
	await end(500);
	expect([begun(), wakesAt()]).toEqual([1, 500]);
	pass(499);
	expect(begun()).toBe(1);
	pass(1);
	expect(begun()).toBe(2);
	await end(null);
	expect(wakesAt()).toBeNull();
});

test("what became due while a round was under way is done at once", async () => {
	const { rounds, begun, pass, end } = scene();
	rounds.start();
	pass(1000);
	await end(400);
	expect(begun()).toBe(2);
});

test("rounds that leave what is due as it is follow one another with a pause", async () => {
	const { rounds, begun, pass, end } = scene();
	rounds.start();
	await end(0);
	expect(begun()).toBe(2);
	await end(0);
	expect(begun()).toBe(2);
	pass(100);
	expect(begun()).toBe(3);
});

test("however often it is called during a round, one more follows; never two at a time", async () => {
	const { rounds, begun, end } = scene();
	rounds.start();
	rounds.look();
	rounds.look();
	expect(begun()).toBe(1);
	await end(null);
	expect(begun()).toBe(2);
	await end(null);
	expect(begun()).toBe(2);
});

test("something that is expected earlier wakes it earlier, something later changes nothing", async () => {
	const { rounds, end, wakesAt } = scene();
	rounds.start();
	await end(500);
	rounds.expects(900);
	expect(wakesAt()).toBe(500);
	rounds.expects(200);
	expect(wakesAt()).toBe(200);
});

test("something that is expected during a round is looked at in its time, and not at once", async () => {
	const { rounds, begun, pass, end, wakesAt } = scene();
	rounds.start();
	rounds.expects(900);
	rounds.expects(700);
	rounds.expects(800);
	await end(null);
	expect([begun(), wakesAt()]).toEqual([1, 700]);
	pass(700);
	expect(begun()).toBe(2);
	rounds.expects(1500);
	await end(1200);
	expect(wakesAt()).toBe(1200);
});

test("a round that failed is told, and tried again later", async () => {
	const { rounds, faults, begun, pass, break: fail } = scene();
	rounds.start();
	await fail();
	expect([faults.length, begun()]).toEqual([1, 1]);
	pass(5000);
	expect(begun()).toBe(2);
});

test("after a round that failed there is a pause, however often it is called meanwhile", async () => {
	const { rounds, begun, pass, break: fail, end } = scene();
	rounds.start();
	rounds.look();
	await fail();
	rounds.look();
	rounds.expects(0);
	pass(4999);
	expect(begun()).toBe(1);
	pass(1);
	expect(begun()).toBe(2);
	await end(null);
	rounds.look();
	expect(begun()).toBe(3);
});

test("one that waits begins with the first call", async () => {
	const { rounds, begun } = scene();
	rounds.wait();
	expect(begun()).toBe(0);
	rounds.look();
	expect(begun()).toBe(1);
});

test("once stopped, nothing begins any more", async () => {
	const { rounds, begun, end, wakesAt } = scene();
	rounds.start();
	const stopped = rounds.stop();
	await end(100);
	await stopped;
	rounds.look();
	expect([begun(), wakesAt(), rounds.isStopped]).toEqual([1, null, true]);
});

test.each([86_400_000, -86_400_000])(
	"a wall clock that is set by %i ms is followed within a minute",
	async (by) => {
		const { rounds, begun, pass, end, set } = scene();
		rounds.start();
		await end(10_000_000);
		pass(60_000);
		expect(begun()).toBe(1);
		set(by);
		pass(60_000);
		expect(begun()).toBe(2);
	},
);
