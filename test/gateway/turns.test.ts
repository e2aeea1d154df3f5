// Turns: deadlines, failures, tools, the second kind of agent, previews. Whatever happens, the transcript is true and the
// user gets a plain sentence.
import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Script } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/index.ts";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const always = (step: NonNullable<Script["otherwise"]>[number]): Script => ({
	rules: [{ when: "", steps: [step], repeat: true }],
});
const reasonOf = async (id: string) => (await scene.item(id)).disposition;
const roles = async (id: string) => (await scene.rows(id)).map(({ role }) => role);

describe("deadlines", () => {
	test("a model that says nothing is ended at the first token's deadline", async () => {
		await start({
			script: always({ hang: true, deaf: true }),
			config: { turn: { first_token_seconds: 120 } },
		});
		const id = await scene.say("go");
		await scene.clock.advance(119 * SECOND);
		expect(scene.texts()).toEqual([]);
		await scene.clock.advance(SECOND);
		expect(scene.texts()).toEqual(["The model took too long to answer. Please try again."]);
		expect(await reasonOf(id)).toEqual({ kind: "failed", reason: "timeout: no first token in time" });
	});

	test("a model that does not come to an end is ended at the model's deadline, and what it said is kept", async () => {
		await start({ script: always({ text: "well", hang: true }), config: { turn: { model_seconds: 300 } } });
		const id = await scene.say("go");
		await scene.clock.advance(5 * MINUTE);
		expect(await reasonOf(id)).toEqual({ kind: "failed", reason: "timeout: no end in time" });
		expect((await scene.rows(id)).map(({ content }) => content)).toEqual([
			"go",
			"well",
			"The turn failed: timeout: no end in time",
		]);
	});

	test("a tool that takes too long has that as its result, and the turn goes on", async () => {
		await start({
			script: {
				otherwise: [{ tools: [{ name: "slow", input: { ms: 10 * MINUTE } }] }, { text: "without it, then" }],
			},
			config: { turn: { tool_seconds: 60 } },
		});
		const id = await scene.say("go");
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["without it, then"]);
		expect((await scene.rows(id))[2]).toMatchObject({
			isError: true,
			content: "slow took longer than allowed, so Keryx stopped waiting. It may or may not have been done.",
		});
	});

	test("a turn that passes its own deadline in the middle of a tool is ended as failed", async () => {
		await start({
			script: { otherwise: [{ tools: [{ name: "slow", input: { ms: 60 * MINUTE } }] }, { text: "late" }] },
			config: { turn: { max_minutes: 2, tool_seconds: 3600 } },
		});
		const id = await scene.say("go");
		await scene.clock.advance(2 * MINUTE);
		expect(await reasonOf(id)).toEqual({ kind: "failed", reason: "deadline" });
		const next = await scene.say("more");
		expect(scene.shown.at(-1)?.history.find(({ role }) => role === "tool")).toMatchObject({
			isError: true,
			content: expect.stringContaining("interrupted"),
		});
		expect(await scene.disposition(next)).toBe("none");
	});
});

