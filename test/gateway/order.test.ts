// I19: what a destination shows is in the order in which it was committed, whichever conversation it comes from and however it is
// sent: parts, notices, answers of commands, previews. And nothing that may have been sent is sent again (I7).
import { afterEach, describe, expect, test } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import type { Engine, WriteName } from "../../src/store/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const STREAMING = { display: { streaming: true } } as const;
/** Four parts on a platform that takes 4096 characters. */
const LONG = ["A", "B", "C", "D"].map((letter) => letter.repeat(4000)).join("\n\n");
const SCRIPT: Script = {
	rules: [
		{ when: "long", steps: [{ text: LONG }] },
		{ when: "slow", steps: [{ chunks: ["slow ", "and ", "steady"], chunk_delay_ms: 2 * SECOND }] },
	],
	otherwise: [{ chunks: ["you ", "said ", "{{input}}"], chunk_delay_ms: SECOND }],
};
/** The first letter of a part, the beginning of anything else. */
const shown = (chat?: string) =>
	scene.texts(chat).map((text) => (/^([A-D])\1{99}/.test(text) ? text[0] : text.slice(0, 40)));

const inGroup = (user: string) => ({ chat: "g", chatType: "group", user }) as const;

const deliveriesOf = async (id: string) =>
	(await scene.store.turn({ scope: OPERATOR, id: (await scene.item(id)).turn as string })).deliveries;

