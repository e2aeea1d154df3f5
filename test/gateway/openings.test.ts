// What a session opens with and what a turn is told: true for the platforms that are connected and the tools that are loaded.
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/index.ts";
import { HOUR, MINUTE, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const telegramTool = defineTool({
	name: "telegram_pin",
	description: "Pins a message.",
	input: z.object({}),
	repeatable: true,
	run: async () => ({ content: "pinned" }),
});

test("home channels of platforms that are not connected are not told", async () => {
	await start({
		config: {
			home_channels: {
				telegram: { chat_id: "-100555", name: "Ops" },
				slack: { chat_id: "C0SLACK", name: "Slack" },
			},
		},
	});
	await scene.say("hello");
	expect(scene.shown[0]?.system).toContain("-100555");
	expect(scene.shown[0]?.system).not.toContain("C0SLACK");
});

test("the message that is answered is named by its id where tools of its platform are loaded, also after a restart", async () => {
	const script = { otherwise: [{ delay_ms: 10 * SECOND, text: "done" }] };
	await start({ durable: true, script, tools: [telegramTool] });
	const id = await scene.say("pin this");
	expect(scene.shown.at(-1)?.notes.join("\n")).toContain(`The id of the message you are answering: "${id}".`);
	await scene.crash();
	expect(scene.shown).toHaveLength(2);
	expect(scene.shown.at(-1)?.notes.join("\n")).toContain(`"${id}"`);
});

test("without such tools no id is told", async () => {
	await start();
	await scene.say("hello");
	expect(scene.shown[0]?.notes.join("\n")).not.toContain("The id of the message");
});

test("what is carried over says how to read the old session, by the tools that are loaded", async () => {
	const session_reset = { mode: "idle", idle_minutes: 60 } as const;
	for (const [enabled, line] of [
		[undefined, /session_read with session \S+ reads it, session_search searches it\./],
		[["clarify"], null],
	] as const) {
		await start({ config: { session_reset, ...(enabled && { tools: { enabled: [...enabled] } }) } });
		await scene.say("one");
		await scene.clock.advance(2 * HOUR);
		const id = await scene.say("two");
		const [carried] = await scene.rows(id);
		expect(carried?.content).toContain("Carried over");
		if (line) expect(carried?.content).toMatch(line);
		else expect(carried?.content).not.toContain("To look something up");
		if (enabled === undefined) await scene.end();
	}
});

test("a boundary's notice has one line about the session that began", async () => {
	await start({ config: { session_reset: { mode: "idle", idle_minutes: 60, max_messages: 50 } } });
	await scene.say("one");
	await scene.clock.advance(2 * HOUR);
	await scene.say("two");
	expect(scene.texts().at(-2)).toContain("\nThis session: up to 50 messages.\n");
});

test("after a restart the conversation's own /busy counts for what waited", async () => {
	const script = {
		rules: [
			{
				when: "work",
				steps: [{ tools: [{ name: "slow", input: { ms: 10 * SECOND } }] }, { text: "done" }],
			},
		],
		otherwise: [{ text: "together" }],
	};
	await start({ durable: true, script });
	await scene.say("/busy steer");
	const first = await scene.say("work");
	const second = await scene.say("and this");
	await scene.crash();
	await scene.clock.advance(MINUTE);
	expect(scene.texts().slice(1)).toEqual(["together"]);
	expect([await scene.disposition(first), await scene.disposition(second)]).toEqual(["merged", "merged"]);
});