describe("failures", () => {
	const SENTENCES = {
		rate_limited: "limiting requests right now",
		key_missing: "key is missing or was refused",
		context_too_large: "too long for the model",
		provider_down: "cannot be reached",
		program_failed: "The agent program failed",
		refused: "refused this request",
		malformed: "could not be read",
		timeout: "took too long",
	} as const;
	for (const kind of ["step", "loop"] as const)
		test(`an answer of an agent of kind ${kind} that knows no limit is cut at it, and the session goes on`, async () => {
			const script = {
				rules: [{ when: "talk", steps: [{ text: "x".repeat(1_500_000) }] }],
				otherwise: [{ text: "here" }],
			};
			await start({ kind, script, config: { turn: { max_answer_mb: 1 } } });
			const id = await scene.say("talk");
			expect(scene.texts().at(-1)).toContain("so it was cut here. Setting: turn.max_answer_mb.)");
			const row = (await scene.rows(id)).at(-1);
			expect(row).toMatchObject({ role: "assistant", finishReason: "max_answer" });
			expect(String(row?.content).length).toBeLessThan(1024 * 1024 + 200);
			const next = await scene.say("and now?");
			expect((await scene.rows(next)).at(-1)).toMatchObject({ content: "here" });
		});

	for (const kind of ["step", "loop"] as const)
		test(`each failure of an agent of kind ${kind} is a plain sentence, a recorded end and a true transcript`, async () => {
			const script = {
				rules: Object.keys(SENTENCES).map((name) => ({
					when: name,
					steps: [{ text: "I beg", fail: { kind: name as keyof typeof SENTENCES, detail: "secret detail" } }],
				})),
			};
			await start({ kind, script });
			for (const [name, sentence] of Object.entries(SENTENCES)) {
				const id = await scene.say(name);
				expect(scene.texts().at(-1)).toContain(sentence);
				expect(scene.texts().at(-1)).not.toContain("secret detail");
				expect(await reasonOf(id)).toEqual({ kind: "failed", reason: `${name}: secret detail` });
				expect((await scene.rows(id)).slice(-3).map(({ content }) => content)).toEqual([
					name,
					"I beg",
					`The turn failed: ${name}: secret detail`,
				]);
			}
		});

	test("an agent that throws costs its turn only, and no stack trace reaches the user", async () => {
		await start({
			script: {
				rules: [{ when: "boom", steps: [{ throws: "at file.js:12" }] }],
				otherwise: [{ text: "fine" }],
			},
		});
		const id = await scene.say("boom");
		await scene.say("and now?");
		expect(scene.texts()).toEqual([expect.stringContaining("could not be read"), "fine"]);
		expect(await reasonOf(id)).toMatchObject({ kind: "failed" });
		expect(scene.texts().join()).not.toContain("file.js");
	});

	test("a step limit ends a turn that does not come to an end, and says how to go on", async () => {
		await start({
			script: { rules: [{ when: "", steps: [{ tools: [{ name: "effect" }] }], repeat: true }] },
			config: { agent: { max_steps: 3 } },
		});
		const id = await scene.say("go");
		expect(scene.texts()).toEqual([expect.stringContaining("more steps than allowed")]);
		expect(await reasonOf(id)).toEqual({ kind: "failed", reason: "step_limit" });
		expect(await roles(id)).toEqual([
			"user",
			"assistant",
			"tool",
			"assistant",
			"tool",
			"assistant",
			"tool",
			"meta",
		]);
	});

	test("the loop guard counts one failing call in a row: another call, or one that works, begins anew", async () => {
		const fail = (what: string) => ({ tools: [{ name: "fail", input: { what } }] });
		await start({
			config: { loop: { max_repeats: 3 } },
			script: {
				otherwise: [
					fail("a"),
					fail("a"),
					fail("b"),
					fail("a"),
					fail("a"),
					{ tools: [{ name: "effect" }] },
					fail("a"),
					fail("a"),
					{ text: "gave up" },
				],
			},
		});
		const id = await scene.say("go");
		expect(scene.texts()).toEqual(["gave up"]);
		expect(await scene.disposition(id)).toBe("answered");
	});

	test("a tool that does not exist and arguments that do not fit are results for the model, not ends", async () => {
		await start({
			script: {
				otherwise: [
					{
						tools: [
							{ name: "nonsense", unoffered: true },
							{ name: "slow", input: { ms: "soon" } },
						],
					},
					{ text: "sorry" },
				],
			},
		});
		const id = await scene.say("go");
		const results = (await scene.rows(id)).filter(({ role }) => role === "tool");
		expect(results.map(({ content }) => String(content).split("\n")[0])).toEqual([
			expect.stringContaining("There is no tool named nonsense"),
			"The arguments for slow are not valid:",
		]);
		expect(scene.texts()).toEqual(["sorry"]);
	});
});

