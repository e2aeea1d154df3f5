// The way in and the lanes: who may speak, what belongs together, what happens while a turn runs, and after downtime.
import { afterEach, describe, expect, test } from "vitest";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const slow = { otherwise: [{ delay_ms: MINUTE, text: "done with {{input}}" }] };

describe("authorisation", () => {
	const group = { chat: "g1", chatType: "group" } as const;

	test("nobody may speak by default, and a refused message keeps no text, makes no conversation and gets no answer where pairing is off", async () => {
		await start({ config: { auth: {} } });
		await scene.end();
		await start({ config: { auth: { telegram: { allow: [], pairing: false } } } });
		const id = await scene.say("let me in");
		const item = await scene.item(id);
		expect(item).toMatchObject({
			disposition: { kind: "refused", reason: "not on the allow-list" },
			content: null,
			conversation: null,
		});
		expect(await scene.store.conversations({ scope: OPERATOR, limit: 9 })).toEqual([]);
		expect(scene.world.visible()).toEqual([]);
		expect(scene.world.unacknowledged).toEqual([]);
		expect(await scene.why(id)).toContain("Result: it was refused: not on the allow-list.");
	});

	test("a person on the list is known by every alias of theirs", async () => {
		await start({ config: { auth: { telegram: { allow: ["+491"] } } } });
		await scene.say("hello", { chat: "+491", source: { user_id_alt: "uuid-1" } });
		const id = await scene.say("again", { chat: "uuid-1", source: { user_id: "uuid-1" } });
		expect(await scene.disposition(id)).toBe("answered");
		const stranger = await scene.say("me too", { chat: "uuid-2" });
		expect(await scene.disposition(stranger)).toBe("refused");
	});

	test("a role on the platform lets its bearer in, with the rights it stands for", async () => {
		await start({
			config: { auth: { telegram: { allow: [], roles: { admin: "owner", reader: "guest" } } } },
		});
		await scene.say("/new", { chat: "x", transport: { roles: ["admin"] } });
		await scene.say("/new", { chat: "y", transport: { roles: ["reader"] } });
		const none = await scene.say("/new", { chat: "z", transport: { roles: ["other"] } });
		expect(scene.texts("x")).toEqual(["Started a new session."]);
		expect(scene.texts("y")).toEqual(["You cannot use /new here. /help lists the commands you can use."]);
		expect(await scene.disposition(none)).toBe("refused");
	});

	test("allow_all lets everybody in as a guest, and their /help lists what a guest may use", async () => {
		await start({ config: { auth: { telegram: { allow_all: true, allow: [] } } } });
		await scene.say("/help", { chat: "anybody" });
		expect(scene.texts("anybody")[0]).toContain("/status");
		expect(scene.texts("anybody")[0]).not.toContain("/new");
	});

	test("bots are refused unless they are allowed; what Keryx wrote itself always is", async () => {
		await start();
		expect(await scene.disposition(await scene.say("beep", { transport: { isBot: true } }))).toBe("refused");
		expect(await scene.disposition(await scene.say("echo", { transport: { own: true } }))).toBe("refused");
		await scene.end();
		await start({ config: { auth: { telegram: { allow: ["ada"], allow_bots: true } } } });
		expect(await scene.disposition(await scene.say("beep", { transport: { isBot: true } }))).toBe("answered");
		expect(await scene.disposition(await scene.say("echo", { transport: { own: true, isBot: true } }))).toBe(
			"refused",
		);
	});

	test("groups are silent unless allowed: a listed group lets its people in, another one not even those on the list", async () => {
		await start({ config: { auth: { telegram: { allow: ["ada"], groups: ["g1"] } } } });
		const inside = await scene.say("hello", { ...group, user: "stranger" });
		const outside = await scene.say("hello", { ...group, chat: "g2", user: "ada" });
		expect([await scene.disposition(inside), await scene.disposition(outside)]).toEqual([
			"answered",
			"refused",
		]);
		expect(scene.texts("g2")).toEqual([]);
	});
});

