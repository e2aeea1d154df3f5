// The acceptance scenarios that need no real process: the clock is the test's, a crash takes the store away.
import { afterEach, describe, expect, test } from "vitest";
import type { Behaviour } from "../../src/testing/index.ts";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const slow = (ms: number) => ({ otherwise: [{ delay_ms: ms, text: "done with {{input}}" }] });

describe("scenario 1: burst while busy", () => {
	test("scenario 1: five messages that arrive during a turn of 60 s are all answered, in order, none twice", async () => {
		await start({ script: slow(60 * SECOND), config: { gateway: { batch_ms: 350 } } });
		const ids = [await scene.say("first")];
		await scene.clock.advance(SECOND);
		for (let n = 1; n <= 5; n++) {
			ids.push(await scene.say(`message ${n}`));
			await scene.clock.advance(600);
			// The platform's offset never passes the last commit, and everything handed in is committed by now.
			expect(scene.world.acknowledged).toBe(ids.length);
		}
		expect(scene.texts()).toEqual([]);
		scene.world.redeliver(ids[2] as string);
		await scene.clock.advance(7 * MINUTE);
		expect(scene.texts()).toEqual(
			["first", 1, 2, 3, 4, 5].map((n) => `done with ${n === "first" ? n : `message ${n}`}`),
		);
		for (const id of ids) expect(await scene.disposition(id)).toBe("answered");
		expect(scene.shown.length).toBe(6);
	});

	test("scenario 1: a burst within the window waits together, and each of its messages names the one turn", async () => {
		await start({ script: slow(60 * SECOND), config: { gateway: { batch_ms: 350 } } });
		await scene.say("first");
		await scene.clock.advance(SECOND);
		const ids: string[] = [];
		for (let n = 1; n <= 5; n++) {
			ids.push(await scene.say(`message ${n}`));
			await scene.clock.advance(200);
		}
		await scene.clock.advance(3 * MINUTE);
		expect(scene.texts()).toEqual(["done with first", "done with message 5"]);
		const ends = await Promise.all(ids.map(async (id) => (await scene.item(id)).disposition));
		expect(new Set(ends.map((end) => JSON.stringify(end))).size).toBe(1);
		expect(ends[0]).toMatchObject({ kind: "merged", turn: expect.any(String) });
		expect((await scene.rows(ids[0] as string)).filter(({ role }) => role === "user").length).toBe(6);
	});
});

describe("scenario 2: resume races inbound", () => {
	test("scenario 2: at a restart in mid-turn a message that arrives in the same millisecond waits for the resumed turn", async () => {
		await start({ durable: true, script: slow(10 * SECOND) });
		const first = await scene.say("first");
		await scene.clock.advance(5 * SECOND);
		const old = scene.shown[0]?.turn as string;
		await scene.die();
		const second = scene.world.say({ chat: "ada", text: "second" });
		await scene.open(scene.clock.now());
		const conversation = await scene.conversation(first);
		expect(await scene.store.openTurnOf({ scope: OPERATOR, conversation })).toMatchObject({
			id: old,
			state: "running",
			attempts: 2,
		});
		const stale = scene.store.appendMessages({
			turn: old,
			token: 1,
			messages: [{ role: "assistant", content: "late", index: 5 }],
		});
		await expect(stale).rejects.toMatchObject({ code: "turn.stale" });
		await scene.clock.advance(30 * SECOND);
		expect(scene.texts()).toEqual(["done with first", "done with second"]);
		expect([await scene.disposition(first), await scene.disposition(second)]).toEqual([
			"answered",
			"answered",
		]);
		expect((await scene.rows(first)).map(({ content }) => content)).toEqual([
			"first",
			"done with first",
			"second",
			"done with second",
		]);
	});
});

