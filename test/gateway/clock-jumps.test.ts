// The wall clock is set a day forward or back while something is under way. Durations do not notice; what has an instant in the
// calendar follows within a minute.
import { afterEach, describe, expect, test } from "vitest";
import type { Engine } from "../../src/store/index.ts";
import { DAY, HOUR, MINUTE, OPERATOR, puppet, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const JUMPS = [
	["a day forward", DAY],
	["a day back", -DAY],
] as const;

const deliveriesOf = async (id: string) =>
	(await scene.store.turn({ scope: OPERATOR, id: (await scene.item(id)).turn as string })).deliveries;

describe("a stream", () => {
	const config = { turn: { first_token_seconds: 60, model_seconds: 120, max_minutes: 5 } };

	test.each(JUMPS)("goes on over a jump of %s", async (_, jump) => {
		await start({
			config,
			script: { otherwise: [{ chunks: ["one ", "two ", "three"], chunk_delay_ms: 20 * SECOND }] },
		});
		await scene.say("go");
		await scene.clock.advance(10 * SECOND);
		scene.clock.jump(jump);
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["one two three"]);
	});

	test.each(JUMPS)("that stalls is ended when its time is over, whatever the jump: %s", async (_, jump) => {
		await start({
			config,
			script: { otherwise: [{ chunks: ["one ", "two ", "never"], chunk_delay_ms: 70 * SECOND }] },
		});
		const id = await scene.say("go");
		await scene.clock.advance(10 * SECOND);
		scene.clock.jump(jump);
		await scene.clock.advance(105 * SECOND);
		expect(await scene.disposition(id)).toBe("none");
		await scene.clock.advance(10 * SECOND);
		expect(await scene.disposition(id)).toBe("failed");
		expect(scene.texts().at(-1)).toContain("took too long");
	});

	test.each(JUMPS)("shows its preview at the same pace over a jump of %s", async (_, jump) => {
		await start({
			config: { ...config, display: { streaming: true } },
			script: {
				otherwise: [{ chunks: Array.from({ length: 10 }, (__, n) => `${n} `), chunk_delay_ms: 2 * SECOND }],
			},
		});
		await scene.say("go");
		await scene.clock.advance(3 * SECOND);
		const before = scene.world.attempts.length;
		scene.clock.jump(jump);
		await scene.clock.advance(10 * SECOND);
		expect(scene.world.attempts.length - before).toBe(5);
	});
});

test.each(JUMPS)("a tool keeps its time over a jump of %s", async (_, jump) => {
	await start({
		config: { turn: { tool_seconds: 60 } },
		script: {
			rules: [
				{
					when: "short",
					steps: [{ tools: [{ name: "slow", input: { ms: 40 * SECOND } }] }, { text: "short" }],
				},
				{ when: "long", steps: [{ tools: [{ name: "slow", input: { ms: HOUR } }] }, { text: "given up" }] },
			],
			otherwise: [{ text: "what?" }],
		},
	});
	for (const [text, said] of [
		["short", "short"],
		["long", "given up"],
	] as const) {
		const id = await scene.say(text);
		await scene.clock.advance(30 * SECOND);
		scene.clock.jump(jump);
		expect(await scene.disposition(id)).toBe("none");
		await scene.clock.advance(31 * SECOND);
		expect(scene.texts().at(-1)).toBe(said);
	}
});

describe("batching", () => {
	const config = { gateway: { batch_ms: 1000, batch_cap_ms: 3000 } };

	test.each(JUMPS)(
		"a burst over a jump of %s is one turn, answered when the burst is over",
		async (_, jump) => {
			await start({ config });
			await scene.say("one");
			await scene.clock.advance(500);
			scene.clock.jump(jump);
			await scene.say("two", { sentAt: scene.clock.now() });
			await scene.clock.advance(900);
			expect(scene.shown.length).toBe(0);
			await scene.clock.advance(200);
			expect(scene.shown.length).toBe(1);
			expect(scene.texts().length).toBe(1);
		},
	);
});