describe("acceptance", () => {
	test("I4: a message that the platform delivers again is accepted once and answered once", async () => {
		await start({ script: slow });
		const id = await scene.say("hello");
		for (let n = 0; n < 3; n++) scene.world.redeliver(id);
		await scene.clock.advance(5 * MINUTE);
		scene.world.redeliver(id);
		await scene.clock.advance(5 * MINUTE);
		expect(scene.texts()).toEqual(["done with hello"]);
		expect((await scene.rows(id)).length).toBe(2);
	});

	test("I3: the platform is told only what was committed, and what the store could not take comes again", async () => {
		await start({ durable: true });
		await scene.loseStore();
		// It is handed in and nobody can commit it: nothing may be acknowledged.
		const id = scene.world.say({ chat: "ada", text: "hello" });
		await scene.clock.advance(10 * SECOND);
		expect(scene.world.acknowledged).toBe(0);
		await scene.die();
		await scene.open(scene.clock.now());
		expect(await scene.disposition(id)).toBe("answered");
		expect(scene.world.acknowledged).toBe(1);
	});

	test("messages that a channel hands in at once are taken in its order", async () => {
		await start({ durable: true, channel: { window: 20 }, config: { gateway: { max_turns: 1 } } });
		const texts = Array.from({ length: 40 }, (_, n) => `m${n}`);
		const ids = texts.map((text) => scene.world.say({ chat: "ada", text }));
		await scene.clock.advance(0);
		expect(ids.map((id) => scene.inbox(id))).toEqual(texts.map((_, n) => n + 1));
		expect(scene.texts()).toEqual(texts.map((text) => `you said ${text}`));
	});

	test("the cursor is committed with the message, and a channel that reads by it loses and repeats nothing", async () => {
		await start({ durable: true, channel: { readFrom: "cursor" } });
		await scene.say("one");
		await scene.crash();
		await scene.say("two");
		expect(await scene.store.channelCursor({ scope: OPERATOR, platform: "telegram", account: "" })).toBe("2");
		expect(scene.texts()).toEqual(["you said one", "you said two"]);
	});

	test("what was only observed is shown with the next message, marked, not counted, and answered by nobody", async () => {
		await start({ config: { routing: { group_sessions_per_user: false } } });
		const place = { chat: "g", chatType: "group", user: "bob", source: { user_name: "Bob" } } as const;
		const seen = await scene.say("lunch at one", { ...place, addressed: false });
		expect([await scene.disposition(seen), scene.texts("g")]).toEqual(["observed", []]);
		const asked = await scene.say("when is lunch?", place);
		expect(scene.shown[0]?.history.map(({ content }) => content)).toEqual([
			"[Bob, not to you] lunch at one",
			"[Bob] when is lunch?",
		]);
		expect((await scene.sessions(asked))[0]?.messages).toBe(2);
	});
});

describe("batching", () => {
	const config = { gateway: { batch_ms: 350, batch_cap_ms: 1000 } };

	test("a burst within 350 ms is one turn with a row for each message; a later message is a turn of its own", async () => {
		await start({ config });
		const ids: string[] = [];
		for (const text of ["a", "b", "c"]) {
			ids.push(await scene.say(text));
			await scene.clock.advance(300);
		}
		expect(scene.texts()).toEqual([]);
		await scene.clock.advance(50);
		expect(scene.texts()).toEqual(["you said c"]);
		await scene.say("d");
		await scene.clock.advance(350);
		expect(scene.texts()).toEqual(["you said c", "you said d"]);
		for (const id of ids) expect(await scene.disposition(id)).toBe("merged");
		expect((await scene.rows(ids[0] as string)).map(({ content }) => content)).toEqual([
			"a",
			"b",
			"c",
			"you said c",
			"d",
			"you said d",
		]);
	});

	test("a burst that does not end is cut after 1000 ms", async () => {
		await start({ config });
		for (let n = 0; n < 12; n++) {
			await scene.say(`m${n}`);
			await scene.clock.advance(200);
		}
		await scene.clock.advance(SECOND);
		const turns = scene.shown.map(({ history }) => history.filter(({ role }) => role === "user").length);
		expect(turns.length).toBeGreaterThan(1);
		expect(turns.at(-1)).toBe(12);
		expect(turns[0]).toBeLessThanOrEqual(6);
	});

	test("messages of two people in one conversation are not one burst", async () => {
		await start({ config: { ...config, routing: { group_sessions_per_user: false } } });
		for (const user of ["bob", "carol"])
			await scene.say(`from ${user}`, { chat: "g", chatType: "group", user });
		await scene.clock.advance(SECOND);
		expect(scene.shown.length).toBe(2);
	});
});

