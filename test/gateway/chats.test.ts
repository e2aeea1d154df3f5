// Groups, bots, and chats that move or cannot be written to any more.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryDatabase } from "../support/memory-engine.ts";
import { AUDIT_KEY, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
/** For those who crash: it outlives its owners. */
let database: MemoryDatabase;
beforeEach(() => {
	database = new MemoryDatabase(AUDIT_KEY);
});
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(async () => {
	await scene.end();
	database.close();
});

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

async function eventsOf(type: string) {
	const read = await scene.store.events({ scope: OPERATOR, after: "", limit: 1000 });
	return read.kind === "events" ? read.events.filter((event) => event.type === type) : [];
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

	test("of what nobody meant for the agent only the newest 50 keep their text, however much is said before it is asked", async () => {
		await start();
		const ids = [];
		for (let n = 1; n <= 60; n++)
			ids.push(scene.world.say({ ...group(), text: `chatter ${n}`, mentioned: false }));
		await scene.clock.advance(0);
		const kept = await Promise.all(ids.map(async (id) => (await scene.item(id)).content !== null));
		expect(kept.filter(Boolean)).toHaveLength(50);
		expect(kept.slice(0, 10)).toEqual(Array(10).fill(false));
		await scene.say("@bot?", { ...group(), mentioned: true });
		expect(scene.shown[0]?.history.map(({ content }) => content).slice(0, 1)).toEqual([
			"[Ada, not to you] chatter 11",
		]);
		expect(scene.shown[0]?.history).toHaveLength(51);
	});

	test("in free chats, without require_mention, in a reply to Keryx and in a direct message everything is for the agent", async () => {
		await start({ settings: { freeChats: ["g1"] } });
		const free = await scene.say("hello", { ...group("g1"), mentioned: false });
		const other = await scene.say("hello", { ...group("g2"), mentioned: false });
		const direct = await scene.say("hello", { mentioned: false });
		const quoted = { platformMessage: "r", text: "shall I?", own: true };
		const reply = await scene.say("yes", { ...group("g2"), mentioned: false, quoted });
		const dispositions = [free, other, direct, reply].map((id) => scene.disposition(id));
		expect(await Promise.all(dispositions)).toEqual(["answered", "observed", "answered", "answered"]);
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
		await start({ config, database });
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
		const notices = scene.texts("g").filter((text) => text.includes("Bots have sent"));
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
		await scene.host.gone({ source: groupSource(), reason: "the bot was removed from the group" });
		expect(await dead()).toEqual([["dead", "the bot was removed from the group"]]);
		expect(await eventsOf("chat.gone")).toHaveLength(1);
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

	test("keeps the profile, the instructions and the freedom that the configuration gives its first id", async () => {
		await start({
			config: {
				profiles: { work: {} },
				profile_rules: [{ profile: "work", platform: "telegram", chat: "g" }],
				instructions: { "telegram/g": "Speak Latin." },
			},
			settings: { freeChats: ["g"] },
			profiles: ["work"],
		});
		await scene.host.moved({ source: groupSource(), toChatId: "-100g" });
		const id = await scene.say("salve", { ...group("-100g"), mentioned: false });
		const place = { ref: { id: await scene.conversation(id) }, scope: OPERATOR };
		expect((await scene.store.conversation(place)).profile).toBe("work");
		expect(scene.shown.at(-1)?.system).toContain("Speak Latin.");
		expect(await scene.disposition(id)).toBe("answered");
	});
});
