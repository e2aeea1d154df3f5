import { expect, test } from "vitest";
import type { Engine } from "../store/index.ts";
import { type FaultPoint, faultingEngine, SLOW_MS } from "./faulting-engine.ts";
import { createVirtualClock } from "./virtual-clock.ts";

/** An engine that only notes what reaches it, and tells of each write as of a commit. */
function scene(point: Partial<FaultPoint>) {
	const clock = createVirtualClock(0);
	const reached: string[] = [];
	const listeners: (() => void)[] = [];
	const under: Engine = {
		epoch: 1,
		write: (name) => {
			reached.push(name);
			for (const listener of listeners) listener();
			return Promise.resolve("written");
		},
		read: (name) => {
			reached.push(name);
			return Promise.resolve("read");
		},
		onCommit: (listener) => {
			listeners.push(listener);
			return () => {};
		},
		close: () => Promise.resolve(),
	};
	const engine = faultingEngine(under, { clock, at: 2, fault: "before", ...point });
	let commits = 0;
	engine.onCommit(() => commits++);
	const ask = async (): Promise<unknown[]> => {
		const work = [engine.read("events", {}), engine.write("accept", {}, { now: 0 }), engine.read("turn", {})];
		return (await Promise.allSettled(work)).map((one) =>
			one.status === "fulfilled" ? one.value : (one.reason as { code: string }).code,
		);
	};
	return { clock, engine, reached, ask, commits: () => commits };
}

test("before: the operation is not made, and the others are", async () => {
	const { ask, reached, engine } = scene({});
	expect(await ask()).toEqual(["read", "store.io", "read"]);
	expect(reached).toEqual(["events", "turn"]);
	expect(await ask()).toEqual(["read", "written", "read"]);
	expect(engine.operations).toBe(6);
});

test("after: the operation is made, and nobody hears of it", async () => {
	const { ask, reached, commits } = scene({ fault: "after" });
	expect(await ask()).toEqual(["read", "store.io", "read"]);
	expect(reached).toContain("accept");
	expect(commits()).toBe(0);
	await ask();
	expect(commits()).toBe(1);
});

test("after, of a read: what others commit meanwhile is heard", async () => {
	const { ask, commits } = scene({ at: 1, fault: "after" });
	expect(await ask()).toEqual(["store.io", "written", "read"]);
	expect(commits()).toBe(1);
});

test("slow: the operation takes its time on both sides", async () => {
	const { ask, reached, clock } = scene({ fault: "slow" });
	const answers = ask();
	await clock.advance(SLOW_MS / 2 - 1);
	expect(reached).toEqual(["events", "turn"]);
	await clock.advance(1);
	expect(reached).toContain("accept");
	let isAnswered = false;
	void answers.then(() => (isAnswered = true));
	await clock.advance(SLOW_MS / 2 - 1);
	expect(isAnswered).toBe(false);
	await clock.advance(1);
	expect(await answers).toEqual(["read", "written", "read"]);
});

test("with a time, everything fails for so long", async () => {
	const { ask, clock, reached } = scene({ forMs: 1000 });
	expect(await ask()).toEqual(["read", "store.io", "store.io"]);
	expect(await ask()).toEqual(["store.io", "store.io", "store.io"]);
	expect(reached).toEqual(["events"]);
	await clock.advance(1000);
	expect(await ask()).toEqual(["read", "written", "read"]);
});

test("what is readable is read meanwhile", async () => {
	const { ask, clock } = scene({ forMs: 1000, readable: true });
	expect(await ask()).toEqual(["read", "store.io", "read"]);
	expect(await ask()).toEqual(["read", "store.io", "read"]);
	await clock.advance(1000);
	expect(await ask()).toEqual(["read", "written", "read"]);
});

test("only operations of the names that are meant are counted, and so many of them fail", async () => {
	const seen: string[] = [];
	const { ask } = scene({
		at: 1,
		times: 2,
		of: (name) => name !== "accept",
		onOperation: (n, name) => seen.push(`${n} ${name}`),
	});
	expect(await ask()).toEqual(["store.io", "written", "store.io"]);
	expect(await ask()).toEqual(["read", "written", "read"]);
	expect(seen).toEqual(["1 events", "2 turn", "3 events", "4 turn"]);
});

test("beyond the most there may be nothing is answered", async () => {
	const { engine, clock, reached } = scene({ at: 0, most: 1 });
	await engine.read("events", {});
	let isAnswered = false;
	void engine.read("events", {}).then(() => (isAnswered = true));
	await clock.advance(3_600_000);
	expect([isAnswered, reached.length, engine.operations]).toEqual([false, 1, 2]);
});