describe("sending", () => {
	test.each(JUMPS)("a platform has as long to answer over a jump of %s", async (_, jump) => {
		await start();
		scene.world.behave = ({ n }) => (n === 1 ? { delayMs: 50 * SECOND } : { delayMs: 70 * SECOND });
		const inTime = await scene.say("in time");
		await scene.clock.advance(10 * SECOND);
		scene.clock.jump(jump);
		await scene.clock.advance(41 * SECOND);
		expect((await deliveriesOf(inTime))[0]?.state).toBe("sent");
		const late = await scene.say("late");
		await scene.clock.advance(10 * SECOND);
		scene.clock.jump(jump);
		await scene.clock.advance(49 * SECOND);
		expect((await deliveriesOf(late))[0]?.state).toBe("sending");
		await scene.clock.advance(2 * SECOND);
		expect((await deliveriesOf(late))[0]?.state).toBe("unknown");
	});

	test.each(JUMPS)(
		"a pause that the platform asked for is kept, no shorter and no longer, over a jump of %s",
		async (_, jump) => {
			await start();
			scene.world.behave = ({ n }) => (n <= 2 ? { retryAfterMs: 5 * MINUTE } : "ok");
			await scene.say("go");
			await scene.clock.advance(MINUTE);
			scene.clock.jump(jump);
			// Somebody else writes: the outbox looks at what is due.
			await scene.say("me too", { chat: "bob" });
			await scene.clock.advance(3 * MINUTE);
			expect(scene.world.attempts.filter(({ id }) => id === scene.world.attempts[0]?.id).length).toBe(1);
			await scene.clock.advance(MINUTE + SECOND);
			expect(scene.texts()).toEqual(["you said go"]);
		},
	);

	test("a message is not too old because the clock was set a day forward", async () => {
		await start({ config: { outbox: { max_age_minutes: 60 } } });
		scene.world.behave = ({ n }) => (n <= 3 ? { retryAfterMs: 5 * MINUTE } : "ok");
		const id = await scene.say("go");
		await scene.clock.advance(MINUTE);
		scene.clock.jump(DAY);
		await scene.clock.advance(15 * MINUTE);
		expect(scene.texts()).toEqual(["you said go"]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent" }]);
	});

	test("a message gets too old by the time that passes, also where the clock was set a day back", async () => {
		await start({ config: { outbox: { max_age_minutes: 60 } } });
		scene.world.behave = () => ({ retryAfterMs: 5 * MINUTE });
		const id = await scene.say("go");
		await scene.clock.advance(MINUTE);
		scene.clock.jump(-DAY);
		await scene.clock.advance(HOUR);
		expect(await deliveriesOf(id)).toMatchObject([
			{ state: "dead", reason: expect.stringContaining("too old") },
		]);
	});

	test.each(JUMPS)(
		"a preview's pause holds the reply back no shorter and no longer over a jump of %s",
		async (_, jump) => {
			await start({
				config: { display: { streaming: true } },
				script: { otherwise: [{ chunks: ["one ", "two"], chunk_delay_ms: 10 * SECOND }] },
			});
			scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: MINUTE } : "ok");
			await scene.say("go");
			await scene.clock.advance(5 * SECOND);
			scene.clock.jump(jump);
			await scene.clock.advance(54 * SECOND);
			expect(scene.texts()).toEqual([]);
			await scene.clock.advance(2 * SECOND);
			expect(scene.texts()).toEqual(["one two"]);
		},
	);

	test.each(JUMPS)(
		"a platform that is to be asked about a lost answer is asked as soon over a jump of %s",
		async (_, jump) => {
			let isConnected = true;
			await start({
				channel: { lookup: true },
				config: { outbox: { max_age_minutes: 60 } },
				wrap: (channel) => ({
					...channel,
					health: () => (isConnected ? channel.health() : { state: "degraded", aliveAt: null }),
				}),
			});
			scene.world.behave = () => {
				isConnected = false;
				return "lost";
			};
			const id = await scene.say("go");
			await scene.clock.advance(10 * MINUTE);
			scene.clock.jump(jump);
			await scene.clock.advance(MINUTE);
			isConnected = true;
			scene.world.behave = () => "ok";
			await scene.clock.advance(MINUTE);
			expect(scene.texts()).toEqual(["you said go"]);
			expect(await deliveriesOf(id)).toMatchObject([{ state: "sent" }]);
		},
	);

	test("a delivery that was due just before the clock was set back leaves within a minute", async () => {
		let isConnected = false;
		await start({
			wrap: (channel) => ({
				...channel,
				health: () => (isConnected ? channel.health() : { state: "degraded", aliveAt: null }),
			}),
		});
		await scene.say("go");
		await scene.clock.advance(10 * MINUTE);
		scene.clock.jump(-DAY);
		isConnected = true;
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["you said go"]);
	});
});