describe("scenario 4: crash between send and receipt", () => {
	for (const lookup of [true, false])
		test(`scenario 4: the process dies after the platform accepted; ${lookup ? "a look-up finds it sent" : "without a look-up it stays unknown and is not sent again"}`, async () => {
			await start({ durable: true, channel: { lookup }, config: { gateway: { max_turns: 4 } } });
			scene.world.behave = ({ nth }) => (nth === 1 ? { delayMs: SECOND } : "ok");
			const id = await scene.say("hello");
			expect(scene.world.attempts.length).toBe(1);
			await scene.die();
			// The request had reached the platform: it shows the message, and nobody hears of it.
			await scene.clock.advance(SECOND);
			expect(scene.texts()).toEqual(["you said hello"]);
			await scene.open(scene.clock.now());
			await scene.clock.advance(2 * HOUR);
			expect(scene.texts()).toEqual(["you said hello"]);
			const turn = (await scene.item(id)).turn as string;
			const { deliveries } = await scene.store.turn({ scope: OPERATOR, id: turn });
			expect(deliveries).toMatchObject([{ state: lookup ? "sent" : "unknown" }]);
			expect(scene.world.attempts.length).toBe(1);
			expect(await scene.why(id)).toMatch(lookup ? /Part 1 was delivered/ : /unknown whether part 1 arrived/);
			expect(await scene.disposition(id)).toBe("answered");
		});

	test("scenario 4: a look-up that says the platform has not taken it sends it, once", async () => {
		await start({ durable: true, channel: { lookup: true } });
		const gone: Behaviour = JSON.parse('{ "delayMs": 1000, "then": "lost" }');
		scene.world.behave = () => gone;
		await scene.say("hello");
		await scene.die();
		await scene.clock.advance(SECOND);
		scene.world.behave = () => "ok";
		await scene.open(scene.clock.now());
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["you said hello"]);
	});

	test("scenario 4: a platform that cannot be reached at the start is asked again", async () => {
		await start({ durable: true, channel: { lookup: true } });
		scene.world.behave = () => ({ delayMs: MINUTE });
		await scene.say("hello");
		const before = scene.clock;
		await scene.die();
		await scene.open(scene.clock.now());
		// Still under way over there: nothing is known yet.
		await scene.clock.advance(SECOND);
		expect(await scene.store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 9 })).toMatchObject([
			{ state: "unknown" },
		]);
		await before.advance(MINUTE);
		await scene.clock.advance(MINUTE);
		expect(await scene.store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 9 })).toEqual([]);
		expect(scene.texts()).toEqual(["you said hello"]);
	});
});

describe("scenario 5: overflow and flood", () => {
	const answer = Array.from({ length: 313 }, (_, n) => `line number ${String(n).padStart(3, "0")}`)
		.join("\n")
		.slice(0, 4681);
	for (const restart of [false, true])
		test(`scenario 5: 4,681 units with a pause asked for on part 2${restart ? ", and a restart in between" : ""}: in order, each once, no earlier than asked`, async () => {
			await start({
				durable: restart,
				script: { otherwise: [{ text: answer }] },
				platform: { maxLength: 4096 },
			});
			expect(answer.length).toBe(4681);
			scene.world.behave = ({ n }) => (n === 2 ? { retryAfterMs: 30 * SECOND } : "ok");
			const id = await scene.say("go");
			expect(scene.world.attempts.length).toBe(2);
			const asked = scene.clock.now();
			await scene.clock.advance(10 * SECOND);
			if (restart) await scene.crash();
			await scene.clock.advance(19 * SECOND);
			expect(scene.world.attempts.length).toBe(2);
			await scene.clock.advance(SECOND);
			expect(scene.world.attempts.length).toBe(3);
			expect(scene.world.attempts[2]?.at).toBeGreaterThanOrEqual(asked + 30 * SECOND);
			expect(scene.texts().join("")).toBe(answer);
			expect(scene.texts().length).toBe(2);
			expect((await scene.rows(id)).at(-1)?.content).toBe(answer);
		});
});

