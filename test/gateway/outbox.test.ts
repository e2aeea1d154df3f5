// The way out: order, retries, what platforms refuse, what nobody knows; and the story of a message, whatever became of it.
import { afterEach, describe, expect, test } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import type { SendResult } from "../../src/gateway/index.ts";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const deliveriesOf = async (id: string) =>
	(await scene.store.turn({ scope: OPERATOR, id: (await scene.item(id)).turn as string })).deliveries;

describe("outbox", () => {
	test("markup that the platform refuses is sent as its plain twin, once", async () => {
		await start({ script: { otherwise: [{ text: "**bold** words" }] } });
		scene.world.behave = () => "markup_refused";
		const id = await scene.say("go");
		expect(scene.texts()).toEqual(["bold words"]);
		expect(scene.world.attempts.map(({ plain }) => plain)).toEqual([false, true]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent" }]);
	});

	test("a failure before sending is tried again with growing pauses, up to so many attempts, then it is dead and said to be", async () => {
		const at: number[] = [];
		await start({ config: { outbox: { max_attempts: 4 } }, wrap: tried(at) });
		const id = await scene.say("go");
		await scene.clock.advance(HOUR);
		expect(at.length).toBe(4);
		const pauses = at.slice(1).map((time, n) => time - (at[n] as number));
		for (const [n, pause] of pauses.entries()) {
			expect(pause).toBeGreaterThanOrEqual(SECOND * 2 ** n);
			expect(pause).toBeLessThanOrEqual(1.5 * SECOND * 2 ** n);
		}
		expect(await deliveriesOf(id)).toMatchObject([{ state: "dead", reason: "too many attempts: no route" }]);
		expect(await scene.why(id)).toContain("Keryx gave up on part 1: too many attempts: no route.");
	});

	test("a pause that the platform asks for is kept to, however often, until the message is too old", async () => {
		await start({ config: { outbox: { max_attempts: 2, max_age_minutes: 60 } } });
		scene.world.behave = () => ({ retryAfterMs: 5 * MINUTE });
		const id = await scene.say("go");
		await scene.clock.advance(3 * HOUR);
		expect(scene.world.attempts.length).toBeGreaterThan(10);
		expect(await deliveriesOf(id)).toMatchObject([
			{ state: "dead", reason: expect.stringContaining("too old") },
		]);
	});

	test("a platform that asks for a pause of nothing is not asked in a loop", async () => {
		await start();
		scene.world.behave = ({ n }) => (n < 200 ? { retryAfterMs: 0 } : "ok");
		await scene.say("go");
		expect(scene.world.attempts.length).toBe(1);
		await scene.clock.advance(10 * SECOND);
		expect(scene.world.attempts.length).toBeLessThanOrEqual(41);
	});

	test("a pause that was asked for is no failure: it uses up none of the attempts", async () => {
		const results: SendResult[] = [
			...Array.from({ length: 4 }, () => ({ kind: "retry", afterMs: MINUTE, reason: "429" }) as const),
			{ kind: "retry", reason: "no route" },
		];
		await start({
			config: { outbox: { max_attempts: 2 } },
			wrap: (channel) => ({
				...channel,
				send: (outgoing) => {
					const result = results.shift();
					return result ? Promise.resolve(result) : channel.send(outgoing);
				},
			}),
		});
		const id = await scene.say("go");
		await scene.clock.advance(5 * MINUTE);
		expect(scene.texts()).toEqual(["you said go"]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent", attempts: 2 }]);
	});

	test("while a platform is not connected nothing is sent and no attempt is used up; soon after it connects, it arrives", async () => {
		let isConnected = false;
		await start({
			config: { outbox: { max_attempts: 2 } },
			wrap: (channel) => ({
				...channel,
				health: () => (isConnected ? channel.health() : { state: "degraded", aliveAt: null }),
			}),
		});
		const id = await scene.say("go");
		await scene.clock.advance(HOUR);
		expect(scene.world.attempts).toEqual([]);
		isConnected = true;
		await scene.clock.advance(30 * SECOND);
		expect(scene.texts()).toEqual(["you said go"]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent", attempts: 1 }]);
	});

	test("a pause of a fraction of a millisecond is a pause", async () => {
		await start();
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: 1500.5 } : "ok");
		await scene.say("go");
		await scene.clock.advance(2 * SECOND);
		expect(scene.texts()).toEqual(["you said go"]);
	});

	test("a pause that ends after the message is too old ends it at once, and says so", async () => {
		await start({ config: { outbox: { max_age_minutes: 60 } } });
		scene.world.behave = () => ({ retryAfterMs: 2 * HOUR });
		const id = await scene.say("go");
		expect(await deliveriesOf(id)).toMatchObject([{ state: "dead" }]);
		expect(await scene.why(id)).toContain("gave up on part 1: too old: the platform asks for a pause.");
	});

	test("a refusal by the platform is final, and what follows still arrives", async () => {
		await start();
		scene.world.behave = ({ n }) => (n === 1 ? "refuse" : "ok");
		const id = await scene.say("one");
		await scene.say("two");
		expect(scene.texts()).toEqual(["you said two"]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "dead", reason: "the platform refused it" }]);
	});

	test("I7: an answer that was lost leaves the delivery unknown: never sent again by itself, not by a restart either", async () => {
		await start({ durable: true });
		scene.world.behave = ({ n }) => (n === 1 ? "lost" : "ok");
		const id = await scene.say("one");
		await scene.clock.advance(HOUR);
		await scene.crash();
		await scene.clock.advance(HOUR);
		expect(scene.world.attempts.length).toBe(1);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "unknown" }]);
		// Only a person's word sends it again.
		await scene.store.resolveDelivery({
			id: (await deliveriesOf(id))[0]?.id as string,
			settlement: { kind: "retry", at: scene.clock.now(), reason: "asked for" },
		});
		await scene.clock.advance(SECOND);
		expect(scene.texts()).toEqual(["you said one"]);
	});

	test("where the platform can be asked, a lost answer is cleared up at once", async () => {
		await start({ channel: { lookup: true } });
		scene.world.behave = ({ n }) => (n === 1 ? "lose_ack" : n === 2 ? "lost" : "ok");
		const [first, second] = [await scene.say("one"), await scene.say("two")];
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["you said one", "you said two"]);
		expect((await deliveriesOf(first as string))[0]?.state).toBe("sent");
		expect((await deliveriesOf(second as string))[0]?.state).toBe("sent");
	});

	test("I7: where the platform cannot say at first, it is asked again until it can", async () => {
		const asked: number[] = [];
		await start({ channel: { lookup: true }, wrap: sayingLater(asked, 3) });
		scene.world.behave = ({ n }) => (n === 1 ? "lose_ack" : n === 2 ? "lost" : "ok");
		const [first, second] = [await scene.say("one"), await scene.say("two")];
		for (const id of [first, second])
			expect(await deliveriesOf(id as string)).toMatchObject([{ state: "unknown" }]);
		await scene.clock.advance(2 * MINUTE);
		for (const id of [first, second])
			expect(await deliveriesOf(id as string)).toMatchObject([{ state: "sent" }]);
		expect(scene.texts()).toEqual(["you said one", "you said two"]);
		expect(asked.length).toBeLessThan(8);
	});

	test("I7: what an earlier life left unknown, and the next one could not clear up, is asked about all the same", async () => {
		let cannotSay = true;
		await start({
			durable: true,
			channel: { lookup: true },
			wrap: (channel) => ({
				...channel,
				lookup: async (id, destination) =>
					cannotSay
						? { kind: "unknown" }
						: ((await channel.lookup?.(id, destination)) ?? { kind: "unknown" }),
			}),
		});
		scene.world.behave = ({ n }) => (n === 1 ? "lose_ack" : "ok");
		const id = await scene.say("one");
		await scene.crash();
		await scene.crash();
		expect(await deliveriesOf(id)).toMatchObject([{ state: "unknown" }]);
		cannotSay = false;
		await scene.crash();
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent", receipt: "r1" }]);
		expect(scene.world.attempts.length).toBe(1);
	});

	test("a platform that does not answer a look-up, or fails at it, keeps nobody waiting", async () => {
		let looks = 0;
		await start({
			channel: { lookup: true },
			wrap: (channel) => ({
				...channel,
				lookup: () => (++looks === 1 ? new Promise(() => {}) : Promise.reject(new Error("broken"))),
			}),
		});
		scene.world.behave = ({ n }) => (n < 3 ? "lost" : "ok");
		await scene.say("one");
		await scene.say("two");
		await scene.say("three");
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["you said three"]);
		expect(scene.log).toEqual([]);
	});

	test("what stays unknown until it is too old is not asked about any more", async () => {
		const asked: number[] = [];
		await start({
			channel: { lookup: true },
			config: { outbox: { max_age_minutes: 10 } },
			wrap: sayingLater(asked, 1000),
		});
		scene.world.behave = () => "lost";
		await scene.say("one");
		await scene.clock.advance(11 * MINUTE);
		const before = asked.length;
		expect(before).toBeGreaterThan(10);
		await scene.clock.advance(HOUR);
		expect(asked.length).toBe(before);
	});

	test("what was claimed by a call whose answer was lost is sent all the same, and once", async () => {
		let lost = 0;
		await start({
			engine: (engine) => ({
				...engine,
				write: async (name, args, drawn) => {
					const answer = (await engine.write(name, args, drawn)) as { deliveries?: readonly unknown[] };
					if (name !== "claimDeliveries" || answer.deliveries?.length === 0 || ++lost > 1) return answer;
					throw new KeryxError("store.io", "the answer was lost");
				},
			}),
		});
		const id = await scene.say("one");
		expect(scene.texts()).toEqual([]);
		await scene.clock.advance(2 * SECOND);
		expect(scene.texts()).toEqual(["you said one"]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent", attempts: 1 }]);
	});

	test("order within a conversation is kept while the first waits; other conversations do not wait for it", async () => {
		await start();
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: MINUTE } : "ok");
		await scene.say("one");
		await scene.say("two");
		await scene.say("hello", { chat: "bob" });
		expect([scene.texts(), scene.texts("bob")]).toEqual([[], ["you said hello"]]);
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["you said one", "you said two"]);
	});

	test("an outbox that has nothing to do asks the store for nothing", async () => {
		await start();
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: MINUTE } : "ok");
		await scene.say("one");
		await scene.say("two");
		// What is due behind another one that waits is no reason to look again before that one's time.
		expect(scene.clock.pendingTimers().filter((at) => at <= scene.clock.now())).toEqual([]);
	});
});