describe("I19: order of what one destination shows", () => {
	test("a four-part answer is shown whole before the next reply is previewed", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		scene.world.behave = ({ kind }) => (kind === "send" ? { delayMs: 2 * SECOND } : "ok");
		await scene.say("long");
		await scene.say("next");
		await scene.clock.advance(MINUTE);
		expect(shown()).toEqual(["A", "B", "C", "D", "you said next"]);
	});

	test("a part that waits for a pause holds back the next reply's preview, and not another chat", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		let sent = 0;
		scene.world.behave = ({ kind, destination }) =>
			kind === "send" && destination.chatId === "ada" && ++sent === 3 ? { retryAfterMs: 30 * SECOND } : "ok";
		await scene.say("long");
		await scene.say("next");
		await scene.say("hello", { chat: "bob" });
		await scene.clock.advance(10 * SECOND);
		expect([shown(), shown("bob")]).toEqual([["A", "B"], ["you said hello"]]);
		await scene.clock.advance(MINUTE);
		expect(shown()).toEqual(["A", "B", "C", "D", "you said next"]);
	});

	test("the notice of a rotation stands before the next session's reply", async () => {
		await start({
			script: SCRIPT,
			config: { ...STREAMING, session_reset: { mode: "none", max_messages: 2 } },
		});
		scene.world.behave = ({ kind }) => (kind === "send" ? { delayMs: SECOND } : "ok");
		await scene.say("long");
		await scene.say("next");
		await scene.clock.advance(MINUTE);
		expect(shown().map((text) => text?.slice(0, 13))).toEqual([
			"A",
			"B",
			"C",
			"D",
			expect.stringContaining("session"),
			"you said next",
			expect.stringContaining("session"),
		]);
	});

	test("several conversations that lead to one chat keep one order", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		let sent = 0;
		scene.world.behave = ({ kind }) =>
			kind === "send" && ++sent === 2 ? { retryAfterMs: 10 * SECOND } : "ok";
		await scene.say("long", inGroup("ada"));
		await scene.say("hello", inGroup("bob"));
		await scene.clock.advance(5 * SECOND);
		expect(shown("g")).toEqual(["A"]);
		await scene.clock.advance(MINUTE);
		expect(shown("g")).toEqual(["A", "B", "C", "D", "you said hello"]);
	});

	test("threads of one chat, and accounts, do not wait for each other", async () => {
		await start({ script: SCRIPT });
		scene.world.behave = ({ destination }) =>
			destination.threadId === "t1" ? { retryAfterMs: MINUTE } : "ok";
		await scene.say("one", { ...inGroup("ada"), thread: "t1" });
		await scene.say("two", { ...inGroup("ada"), thread: "t2" });
		await scene.clock.advance(10 * SECOND);
		expect(scene.texts("g")).toEqual([expect.stringContaining("two")]);
	});

	test("a preview that waited is shown as soon as its chat is free, without more text", async () => {
		await start({
			script: {
				rules: [
					{
						when: "work",
						steps: [
							{ text: "working", tools: [{ name: "slow", input: { ms: HOUR / 60 } }] },
							{ text: "done" },
						],
					},
				],
				otherwise: [{ text: LONG }],
			},
			config: STREAMING,
		});
		scene.world.behave = ({ kind }) => (kind === "send" ? { delayMs: 2 * SECOND } : "ok");
		await scene.say("long");
		await scene.say("work");
		await scene.clock.advance(20 * SECOND);
		expect(shown()).toEqual(["A", "B", "C", "D", expect.stringContaining("working")]);
		await scene.clock.advance(2 * MINUTE);
		expect(shown()).toEqual(["A", "B", "C", "D", "done"]);
	});

	test("a preview that has not been shown holds back nobody, and its reply comes when its turn ends", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: 30 * SECOND } : "ok");
		await scene.say("slow", inGroup("ada"));
		await scene.clock.advance(2 * SECOND);
		await scene.say("/status", inGroup("bob"));
		expect(scene.texts("g").length).toBe(1);
		await scene.clock.advance(MINUTE);
		expect(scene.texts("g").at(-1)).toBe("slow and steady");
		expect(scene.texts("g").length).toBe(2);
	});

	test("a preview that the platform asks to wait is shown after that, not only when its turn ends", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: SECOND } : "ok");
		await scene.say("slow");
		expect(scene.texts()).toEqual([]);
		await scene.clock.advance(SECOND);
		expect(scene.texts()).toEqual(["slow"]);
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["slow and steady"]);
	});

	test("a preview that is shown holds back nobody either, and its final text takes its place", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		await scene.say("slow", inGroup("ada"));
		expect(scene.texts("g")).toEqual(["slow"]);
		await scene.say("/status", inGroup("bob"));
		expect(scene.texts("g").length).toBe(2);
		await scene.clock.advance(MINUTE);
		expect(scene.texts("g")[0]).toBe("slow and steady");
		expect(scene.world.visible("g").length).toBe(2);
	});

	test("what is said after a preview waits until that has been answered, also when the turn was stopped", async () => {
		await start({ script: SCRIPT, config: STREAMING });
		scene.world.behave = ({ n }) => (n === 1 ? { delayMs: 20 * SECOND } : "ok");
		const id = await scene.say("slow");
		await scene.say("/stop");
		await scene.clock.advance(5 * SECOND);
		expect(await scene.disposition(id)).toBe("stopped");
		expect(scene.texts()).toEqual([]);
		await scene.clock.advance(20 * SECOND);
		expect(scene.texts()).toEqual(["slow", "Stopped. The text so far is kept."]);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent", receipt: "r1" }]);
	});

	test("after a crash a part that the platform has not taken is sent before those behind it, where it can be asked", async () => {
		let lost = 0;
		await start({
			durable: true,
			script: SCRIPT,
			channel: { lookup: true },
			wrap: (channel) => ({
				...channel,
				send: (outgoing) =>
					outgoing.body.text.startsWith("B") && ++lost === 1 ? new Promise(() => {}) : channel.send(outgoing),
			}),
		});
		await scene.say("long");
		expect(shown()).toEqual(["A"]);
		await scene.crash(SECOND);
		await scene.clock.advance(MINUTE);
		expect(shown()).toEqual(["A", "B", "C", "D"]);
	});

	test("where asking fails, the platform is asked again before anything behind goes", async () => {
		let looks = 0;
		await start({
			script: SCRIPT,
			channel: { lookup: true },
			wrap: (channel) => ({
				...channel,
				lookup: async (id, destination) => {
					if (++looks < 3) throw new Error("the line broke");
					return (await channel.lookup?.(id, destination)) ?? { kind: "unknown" };
				},
			}),
		});
		scene.world.behave = ({ nth, text }) => (text.startsWith("B") && nth === 1 ? "lost" : "ok");
		await scene.say("long");
		await scene.clock.advance(MINUTE);
		expect(shown()).toEqual(["A", "B", "C", "D"]);
	});

	test("after a broken connection the same: the platform is asked before anything behind goes", async () => {
		await start({ script: SCRIPT, channel: { lookup: true, reconnectMs: 10 * SECOND } });
		const channel = scene.channel as typeof scene.channel & { disconnect(): void };
		scene.world.behave = ({ nth, text }) =>
			text.startsWith("B") && nth === 1 ? { delayMs: 2 * SECOND, andThen: "lost" } : "ok";
		await scene.say("long");
		await scene.clock.advance(SECOND);
		channel.disconnect();
		await scene.clock.advance(2 * MINUTE);
		expect(shown()).toEqual(["A", "B", "C", "D"]);
	});
});