test("clarify ends the turn with the question, and the answer comes as the next message", async () => {
	await start({
		durable: true,
		script: {
			rules: [{ when: "book", steps: [{ tools: [{ name: "clarify", input: { question: "For when?" } }] }] }],
			otherwise: [{ text: "booked for {{input}}" }],
		},
	});
	const id = await scene.say("book a table");
	expect(scene.texts()).toEqual(["For when?"]);
	expect(await roles(id)).toEqual(["user", "assistant", "tool", "assistant"]);
	await scene.say("tonight");
	expect(scene.texts().at(-1)).toBe("booked for tonight");
	const calls = scene.shown.at(-1)?.history.filter(({ role }) => role === "tool");
	expect(calls).toHaveLength(1);
});

describe("what a tool brings besides text", () => {
	const bytes = Uint8Array.from({ length: 1_500_000 }, (_, n) => n % 251);
	const digest = createHash("sha256").update(bytes).digest("hex");
	const words = "word ".repeat(20_000);
	const draw = (endsTurn?: string) =>
		defineTool({
			name: "draw",
			description: "brings an image",
			input: z.object({}),
			repeatable: true,
			run: () =>
				Promise.resolve({
					content: [
						{ type: "text", text: words },
						{ type: "image", data: bytes, mediaType: "image/png", name: "heron.png" },
					],
					...(endsTurn !== undefined && { endsTurn }),
				}),
		});
	for (const endsTurn of [undefined, "like this?"])
		test(`bytes and long text become blobs of the conversation${endsTurn ? ", also with the end of the turn" : ""}`, async () => {
			await start({
				tools: [draw(endsTurn)],
				script: { otherwise: [{ tools: [{ name: "draw" }] }, { text: "there" }] },
			});
			const id = await scene.say("draw a heron");
			expect(scene.texts()).toEqual([endsTurn ?? "there"]);
			const result = (await scene.rows(id)).find(({ role }) => role === "tool");
			expect(result?.content).toEqual([
				{ type: "text", text: words },
				{ type: "image", blob: digest, mediaType: "image/png", name: "heron.png" },
			]);
			await scene.clock.advance(3 * HOUR);
			const conversation = await scene.conversation(id);
			const kept = await scene.store.blob({ scope: OPERATOR, conversation, digest });
			expect(Buffer.compare(kept, bytes)).toBe(0);
			expect((await scene.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
		});
});

describe("an agent that loops itself", () => {
	const script: Script = {
		rules: [
			{
				when: "go",
				steps: [
					{ text: "first", tools: [{ name: "ls", result: "a b" }] },
					{ text: "then", tools: [{ name: "rm", result: "no", is_error: true }] },
					{ text: "all done" },
				],
			},
			{
				when: "fail",
				steps: [
					{ text: "first", tools: [{ name: "ls" }] },
					{ text: "second", fail: { kind: "provider_down" } },
				],
			},
			{ when: "hang", steps: [{ hang: true }] },
		],
	};
	test("its calls and results are stored as if the gateway had run them, and the last message ends the turn", async () => {
		await start({ kind: "loop", script });
		const id = await scene.say("go");
		expect(scene.texts()).toEqual(["all done"]);
		const rows = await scene.rows(id);
		expect(rows.map(({ role }) => role)).toEqual([
			"user",
			"assistant",
			"tool",
			"assistant",
			"tool",
			"assistant",
		]);
		expect(rows[4]).toMatchObject({ toolName: "rm", isError: true });
		expect((await scene.sessions(id))[0]).toMatchObject({ toolCalls: 2, toolErrors: 1, messages: 6 });
	});

	test("what it had reported stays when it fails", async () => {
		await start({ kind: "loop", script });
		const id = await scene.say("fail");
		expect((await scene.rows(id)).map(({ content }) => content)).toEqual([
			"fail",
			"first",
			"done",
			"second",
			"The turn failed: provider_down: as the script says",
		]);
	});

	test("a message that it had finished is kept when it is stopped before its end", async () => {
		await start({
			agent: () => ({
				kind: "loop",
				name: "half",
				async *run({ signal }) {
					yield {
						type: "message",
						message: { content: "a finished thought", toolCalls: [], finishReason: "stop" },
					};
					await new Promise((resolve) => signal.addEventListener("abort", resolve));
				},
			}),
		});
		const id = await scene.say("go");
		await scene.say("/stop");
		expect((await scene.rows(id)).map(({ content }) => content)).toEqual([
			"go",
			"a finished thought",
			"The user stopped this turn.",
		]);
	});

	test("one that says nothing is told to stop at the first token's deadline", async () => {
		let aborted = false;
		await start({
			agent: () => ({
				kind: "loop",
				name: "mute",
				async *run({ signal }) {
					await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
					aborted = true;
				},
			}),
		});
		const id = await scene.say("go");
		await scene.clock.advance(2 * MINUTE);
		expect(await reasonOf(id)).toMatchObject({ kind: "failed", reason: expect.stringContaining("timeout") });
		expect(aborted).toBe(true);
	});
});

describe("previews", () => {
	const streaming = { display: { streaming: true } };
	const chunks = (ms: number): Script => ({
		otherwise: [{ chunks: ["one ", "two ", "three"], chunk_delay_ms: ms }],
	});

	test("a reply is shown while it is written, one message edited in place at most once a second", async () => {
		await start({
			script: { otherwise: [{ chunks: Array.from({ length: 20 }, (_, n) => `${n} `), chunk_delay_ms: 200 }] },
			config: streaming,
		});
		const id = await scene.say("go");
		expect(scene.texts()).toEqual(["0"]);
		await scene.clock.advance(MINUTE);
		expect(scene.world.visible().length).toBe(1);
		expect(scene.texts()[0]).toBe(Array.from({ length: 20 }, (_, n) => n).join(" "));
		const edits = scene.world.attempts.filter(({ kind }) => kind === "edit");
		expect(edits.length).toBeGreaterThan(2);
		expect(edits.length).toBeLessThan(7);
		expect(
			(await scene.store.turn({ scope: OPERATOR, id: (await scene.item(id)).turn as string })).deliveries,
		).toMatchObject([{ state: "sent", receipt: "r1" }]);
	});

	test("I7: after a crash the resumed turn goes on with the same message, and nothing is sent twice", async () => {
		await start({ durable: true, script: chunks(5 * SECOND), config: streaming });
		await scene.say("go");
		expect(scene.texts()).toEqual(["one"]);
		await scene.clock.advance(6 * SECOND);
		await scene.crash();
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["one two three"]);
		expect(scene.world.attempts.filter(({ kind }) => kind === "send").length).toBe(1);
	});

	test("I7: a preview whose outcome nobody knows is not sent again by itself", async () => {
		await start({ durable: true, script: chunks(SECOND), config: streaming });
		scene.world.behave = ({ n }) => (n === 1 ? "lose_ack" : "ok");
		const id = await scene.say("go");
		await scene.clock.advance(MINUTE);
		expect(scene.world.visible().length).toBe(1);
		expect(await scene.why(id)).toContain("unknown whether part 1 arrived");
		await scene.crash();
		await scene.clock.advance(MINUTE);
		expect(scene.world.visible().length).toBe(1);
	});

	test("a pause that the platform asks for at the first preview holds back the reply too", async () => {
		await start({ script: chunks(SECOND), config: streaming });
		scene.world.behave = ({ n }) => (n === 1 ? { retryAfterMs: MINUTE } : "ok");
		await scene.say("go");
		await scene.clock.advance(30 * SECOND);
		expect(scene.texts()).toEqual([]);
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["one two three"]);
	});

	test("a platform that does not answer a preview does not keep the turn from its end", async () => {
		await start({ script: chunks(SECOND), config: streaming });
		scene.world.behave = () => ({ delayMs: 10 * MINUTE });
		const id = await scene.say("go");
		await scene.clock.advance(3 * MINUTE);
		expect(await scene.disposition(id)).toBe("answered");
	});

	test("what must be said before the reply stands before it, also where replies are previewed", async () => {
		await start({
			script: chunks(SECOND),
			config: { ...streaming, session_reset: { mode: "idle", idle_minutes: 10, max_messages: 0 } },
		});
		await scene.say("go");
		await scene.clock.advance(20 * MINUTE);
		await scene.say("again");
		await scene.clock.advance(MINUTE);
		expect(scene.texts().map((text) => text.slice(0, 13))).toEqual([
			"one two three",
			"New session: ",
			"one two three",
		]);
	});

	test("a stopped answer stays visible as far as it was written", async () => {
		await start({ script: chunks(MINUTE), config: streaming });
		const id = await scene.say("go");
		await scene.say("/stop");
		expect(scene.texts()).toEqual(["one", "Stopped. The text so far is kept."]);
		expect((await scene.rows(id))[1]).toMatchObject({ content: "one ", finishReason: "stopped" });
	});

	test("a stopped answer keeps what was written, also where the platform has not answered its preview", async () => {
		await start({ script: chunks(MINUTE), config: streaming });
		scene.world.behave = ({ n }) => (n === 1 ? { delayMs: 10 * MINUTE } : "ok");
		const id = await scene.say("go");
		await scene.say("/stop");
		await scene.clock.advance(2 * SECOND);
		expect((await scene.rows(id)).map(({ content }) => content)).toEqual([
			"go",
			"one ",
			"The user stopped this turn.",
		]);
		expect(await scene.disposition(id)).toBe("stopped");
		await scene.clock.advance(MINUTE);
		expect(await scene.why(id)).toContain("unknown whether part 1 arrived");
	});

	test("an answer that is complete is not lost to a /stop while its preview is on its way", async () => {
		await start({ script: chunks(0), config: streaming });
		scene.world.behave = ({ n }) => (n === 1 ? { delayMs: 10 * MINUTE } : "ok");
		const id = await scene.say("go");
		await scene.say("/stop");
		await scene.clock.advance(2 * SECOND);
		expect((await scene.rows(id)).map(({ content }) => content)).toEqual(["go", "one two three"]);
		expect(await scene.disposition(id)).toBe("answered");
	});

	test("I7: a preview that is found shown after its turn has ended is edited into the final text", async () => {
		let cannotSay = true;
		await start({
			script: chunks(SECOND),
			config: streaming,
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
		await scene.say("go");
		await scene.clock.advance(10 * SECOND);
		expect(scene.texts()).toEqual(["one"]);
		cannotSay = false;
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["one two three"]);
		expect(scene.world.attempts.map(({ kind }) => kind)).toEqual(["send", "edit"]);
	});

	test("live views hear each piece with its place, and a late one asks for the text so far", async () => {
		await start({ script: chunks(MINUTE) });
		const heard: string[] = [];
		scene.gateway.onDelta(({ offset, text }) => heard.push(`${offset}:${text}`));
		const id = await scene.say("go");
		await scene.clock.advance(MINUTE);
		expect(heard).toEqual(["0:one ", "4:two "]);
		expect(scene.gateway.partial(await scene.conversation(id))).toMatchObject({ text: "one two " });
		await scene.clock.advance(MINUTE);
		expect(scene.gateway.partial(await scene.conversation(id))).toBeNull();
	});

	test("typing is shown while an answer is worked on, and not after it", async () => {
		await start({ script: { otherwise: [{ delay_ms: 10 * SECOND, text: "done" }] } });
		await scene.say("go");
		await scene.clock.advance(10 * SECOND);
		const shown = scene.world.typing.length;
		expect(shown).toBeGreaterThanOrEqual(2);
		await scene.clock.advance(MINUTE);
		expect(scene.world.typing.length).toBe(shown);
	});
});
