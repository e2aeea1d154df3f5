// I12 in chats: what is shown while it is written, what is split, what others than the owner see, and calls that hold a secret.
import { afterEach, describe, expect, test } from "vitest";
import { MINUTE, OPERATOR, Scene, type SceneOptions, SECOND, SECRET } from "../gateway/support.ts";
import { formsOf, traceOf } from "./traces.ts";

const NAMED = "\u0024{secret:TEST}";
const STREAMING: SceneOptions = { config: { display: { streaming: true } } };

let scene: Scene;
const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

/** Everything that the platform was ever given. */
const sent = () => scene.world.attempts.map(({ text }) => text);

describe.each(["step", "loop"] as const)("a secret in the text of an agent (%s)", (kind) => {
	test("that stands across two parts of a reply is in neither", async () => {
		const text = `${"word ".repeat(815)}${SECRET} ${"more ".repeat(400)}`;
		await start({ kind, script: { otherwise: [{ text }] } });
		await scene.say("go");
		const parts = scene.texts();
		expect(parts.length).toBeGreaterThan(1);
		expect(traceOf([SECRET], parts.join(""))).toBeNull();
		expect(parts.join(" ")).toContain(NAMED);
	});

	test("is never shown while it is written, in whatever pieces it comes", async () => {
		const text = `so: ${Object.values(formsOf(SECRET)).join(", ")}.`;
		const chunks = Array.from({ length: Math.ceil(text.length / 3) }, (_, n) => text.slice(n * 3, n * 3 + 3));
		await start({ ...STREAMING, kind, script: { otherwise: [{ chunks, chunk_delay_ms: 400 }] } });
		const live: string[] = [];
		scene.gateway.onDelta(({ text: delta }) => live.push(delta));
		const id = await scene.say("go");
		const conversation = await scene.conversation(id);
		for (let n = 0; n < 20; n++) {
			await scene.clock.advance(10 * SECOND);
			live.push(`\n--\n${scene.gateway.partial(conversation)?.text ?? ""}\n--\n`);
		}
		await scene.clock.advance(5 * MINUTE);
		expect(sent().length).toBeGreaterThan(5);
		for (const shown of sent()) expect(traceOf([SECRET], shown)).toBeNull();
		expect(traceOf([SECRET], live.join(""))).toBeNull();
		expect(scene.texts().at(-1)).toBe((await scene.rows(id)).at(-1)?.content);
	});

	test("that a turn was cut off with stays hidden in what is kept of it", async () => {
		const chunks = ["it is correct horse batt", "ery staple, and then"];
		await start({ ...STREAMING, kind, script: { otherwise: [{ chunks, hang: true }] } });
		const id = await scene.say("go");
		await scene.say("/stop");
		const kept = (await scene.rows(id)).find(({ role }) => role === "assistant");
		expect(kept?.content).toBe(`it is ${NAMED}, and then`);
		expect(traceOf([SECRET], JSON.stringify([sent(), scene.log]))).toBeNull();
	});
});

describe("others than the owner see neither a secret nor its name", () => {
	const prompts = () =>
		JSON.stringify(scene.shown.map(({ system, history, notes }) => [system, history, notes]));

	test("in what they are told, shown while it is written, and what the model reads for them", async () => {
		await start(STREAMING);
		await scene.say(`is it ${SECRET}?`, { chat: "bob" });
		await scene.clock.advance(MINUTE);
		expect(scene.texts("bob")).toEqual(["you said is it •••?"]);
		expect(prompts()).toContain("is it •••?");
		expect([sent().join(), prompts()].join()).not.toContain("secret:");
	});

	test("while the owner sees the name, and the record keeps it", async () => {
		await start();
		const id = await scene.say(`is it ${SECRET}?`);
		expect(scene.texts()).toEqual([`you said is it ${NAMED}?`]);
		expect(prompts()).toContain(NAMED);
		const bobs = await scene.say(`is it ${SECRET}?`, { chat: "bob" });
		for (const written of [id, bobs]) expect((await scene.rows(written))[0]?.content).toBe(`is it ${NAMED}?`);
	});

	test("in a group, whoever writes", async () => {
		await start({ config: { routing: { group_sessions_per_user: false } } });
		await scene.say(`is it ${SECRET}?`, { chat: "room", chatType: "group", user: "ada" });
		expect(scene.texts("room").join()).toContain("is it •••?");
		expect(prompts()).not.toContain("secret:");
	});

	test("in the answers to commands", async () => {
		await start();
		await scene.say("hello", { chat: "bob" });
		await scene.say(`/title about ${SECRET}`, { chat: "bob" });
		await scene.say("/status", { chat: "bob" });
		expect(scene.texts("bob").join()).toContain("about •••");
		expect(sent().join()).not.toContain("secret:");
		await scene.say("hello");
		await scene.say(`/title about ${SECRET}`);
		expect(scene.texts().at(-1)).toContain(NAMED);
	});
});

describe("a call with a secret in its arguments", () => {
	const calling = (input: object) => ({
		rules: [{ when: "", steps: [{ tools: [{ name: "effect", input }] }, { text: "understood" }] }],
	});

	test.each(Object.entries(formsOf(SECRET)))(
		"(%s) is refused, not run, and stored hidden",
		async (_, form) => {
			await start({ script: calling({ what: `x ${form}`, deep: [{ [form]: 1 }] }) });
			const id = await scene.say("go");
			expect(scene.effects).toEqual([]);
			const rows = await scene.rows(id);
			expect(rows.find(({ role }) => role === "tool")).toMatchObject({
				isError: true,
				content: expect.stringContaining(`Write \u0024{secret:NAME} instead`),
			});
			expect(traceOf([SECRET], JSON.stringify(rows))).toBeNull();
			expect(scene.texts()).toEqual(["understood"]);
		},
	);

	test("is not run after a crash either, with the name in place of the secret", async () => {
		await start({ durable: true, script: calling({ what: SECRET }) });
		const { store } = scene;
		const append = store.appendMessages;
		let isFirst = true;
		Object.assign(store, {
			appendMessages: async (args: Parameters<typeof append>[0]) => {
				const answer = await append(args);
				if (isFirst) {
					isFirst = false;
					await scene.die();
				}
				return answer;
			},
		});
		const id = await scene.say("go");
		await scene.open(scene.clock.now() + SECOND);
		await scene.clock.advance(MINUTE);
		expect(scene.effects).toEqual([]);
		const results = (await scene.rows(id)).filter(({ role }) => role === "tool");
		expect(results).toMatchObject([{ isError: true, content: expect.stringContaining("known secret") }]);
	});

	test("over and over ends the turn like any other call that fails", async () => {
		const steps = [{ tools: [{ name: "effect", input: { what: SECRET } }] }];
		await start({
			config: { loop: { max_repeats: 3 } },
			script: { rules: [{ when: "", repeat: true, steps }] },
		});
		const id = await scene.say("go");
		expect((await scene.rows(id)).filter(({ role }) => role === "tool")).toHaveLength(3);
		expect(scene.texts().join()).toContain("effect");
		expect(
			(await scene.store.turn({ scope: OPERATOR, id: (await scene.item(id)).turn as string })).state,
		).toBe("failed");
	});
});