describe("scenario 7: kill in mid-tool", () => {
	const script = {
		rules: [
			{
				when: "go",
				steps: [
					{ text: "I do it", tools: [{ name: "effect", input: { what: "it" } }] },
					{ delay_ms: MINUTE, text: "finished" },
				],
			},
		],
		otherwise: [{ text: "you said {{input}}" }],
	};
	/** The effect has happened and its result was never written. */
	const hangingEffect: SceneOptions = {
		durable: true,
		script: {
			rules: [{ when: "go", steps: [{ tools: [{ name: "touch" }] }, { text: "finished" }] }],
			otherwise: [{ text: "you said {{input}}" }],
		},
	};

	test("scenario 7: a call that was cut off has one interrupted result, and its effect is not executed again", async () => {
		const { touched, tool } = hanging();
		await start({ ...hangingEffect, tools: [tool] });
		const id = await scene.say("go");
		expect(touched.count).toBe(1);
		await scene.crash();
		await scene.clock.advance(0);
		expect(touched.count).toBe(1);
		expect(scene.texts()).toEqual(["finished"]);
		const rows = await scene.rows(id);
		expect(rows.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
		expect(rows[2]).toMatchObject({ isError: true, content: expect.stringContaining("interrupted") });
		const last = scene.shown.at(-1);
		expect(last?.history.filter(({ role }) => role === "tool").length).toBe(1);
		expect(last?.notes.join("\n")).toMatch(/interrupted \(crash\)/);
	});

	test("scenario 7: a finished call is not repeated when the turn is cut off after it", async () => {
		await start({ durable: true, script });
		await scene.say("go");
		expect(scene.effects).toEqual(["it"]);
		await scene.crash();
		await scene.clock.advance(2 * MINUTE);
		expect(scene.effects).toEqual(["it"]);
		expect(scene.texts()).toEqual(["finished"]);
	});

	test("scenario 7: three interruptions in a row suspend the session with a notice; the next message starts a new one", async () => {
		await start({ durable: true, script: slow(MINUTE) });
		const id = await scene.say("go");
		for (let n = 0; n < 3; n++) {
			await scene.clock.advance(SECOND);
			await scene.crash();
		}
		expect(scene.texts()).toEqual([expect.stringContaining("interrupted three times in a row")]);
		expect((await scene.item(id)).disposition).toEqual({ kind: "failed", reason: "interrupted" });
		const [suspended] = await scene.sessions(id);
		expect(suspended?.suspendedAt).not.toBeNull();
		await scene.crash();
		expect(scene.texts().length).toBe(1);
		const next = await scene.say("hello");
		await scene.clock.advance(2 * MINUTE);
		expect(scene.texts().slice(1)).toEqual([
			expect.stringContaining("suspended after 3 interruptions"),
			"done with hello",
		]);
		expect(await scene.disposition(next)).toBe("answered");
		expect((await scene.sessions(id)).map(({ endReason }) => endReason).toSorted()).toEqual(
			[null, "suspended"].toSorted(),
		);
	});

	test("scenario 7: interruptions of several turns count together, and a turn that ends clears the count", async () => {
		await start({
			durable: true,
			script: {
				rules: [{ when: "quick", steps: [{ text: "ok" }] }],
				otherwise: [{ delay_ms: MINUTE, text: "late" }],
			},
		});
		const cutOff = async (text: string) => {
			const id = await scene.say(text);
			await scene.crash();
			return id;
		};
		const first = await cutOff("one");
		await scene.say("/stop");
		await cutOff("two");
		await scene.say("/stop");
		const third = await cutOff("three");
		expect(await scene.disposition(first)).toBe("stopped");
		// A stopped turn has ended: the count began anew.
		expect(await scene.disposition(third)).toBe("none");
		await scene.clock.advance(2 * MINUTE);
		expect(await scene.disposition(third)).toBe("answered");
	});

	test("scenario 7: planned restarts are not counted, and the resumed turn is told it was a restart", async () => {
		await start({ durable: true, script: slow(MINUTE), config: { shutdown: { drain_seconds: 0 } } });
		const id = await scene.say("go");
		for (let n = 0; n < 4; n++) {
			await scene.clock.advance(SECOND);
			const stopped = scene.gateway.stop();
			await scene.clock.advance(0);
			await stopped;
			await scene.crash();
		}
		expect(await scene.disposition(id)).toBe("none");
		await scene.clock.advance(2 * MINUTE);
		expect(await scene.disposition(id)).toBe("answered");
		expect(scene.shown.at(-1)?.notes.join("\n")).toMatch(/interrupted \(restart\)/);
	});
});

describe("scenario 8: linear history", () => {
	test("scenario 8: chained turns with tools and redeliveries leave exactly the rows produced, dense, none missing", async () => {
		await start({
			durable: true,
			script: {
				otherwise: [{ text: "step {{count}}", tools: [{ name: "effect" }] }, { text: "answer {{count}}" }],
			},
		});
		const ids: string[] = [];
		for (let n = 0; n < 12; n++) {
			ids.push(await scene.say(`message ${n}`));
			if (n % 3 === 0) scene.world.redeliver(ids[n] as string);
			if (n % 4 === 0) await scene.crash();
			for (const id of ids) scene.world.redeliver(id);
			await scene.clock.advance(0);
		}
		const rows = await scene.rows(ids[0] as string);
		expect(rows.length).toBe(12 * 4);
		expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => n + 1));
		expect(rows.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(
			ids.map((_, n) => `message ${n}`),
		);
		expect(scene.effects.length).toBe(12);
		expect(scene.texts()).toEqual(ids.map((_, n) => `answer ${n + 1}`));
	});
});