describe("why", () => {
	test("the story of a message that was answered names each step in order, with times", async () => {
		await start({ script: { otherwise: [{ tools: [{ name: "effect" }] }, { text: "done" }] } });
		const id = await scene.say("go");
		const story = await scene.why(id);
		const steps = [
			"accepted and stored",
			"Keryx started working on it in session",
			"The tool effect was called",
			"queued for sending",
			"Keryx finished: completed",
			"Part 1 was delivered",
			"Result: it was answered.",
		];
		const places = steps.map((step) => story.indexOf(step));
		expect(places, story).not.toContain(-1);
		expect(places).toEqual(places.toSorted((a, b) => a - b));
		expect(story).toMatch(/^Message \d+:\n2026-03-10 12:00:00/);
	});

	test("the stories of messages that wait, failed, were refused or stopped say so", async () => {
		await start({
			script: {
				rules: [{ when: "fail", steps: [{ fail: { kind: "provider_down" } }] }],
				otherwise: [{ delay_ms: HOUR, text: "late" }],
			},
		});
		const failed = await scene.say("fail");
		const running = await scene.say("slow");
		const queued = await scene.say("me too");
		const refused = await scene.say("let me in", { chat: "mallory" });
		expect(await scene.why(failed)).toContain("Result: it could not be answered: provider_down");
		expect(await scene.why(running)).toContain("Keryx is working on it.");
		expect(await scene.why(queued)).toContain("It is waiting for its turn.");
		expect(await scene.why(refused)).toContain("Result: it was refused: not on the allow-list.");
		await scene.say("/why");
		expect(scene.texts().at(-1)).toContain("It is waiting for its turn.");
		await scene.say("/stop all");
		expect(await scene.why(running)).toContain("Result: the user stopped the answer.");
		expect(await scene.why(queued)).toContain("The user dropped it from the queue.");
	});

	test("/why shows nobody the messages of another conversation", async () => {
		await start();
		const mine = await scene.say("my words");
		await scene.say(`/why ${scene.inbox(mine)}`, { chat: "bob" });
		expect(scene.texts("bob")).toEqual([expect.stringContaining("There is no answered message")]);
		await scene.say(`/why ${scene.inbox(mine)}`);
		expect(scene.texts().at(-1)).toContain("Result: it was answered.");
	});
});

/** A channel whose look-ups answer that they cannot say, so many times. */
function sayingLater(asked: number[], times: number): NonNullable<SceneOptions["wrap"]> {
	return (channel, clock) => ({
		...channel,
		lookup: async (id, destination) => {
			asked.push(clock.now());
			const found = asked.length > times ? await channel.lookup?.(id, destination) : undefined;
			return found ?? { kind: "unknown" };
		},
	});
}

/** A channel whose sending fails before anything is sent. */
function tried(at: number[]): NonNullable<SceneOptions["wrap"]> {
	return (channel, clock) => ({
		...channel,
		send: () => {
			at.push(clock.now());
			return Promise.resolve({ kind: "retry", reason: "no route" });
		},
	});
}