describe("busy modes", () => {
	test("queue: what arrives during a turn waits and is answered after it, in order", async () => {
		await start({ script: slow });
		for (const text of ["one", "two", "three"]) await scene.say(text);
		await scene.say("/status");
		expect(scene.texts()[0]).toContain("2 waiting.");
		await scene.clock.advance(4 * MINUTE);
		expect(scene.texts().slice(1)).toEqual(["done with one", "done with two", "done with three"]);
	});

	test("interrupt: the running turn is stopped, what it wrote is kept, then the new message runs", async () => {
		await start({
			script: {
				rules: [{ when: "long", steps: [{ chunks: ["half", " whole"], chunk_delay_ms: MINUTE }] }],
				otherwise: [{ text: "you said {{input}}" }],
			},
		});
		await scene.say("/busy interrupt");
		const first = await scene.say("long");
		const second = await scene.say("never mind");
		await scene.clock.advance(SECOND);
		expect([await scene.disposition(first), await scene.disposition(second)]).toEqual([
			"stopped",
			"answered",
		]);
		expect((await scene.rows(first)).map(({ content }) => content)).toEqual([
			"long",
			"half",
			"The user stopped this turn.",
			"never mind",
			"you said never mind",
		]);
	});

	test("steer: a message joins the running turn at its next step, and both end together", async () => {
		await start({
			config: { gateway: { busy: "steer" } },
			script: {
				rules: [
					{
						when: "go",
						steps: [{ delay_ms: SECOND, tools: [{ name: "slow", input: { ms: 5000 } }] }, { text: "alone" }],
					},
				],
				otherwise: [{ text: "together: {{input}}" }],
			},
		});
		const first = await scene.say("go");
		await scene.clock.advance(2 * SECOND);
		const second = await scene.say("also this");
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["together: also this"]);
		const ends = [(await scene.item(first)).disposition, (await scene.item(second)).disposition];
		expect(ends[0]).toEqual(ends[1]);
		expect(ends[0]).toMatchObject({ kind: "merged" });
		expect((await scene.rows(first)).map(({ role }) => role)).toEqual([
			"user",
			"assistant",
			"tool",
			"user",
			"assistant",
		]);
	});

	test("steer: what arrives during the last step has a turn of its own", async () => {
		await start({ config: { gateway: { busy: "steer" } }, script: slow });
		await scene.say("one");
		await scene.say("two");
		await scene.clock.advance(3 * MINUTE);
		expect(scene.texts()).toEqual(["done with one", "done with two"]);
	});
});