describe("I7: a preview is sent once", () => {
	test("a preview that was sent while the disk was full is not sent again", async () => {
		let isFull = false;
		await start({
			script: SCRIPT,
			config: STREAMING,
			engine: (engine) => failing(engine, () => isFull, ["recordPreview"]),
			wrap: (channel) => ({
				...channel,
				send: async (outgoing) => {
					isFull = true;
					return channel.send(outgoing);
				},
			}),
		});
		const id = await scene.say("slow");
		expect(scene.texts()).toEqual(["slow"]);
		await scene.clock.advance(30 * SECOND);
		isFull = false;
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["slow and steady"]);
		expect(scene.world.attempts.filter(({ kind }) => kind === "send").length).toBe(1);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "sent", receipt: "r1" }]);
	});

	test("a channel that throws instead of answering leaves the preview unknown, and holds back nobody for ever", async () => {
		let sends = 0;
		await start({
			script: SCRIPT,
			config: STREAMING,
			wrap: (channel) => ({
				...channel,
				send: (outgoing) => {
					if (++sends === 1) throw new Error("broken");
					return channel.send(outgoing);
				},
			}),
		});
		const id = await scene.say("slow");
		await scene.say("hello");
		await scene.clock.advance(MINUTE);
		expect(await deliveriesOf(id)).toMatchObject([
			{ state: "unknown", reason: "the channel failed: broken" },
		]);
		expect(scene.texts()).toEqual(["you said hello"]);
	});

	test("a preview that was opened by a call whose answer was lost is taken back, and holds back nobody", async () => {
		let lost = 0;
		await start({
			script: SCRIPT,
			config: STREAMING,
			engine: (engine) => ({
				...engine,
				write: async (name, args, drawn) => {
					const answer = await engine.write(name, args, drawn);
					if (name === "openDelivery" && ++lost === 1)
						throw new KeryxError("store.io", "the answer was lost");
					return answer;
				},
			}),
		});
		await scene.say("slow", inGroup("ada"));
		await scene.say("/status", inGroup("bob"));
		expect(scene.texts("g").length).toBe(1);
		await scene.clock.advance(MINUTE);
		expect(scene.texts("g").at(-1)).toBe("slow and steady");
	});

	test("a preview whose receipt was lost with a crash is not sent again", async () => {
		await start({
			durable: true,
			script: SCRIPT,
			config: STREAMING,
			engine: (engine) => failing(engine, () => true, ["recordPreview"]),
		});
		const id = await scene.say("slow");
		expect(scene.texts()).toEqual(["slow"]);
		await scene.crash(SECOND, { ...scene.options, engine: (engine) => engine });
		await scene.clock.advance(MINUTE);
		expect(scene.world.visible().length).toBe(1);
		expect(await deliveriesOf(id)).toMatchObject([{ state: "unknown" }]);
	});
});

/** An engine whose writes of these names fail as on a full disk, while it is so. */
function failing(engine: Engine, isFull: () => boolean, names: readonly WriteName[]): Engine {
	return {
		...engine,
		write: (name, args, drawn) =>
			names.includes(name) && isFull()
				? Promise.reject(new KeryxError("store.full", "the disk is full"))
				: engine.write(name, args, drawn),
	};
}
