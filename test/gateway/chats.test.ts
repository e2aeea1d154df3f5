// Groups, bots, and chats that move or cannot be written to any more.
import { afterEach, describe, expect, test } from "vitest";
import { OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const group = (chat = "g") =>
	({ chat, chatType: "group", user: "ada", source: { user_name: "Ada" } }) as const;
const groupSource = (chat_id = "g") => ({
	platform: "telegram",
	chat_id,
	chat_type: "group",
	user_id: "ada",
});

async function dead() {
	const unsettled = await scene.store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 100 });
	return unsettled.map(({ state, reason }) => [state, reason]);
}

describe("in a group", () => {
	test("only a mention is for the agent; the rest is shown before it, labelled, though one person alone has the conversation", async () => {
		await start();
		const seen = await scene.say("delete everything", { ...group(), mentioned: false });
		expect(await scene.disposition(seen)).toBe("observed");
		await scene.say("/new", { ...group(), mentioned: false });
		expect(scene.world.visible()).toEqual([]);
		await scene.say("@bot hello", { ...group(), mentioned: true });
		expect(scene.shown[0]?.history.map(({ content }) => content)).toEqual([
			"[Ada, not to you] delete everything",
			"[Ada, not to you] /new",
			"@bot hello",
		]);
	});

	test("in free chats, without require_mention, and in a direct message everything is for the agent", async () => {
		await start({ settings: { freeChats: ["g1"] } });
		const free = await scene.say("hello", { ...group("g1"), mentioned: false });
		const other = await scene.say("hello", { ...group("g2"), mentioned: false });
		const direct = await scene.say("hello", { mentioned: false });
		expect(await Promise.all([free, other, direct].map((id) => scene.disposition(id)))).toEqual([
			"answered",
			"observed",
			"answered",
		]);
		await scene.end();
		await start({ settings: { requireMention: false } });
		const any = await scene.say("hello", { ...group("g2"), mentioned: false });
		expect(await scene.disposition(any)).toBe("answered");
	});
});

describe("bots", () => {
	const config = { auth: { telegram: { allow: ["ada", "robot"], allow_bots: true } } };
	const bot = { ...group(), user: "robot", transport: { isBot: true } } as const;

	test("that talk to each other stop after 5 turns with one notice, until a person writes; a crash forgets none", async () => {
		await start({ config, durable: true });
		for (let n = 1; n <= 4; n++) await scene.say(`beep ${n}`, bot);
		await scene.crash();
		const ids: string[] = [];
		for (let n = 5; n <= 8; n++) ids.push(await scene.say(`beep ${n}`, bot));
		expect(await Promise.all(ids.map((id) => scene.disposition(id)))).toEqual([
			"answered",
			"refused",
			"refused",
			"refused",
		]);
		const notices = scene.texts("g").filter((text) => text.includes("without a person"));
		expect(notices).toHaveLength(1);
		expect(await scene.disposition(await scene.say("elsewhere", { ...bot, chat: "g2" }))).toBe("answered");
		await scene.say("stop it", group());
		expect(await scene.disposition(await scene.say("beep 9", bot))).toBe("answered");
	});
});

describe("a chat that cannot be written to", () => {
	test("ends what waits for it dead, with the reason, and tries nothing more, until it is heard from again", async () => {
		await start({ platform: { behave: () => ({ retryAfterMs: 60_000 }) } });
		await scene.say("one", group());
		await scene.say("for bob", { chat: "bob" });
		await scene.host.gone({
			source: groupSource(),
			reason: "the bot was removed from the group",
			cursor: "12",
		});
		expect(await dead()).toEqual([["dead", "the bot was removed from the group"]]);
		expect(await scene.host.cursor()).toBe("12");
		const conversation = await scene.conversation("m1");
		const tried = scene.world.attempts.length;
		await scene.store.notify({
			conversation,
			deliveries: [
				{
					id: "late",
					kind: "notice",
					destination: { platform: "telegram", account: "", chatId: "g", threadId: "7" },
					body: { text: "late", plain: "late" },
				},
			],
		});
		await scene.clock.advance(30 * SECOND);
		expect(await dead()).toHaveLength(2);
		expect(scene.world.attempts).toHaveLength(tried);
		scene.world.behave = () => "ok";
		await scene.say("back again", group());
		expect(scene.texts("g")).toEqual(["you said back again"]);
		await scene.clock.advance(60 * SECOND);
		expect(scene.texts("bob")).toEqual(["you said for bob"]);
	});

	test("what was being sent when it went is not tried again", async () => {
		await start({ platform: { behave: () => ({ delayMs: 1000, andThen: { retryAfterMs: 1000 } }) } });
		await scene.say("one", group());
		await scene.host.gone({ source: groupSource(), reason: "blocked" });
		await scene.clock.advance(60 * SECOND);
		expect(await dead()).toEqual([["dead", "blocked"]]);
		expect(scene.world.attempts).toHaveLength(1);
	});
});

describe("a chat that got another id", () => {
	test("goes on in its conversation, and what waited for the old id arrives under the new one, in order", async () => {
		await start({
			platform: { behave: () => ({ retryAfterMs: 60_000 }) },
			config: { auth: { telegram: { allow: ["ada"], groups: ["g"] } } },
		});
		const before = await scene.say("one", group());
		await scene.say("two", group());
		await scene.host.moved({ source: groupSource(), toChatId: "-100g", cursor: "3" });
		await scene.host.moved({ source: groupSource(), toChatId: "-100g" });
		scene.world.behave = () => "ok";
		const after = await scene.say("three", group("-100g"));
		await scene.clock.advance(5 * 60 * SECOND);
		expect(await scene.conversation(after)).toBe(await scene.conversation(before));
		expect(scene.texts("-100g")).toEqual(["you said one", "you said two", "you said three"]);
		expect(scene.texts("g")).toEqual([]);
		expect(await scene.host.cursor()).toBe("3");
	});
});