describe("after downtime", () => {
	const config = { gateway: { batch_ms: 350 }, inbox: { max_age_minutes: 60 } };

	test("what was accepted and what the platform kept is one turn per conversation, with one line that Keryx was away", async () => {
		await start({ durable: true, config, script: { otherwise: [{ text: "answer to {{count}}" }] } });
		const first = scene.world.say({ chat: "ada", text: "one" });
		await scene.clock.advance(0);
		await scene.die();
		const at = scene.clock.now();
		const others = ["two", "three"].map((text, n) =>
			scene.world.say({ chat: "ada", text, sentAt: at + n * MINUTE }),
		);
		const bob = scene.world.say({ chat: "bob", text: "four", sentAt: at + MINUTE });
		await scene.open(at + 30 * MINUTE);
		await scene.clock.advance(SECOND);
		expect(scene.texts()).toEqual([
			expect.stringMatching(/^Keryx was offline since 10 Mar 2026, 12:00 \(UTC\)/),
			"answer to 3",
		]);
		expect(scene.texts("bob")).toEqual([expect.stringContaining("Keryx was offline since"), "answer to 1"]);
		for (const id of [first, ...others]) expect(await scene.disposition(id)).toBe("merged");
		expect(await scene.disposition(bob)).toBe("answered");
		await scene.say("five");
		await scene.clock.advance(SECOND);
		expect(scene.texts().length).toBe(3);
	});

	test("messages that are too old end as expired, whoever kept them, and are listed once", async () => {
		await start({ durable: true, config });
		const accepted = scene.world.say({ chat: "ada", text: "water the garden" });
		await scene.clock.advance(0);
		await scene.die();
		const at = scene.clock.now();
		await scene.open(at + 2 * HOUR);
		const kept = ["old news", "older news"].map((text) => scene.world.say({ chat: "bob", text, sentAt: at }));
		const fresh = scene.world.say({ chat: "bob", text: "fresh", sentAt: at + 110 * MINUTE });
		await scene.clock.advance(SECOND);
		expect(scene.texts().length).toBe(1);
		expect(scene.texts()[0]).toContain("water the garden");
		expect(scene.texts("bob").filter((text) => text.includes("too old")).length).toBe(1);
		expect(scene.texts("bob")[0]).toMatch(/2 of your messages became too old.*old news.*older news/s);
		for (const id of [accepted, ...kept]) expect(await scene.disposition(id)).toBe("expired");
		expect(await scene.disposition(fresh)).toBe("answered");
		await scene.crash();
		await scene.clock.advance(SECOND);
		expect(scene.texts().length).toBe(1);
		expect(await scene.why(accepted)).toContain("Keryx gave up on it: too old by the time Keryx was back.");
	});

	test("a message is as old as it was when it was sent, also where Keryx dies before its turn", async () => {
		await start({ durable: true, config });
		const at = scene.clock.now();
		await scene.die();
		await scene.open(at + 2 * HOUR);
		const old = scene.world.say({ chat: "bob", text: "old news", sentAt: at });
		await scene.clock.advance(0);
		expect(await scene.disposition(old)).toBe("none");
		await scene.crash();
		await scene.clock.advance(SECOND);
		expect(await scene.disposition(old)).toBe("expired");
		expect(scene.texts("bob").length).toBe(1);
	});
});

describe("fairness", () => {
	test("no more turns run at once than allowed, and those who wait go first come, first served", async () => {
		await start({
			script: slow,
			config: { gateway: { max_turns: 2 }, auth: { telegram: { allow_all: true } } },
		});
		// One who talks a lot does not keep the others waiting.
		for (let n = 0; n < 5; n++) scene.world.say({ chat: "talker", text: `m${n}` });
		for (const chat of ["a", "b", "c"]) scene.world.say({ chat, text: "hello" });
		await scene.clock.advance(0);
		expect(scene.shown.length).toBe(2);
		await scene.clock.advance(MINUTE);
		expect(scene.shown.length).toBe(4);
		await scene.clock.advance(10 * MINUTE);
		const order = scene.world.visible().map(({ chat }) => chat);
		expect(order.length).toBe(8);
		expect(Math.max(order.indexOf("a"), order.indexOf("b"), order.indexOf("c"))).toBeLessThan(5);
		expect(scene.texts("talker")).toEqual([0, 1, 2, 3, 4].map((n) => `done with m${n}`));
	});
});

test("drain: a stop lets what runs finish and its answer leave, accepts nothing more, and loses nothing", async () => {
	await start({
		durable: true,
		script: { otherwise: [{ delay_ms: 10 * SECOND, text: "done with {{input}}" }] },
	});
	await scene.say("one");
	const waiting = await scene.say("two");
	const stopped = scene.gateway.stop();
	const late = scene.world.say({ chat: "ada", text: "three" });
	await scene.clock.advance(11 * SECOND);
	await stopped;
	expect(scene.texts()).toEqual(["done with one"]);
	expect(await scene.disposition(waiting)).toBe("none");
	expect(scene.world.acknowledged).toBe(2);
	await scene.crash();
	await scene.clock.advance(MINUTE);
	expect(scene.texts()[0]).toBe("done with one");
	expect(await scene.disposition(waiting)).toMatch(/answered|merged/);
	expect(await scene.disposition(late)).toMatch(/answered|merged/);
});