describe("scenario 9: wedged turn with a queue", () => {
	const wedge = (deaf: boolean) => ({
		rules: [{ when: "wedge", steps: [{ text: "I begin", hang: true, deaf }] }],
		otherwise: [{ text: "answer to {{input}}" }],
	});
	for (const deaf of [false, true])
		test(`scenario 9: a turn that never ends${deaf ? " and hears nothing" : ""} is ended at its deadline, and all 8 that waited are answered in order`, async () => {
			await start({ script: wedge(deaf), config: { turn: { max_minutes: 5, model_seconds: 3600 } } });
			const wedged = await scene.say("wedge");
			const ids: string[] = [];
			for (let n = 1; n <= 8; n++) ids.push(await scene.say(`message ${n}`));
			await scene.clock.advance(4 * MINUTE);
			expect(scene.texts()).toEqual([]);
			await scene.clock.advance(MINUTE);
			expect(scene.texts()).toEqual([
				expect.stringContaining("took longer than allowed"),
				...ids.map((_, n) => `answer to message ${n + 1}`),
			]);
			expect((await scene.item(wedged)).disposition).toEqual({ kind: "failed", reason: "deadline" });
			for (const id of ids) expect(await scene.disposition(id)).toBe("answered");
		});

	test("scenario 9: /stop during the wedge works within 2 s, keeps what was written and drops nothing that waits", async () => {
		await start({ script: wedge(true) });
		const wedged = await scene.say("wedge");
		const ids: string[] = [];
		for (let n = 1; n <= 8; n++) ids.push(await scene.say(`message ${n}`));
		await scene.say("/stop");
		await scene.clock.advance(2 * SECOND);
		expect(await scene.disposition(wedged)).toBe("stopped");
		expect(scene.texts().filter((text) => text.startsWith("Stopped."))).toHaveLength(1);
		expect(scene.texts().filter((text) => text.startsWith("answer"))).toEqual(
			ids.map((_, n) => `answer to message ${n + 1}`),
		);
		for (const id of ids) expect(await scene.disposition(id)).toBe("answered");
		expect((await scene.rows(wedged)).slice(0, 2).map(({ content }) => content)).toEqual([
			"wedge",
			"I begin",
		]);
	});

	test("scenario 9: /stop all drops what waited before it, and only that", async () => {
		await start({ script: wedge(true) });
		await scene.say("wedge");
		const ids: string[] = [];
		for (let n = 1; n <= 8; n++) ids.push(await scene.say(`message ${n}`));
		const stop = scene.world.say({ chat: "ada", text: "/stop all" });
		const after = scene.world.say({ chat: "ada", text: "afterwards" });
		await scene.clock.advance(2 * SECOND);
		for (const id of ids) expect(await scene.disposition(id)).toBe("dropped_by_user");
		expect(await scene.disposition(after)).toBe("answered");
		expect((await scene.item(stop)).disposition).toEqual({ kind: "command", name: "stop" });
		expect(scene.texts()).toContain("Stopped. The text so far is kept. Dropped 8 waiting messages.");
	});
});

describe("scenario 10: loop guard", () => {
	test("scenario 10: one failing call, repeated across a restart, ends the turn within the stored budget, and the user is told", async () => {
		await start({
			durable: true,
			script: {
				rules: [
					{
						when: "",
						steps: [{ delay_ms: SECOND, tools: [{ name: "fail", input: { what: "same" } }] }],
						repeat: true,
					},
				],
			},
		});
		const id = await scene.say("go");
		await scene.clock.advance(3 * SECOND);
		await scene.crash();
		await scene.clock.advance(MINUTE);
		const rows = await scene.rows(id);
		expect(rows.filter(({ role }) => role === "tool").length).toBe(5);
		expect((await scene.item(id)).disposition).toEqual({ kind: "failed", reason: "loop: fail" });
		expect(scene.texts()).toEqual(["I stopped because the same call to fail failed 5 times in a row."]);
		expect(rows.at(-1)).toMatchObject({ role: "meta", content: "The turn failed: loop: fail" });
		// A person wrote: the count begins anew.
		await scene.say("again");
		await scene.clock.advance(MINUTE);
		expect((await scene.rows(id)).filter(({ role }) => role === "tool").length).toBe(10);
	});
});

function hanging() {
	const touched = { count: 0 };
	const tool = {
		name: "touch",
		description: "touches and never comes back",
		schema: { type: "object" },
		repeatable: false,
		prepare: () => ({
			question: () => Promise.resolve(null),
			changesFiles: () => false,
			run: () => {
				touched.count++;
				return new Promise<never>(() => {});
			},
		}),
	};
	return { touched, tool };
}