describe("instants", () => {
	const ask = { agent: () => puppet() };
	const danger = 'call danger {"what":"it"}';

	test("a confirmation expires by the wall clock: a jump over its deadline is noticed within a minute", async () => {
		await start(ask);
		await scene.say(danger);
		expect(await scene.confirmations.pendingCount()).toBe(1);
		scene.clock.jump(DAY);
		await scene.clock.advance(MINUTE);
		expect(await scene.confirmations.pendingCount()).toBe(0);
		expect(JSON.stringify(scene.shown.at(-1)?.history)).toContain("expired: nobody answered in time");
		expect([scene.dangers, scene.texts().at(-1)]).toEqual([[], "done"]);
	});

	test("a confirmation does not expire early where the clock was set back", async () => {
		await start(ask);
		await scene.say(danger);
		scene.clock.jump(-DAY);
		await scene.clock.advance(DAY + 4 * MINUTE);
		expect(await scene.confirmations.pendingCount()).toBe(1);
		await scene.clock.advance(2 * MINUTE);
		expect(await scene.confirmations.pendingCount()).toBe(0);
	});

	test("whoever waits for a confirmation is answered within a minute of a jump over its deadline, and not before", async () => {
		await start(ask);
		await scene.say(danger);
		const asker = { who: "operator", role: "operator", via: "cli", sessionKey: null } as const;
		const [asked] = await scene.confirmations.list({ limit: 1 }, asker);
		const { signal } = new AbortController();
		let answer: string | null = null;
		void scene.confirmations.get(asked?.id as string, asker, { ms: DAY, signal }).then(({ status }) => {
			answer = status;
		});
		scene.clock.jump(-HOUR);
		await scene.clock.advance(10 * MINUTE);
		expect(answer).toBeNull();
		scene.clock.jump(DAY);
		await scene.clock.advance(MINUTE);
		expect(answer).toBe("expired");
	});

	test("an interrupted turn is resumed at the next start, also where the clock was set back meanwhile", async () => {
		await start({ durable: true, script: { otherwise: [{ delay_ms: 10 * SECOND, text: "done" }] } });
		await scene.say("go");
		// A life that marks it as interrupted and dies before it goes on.
		const short = (engine: Engine): Engine => ({
			...engine,
			read: (name, args) =>
				name === "dueTurns" ? Promise.reject(new Error("killed")) : engine.read(name, args),
		});
		await expect(scene.crash(0, { ...scene.options, engine: short })).rejects.toThrow("killed");
		await scene.crash(-HOUR);
		await scene.clock.advance(10 * SECOND);
		expect(scene.texts().at(-1)).toContain("done");
	});

	test("a pause dated by a clock that was set back while nobody ran is over at the next start", async () => {
		await start({ durable: true });
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: 5 * MINUTE } : "ok");
		await scene.say("go");
		await scene.crash(-DAY);
		await scene.clock.advance(SECOND);
		expect(scene.texts()).toEqual(["you said go"]);
	});
});
