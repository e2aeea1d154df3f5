// Every command through the real gateway: what it does, what it answers, what it refuses, and what stays true when Keryx dies
// between the effect and the answer.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { Agent } from "../../src/agents/index.ts";
import type { ModelOverride } from "../../src/domain/index.ts";
import { COMMANDS } from "../../src/gateway/commands/index.ts";
import type { Saying } from "../../src/testing/index.ts";
import { DAY, HOUR, MINUTE, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const slow = {
	rules: [{ when: "slow", steps: [{ text: "half of it", delay_ms: MINUTE }], repeat: true }],
	otherwise: [{ text: "you said {{input}}" }],
};
const last = (chat = "ada") => scene.texts(chat).at(-1) as string;
const shownTexts = () => scene.shown.at(-1)?.history.map(({ content }) => content);
/** Says something and answers what came last. */
const ask = async (text: string, saying: Partial<Saying> = {}) => {
	await scene.say(text, saying);
	return last(saying.chat);
};
const visible = async (id: string) =>
	(await scene.rows(id)).filter(({ hidden }) => !hidden).map(({ content }) => content);

/** From here on commands take effect and are not answered, as if Keryx died at that instant; the next life answers. */
function dieBeforeAnswering(): void {
	Object.assign(scene.store, { answerCommand: () => new Promise(() => {}) });
}

/** Answers by number, and says what it spent. */
function numbered(overrides: (ModelOverride | null)[] = []): (clock: unknown) => Agent {
	let n = 0;
	return () => ({
		kind: "step",
		name: "numbered",
		async *step({ override }) {
			overrides.push(override);
			yield {
				type: "done",
				message: { content: `answer ${++n}`, toolCalls: [], finishReason: "stop" },
				usage: {
					provider: "p",
					model: "m",
					inputTokens: 1000,
					outputTokens: 20,
					costMicros: n === 3 ? null : 1500,
					currency: "EUR",
				},
			};
		},
	});
}

describe("/sessions and /resume", () => {
	test("lists the newest with name, time, messages and reason, and its numbers are those of /resume", async () => {
		await start({ config: { session_reset: { mode: "idle", idle_minutes: 60, max_messages: 0 } } });
		expect(await ask("/sessions")).toContain("There are no earlier sessions.");
		const id = await scene.say("plant *tulips* in the yard");
		await scene.say("/new");
		await scene.clock.advance(2 * MINUTE);
		await scene.say("/title build trouble");
		await scene.say("why does it fail?");
		await scene.clock.advance(2 * HOUR);
		await scene.say("a third thing");
		expect((await ask("/sessions")).split("\n")).toEqual([
			"Earlier sessions, newest first:",
			"1. build trouble (2 h ago, 2 messages, ended after no activity)",
			"2. plant *tulips* in the yard (2 h ago, 2 messages, ended by /new)",
			"",
			"To go back to one, send /resume and its number. To search, send /sessions and some words.",
		]);
		expect(await ask("/resume")).toBe(await ask("/sessions"));
		expect(await ask("/resume 2")).toMatch(
			/^You are now in session "plant \*tulips\* in the yard", with 2 messages\. \/resume \d{8}_\d{6}_[0-9a-f]{8} goes back\.$/,
		);
		await scene.say("go on");
		expect(shownTexts()).toEqual([
			"plant *tulips* in the yard",
			"you said plant *tulips* in the yard",
			"go on",
		]);
		expect((await scene.sessions(id)).filter(({ endedAt }) => endedAt === null).length).toBe(1);
	});

	test("takes a title in any capitals, or an id, and goes back by the id that it gave", async () => {
		await start();
		const id = await scene.say("one");
		await scene.say("/title Garden");
		await scene.say("/new");
		const answer = await ask("/resume garden");
		expect(answer).toContain('You are now in session "Garden", with 2 messages.');
		const back = /\/resume (\S+) goes back/.exec(answer)?.[1] as string;
		expect(await ask(`/resume ${back}`)).toContain(`You are now in session ${back}, with 0 messages.`);
		const [first] = (await scene.sessions(id)).slice(-1);
		expect(await ask(`/resume ${first?.id}`)).toContain('"Garden"');
		expect(await ask(`/resume ${first?.id}`)).toBe('You are now in session "Garden", with 2 messages.');
	});

	test("ends a running turn first, and says so", async () => {
		await start({ script: slow });
		await scene.say("one");
		await scene.say("/new");
		const running = await scene.say("slow");
		expect(await ask("/resume 1")).toMatch(/^The current answer was stopped\. You are now in session/);
		await scene.clock.advance(5 * MINUTE);
		expect(await scene.disposition(running)).toBe("stopped");
		expect(last()).toMatch(/^The current answer was stopped/);
	});

	test("answers the same after a death between the effect and the answer", async () => {
		await start({ durable: true });
		const id = await scene.say("one");
		await scene.say("/title first");
		await scene.say("/new");
		await scene.say("two");
		dieBeforeAnswering();
		await scene.say("/resume 1");
		await scene.crash();
		expect(last()).toMatch(/^You are now in session "first", with 2 messages\. \/resume \S+ goes back/);
		expect(await visible(id)).toEqual(["one", "you said one"]);
		await scene.crash();
		expect(scene.texts().filter((text) => text.startsWith("You are now in session")).length).toBe(1);
	});

	test("searches titles and texts, one line for each session", async () => {
		await start();
		await scene.say("plant tulips");
		await scene.say("more tulips, please");
		await scene.say("/new");
		await scene.say("something else");
		await scene.say("/title tulip mania");
		const lines = (await ask("/sessions tulip*")).split("\n");
		expect(lines[0]).toBe("Found in 2 sessions, best matches first:");
		expect(lines.filter((line) => line.includes("/resume 2026"))).toHaveLength(1);
		expect(lines.filter((line) => line.includes("(this session)"))).toHaveLength(1);
		expect(lines).toHaveLength(3);
		expect(await ask("/sessions rhododendron")).toMatch(/^Nothing found for "rhododendron"\./);
		expect(await ask('/sessions "((" OR *')).toMatch(/^(Nothing found|Found in)/);
	});

	test("the person's other conversations are within reach: one is copied, and stays as it is", async () => {
		await start();
		const group = { chat: "g", chatType: "group", user: "ada" } as const;
		const there = await scene.say("from the group", group);
		await scene.say("from the dm");
		expect(await ask("/sessions")).toMatch(/1\. from the group \(.*, 2 messages, still open, in /);
		expect(await ask("/resume 1")).toContain("with 2 messages");
		await scene.say("go on");
		expect(shownTexts()).toEqual(["from the group", "you said from the group", "go on"]);
		expect(await visible(there)).toEqual(["from the group", "you said from the group"]);
	});

	test("I18: in a group, where others read along, nothing of the person's other conversations is in reach", async () => {
		await start();
		for (let n = 0; n < 20; n++) await scene.say("filler");
		const dm = await scene.say("a private word");
		const group = { chat: "g", chatType: "group", user: "ada" } as const;
		await scene.say("from the group", group);
		expect(await ask("/sessions", group)).toContain("no earlier session");
		expect(await ask("/sessions private", group)).toContain("Nothing found");
		const [{ id } = { id: "" }] = await scene.sessions(dm);
		expect(await ask(`/resume ${id}`, group)).toMatch(/^There is no session/);
		expect(await ask(`/why ${scene.inbox(dm)}`, group)).toMatch(/^No inbound message/);
	});

	test("resume_scope: conversation keeps to this one, in list, search and switch", async () => {
		await start({ config: { routing: { resume_scope: "conversation" } } });
		const dm = await scene.say("from the dm");
		const group = { chat: "g", chatType: "group", user: "ada" } as const;
		await scene.say("from the group", group);
		expect(await ask("/sessions", group)).toContain("no earlier session");
		expect(await ask("/sessions dm", group)).toContain("Nothing found");
		const [{ id } = { id: "" }] = await scene.sessions(dm);
		expect(await ask(`/resume ${id}`, group)).toContain("There is no session");
	});

	test("in a conversation that others share, nothing of the writer's other ones is shown", async () => {
		await start({ config: { routing: { group_sessions_per_user: false } } });
		for (let n = 0; n < 20; n++) await scene.say("filler");
		const dm = await scene.say("a private word");
		const group = { chat: "g", chatType: "group", user: "ada" } as const;
		await scene.say("hello all", group);
		expect(await ask("/sessions", group)).toContain("no earlier session");
		expect(await ask("/sessions private", group)).toContain("Nothing found");
		const [{ id } = { id: "" }] = await scene.sessions(dm);
		expect(await ask(`/resume ${id}`, group)).toMatch(/^There is no session/);
		expect(await ask(`/why ${scene.inbox(dm)}`, group)).toMatch(/^No inbound message/);
	});

	test("scenario 12: what is somebody else's is not found, in the words for what does not exist", async () => {
		await start();
		const mine = await scene.say("the vault code is heliotrope");
		await scene.say("/title vault");
		await scene.say("/new");
		const theirs = { chat: "bob" };
		await scene.say("hello", theirs);
		const ids = (await scene.sessions(mine)).map(({ id }) => id);
		const refusals = new Set<string>();
		for (const name of ["vault", ...ids, "1", "nothing", "20200101_000000_00000000"])
			refusals.add((await ask(`/resume ${name}`, theirs)).replace(name, "X"));
		expect([...refusals]).toEqual([
			'There is no session "X". /sessions lists the sessions you can go back to.',
		]);
		expect(await ask("/sessions", theirs)).toContain("no earlier session");
		expect(await ask("/sessions heliotrope", theirs)).toContain("Nothing found");
		expect(await ask("/sessions vault", theirs)).toContain("Nothing found");
		await scene.say("what do you know?", theirs);
		expect(JSON.stringify(scene.shown.at(-1))).not.toMatch(/heliotrope|vault/);
		expect(scene.texts("bob").join()).not.toContain("the vault code");
	});
});

describe("/title", () => {
	test("names the session, cleans the name, numbers a second one, and says how to undo it", async () => {
		await start();
		expect(await ask("/title")).toContain("There is no session to name yet");
		await scene.say("one");
		expect(await ask("/title")).toBe(
			"This session has no name yet. To name it, send /title and a few words.",
		);
		expect(await ask("/title  my\u202e  garden\u200b ")).toBe('This session is now named "my garden".');
		expect(await ask("/title")).toBe(
			'This session is named "my garden". To rename it, send /title and a new name.',
		);
		expect(await ask("/title yard")).toBe(
			'This session is now named "yard". It was "my garden" before; /title with that name undoes this.',
		);
		await scene.say("/new");
		expect(await ask("/title Yard")).toBe('This session is now named "Yard #2".');
		expect(await ask("/title \u200b")).toContain("at least one visible character");
	});

	test("acts beside a running turn, and answers the same after a death", async () => {
		await start({ durable: true, script: slow });
		const id = await scene.say("slow");
		await scene.say("/title one");
		dieBeforeAnswering();
		await scene.say("/title two");
		await scene.crash();
		expect(last()).toBe(
			'This session is now named "two". It was "one" before; /title with that name undoes this.',
		);
		await scene.clock.advance(5 * MINUTE);
		expect(await scene.disposition(id)).toBe("answered");
	});
});

describe("/undo, /redo and /retry", () => {
	test("/undo and /redo count messages, not calls, results and steps without words", async () => {
		const steps = [{ tools: [{ name: "effect" }] }, { text: "looking", tools: [{ name: "fail" }] }];
		await start({ script: { otherwise: [...steps, { text: "worked" }] } });
		const id = await scene.say("work");
		expect((await visible(id)).length).toBe(6);
		expect(await ask("/undo")).toContain("your last turn (3 messages).");
		expect(await ask("/redo")).toBe("Brought back 3 messages. /undo removes them again.");
	});

	test("/undo takes back turns and quotes what was written, /redo brings them back until the next message", async () => {
		await start();
		const id = await scene.say("one");
		await scene.say("two <b>");
		await scene.say("three");
		expect(await ask("/undo 2")).toBe(
			'Undone: your last 2 turns (4 messages). /redo brings it back, as long as you have not written anything new. You wrote: "two &lt;b&gt;"',
		);
		expect(await visible(id)).toEqual(["one", "you said one"]);
		expect(await ask("/redo")).toBe("Brought back 4 messages. /undo removes them again.");
		expect((await visible(id)).length).toBe(6);
		await scene.say("/undo");
		await scene.say("instead");
		expect(shownTexts()).toEqual(["one", "you said one", "two <b>", "you said two <b>", "instead"]);
		expect(await ask("/redo")).toContain("There is nothing to bring back");
		expect(await ask("/undo 99")).toContain("your last 3 turns (6 messages");
		expect(await ask("/undo")).toBe("There is nothing to undo.");
	});

	test("bad arguments change nothing", async () => {
		await start();
		const id = await scene.say("one");
		for (const [text, answer] of [
			["/undo all", "/undo takes a whole number of turns from 0 to 10000"],
			["/undo -1", "not &quot;-1&quot;"],
			["/undo --file", "not &quot;--file&quot;"],
			["/undo --files", "Checkpoints are off. Set checkpoints.enabled to true"],
		] as const)
			expect((await ask(text)).replaceAll('"', "&quot;"), text).toContain(answer);
		expect((await visible(id)).length).toBe(2);
	});

	test("a long text is quoted in short, on one line", async () => {
		await start();
		await scene.say(`first line\n${"word ".repeat(200)}`);
		const answer = await ask("/undo");
		expect(answer).toContain('"first line word word');
		expect(answer.endsWith('…"')).toBe(true);
		expect(answer.length).toBeLessThan(280);
	});

	test("/undo during a turn ends it and takes back its message; nothing of it is written later", async () => {
		await start({ script: slow });
		const id = await scene.say("one");
		await scene.say("slow");
		expect(await ask("/undo")).toMatch(
			/^The current answer was stopped\. Undone: your last turn \(1 message\)/,
		);
		await scene.clock.advance(5 * MINUTE);
		expect(await visible(id)).toEqual(["one", "you said one"]);
		expect(last()).toMatch(/^The current answer was stopped/);
	});

	test("/undo reaches into the base of a continued session, and stops at a branch", async () => {
		await start();
		await scene.say("one");
		await scene.say("two");
		await scene.say("/new");
		await scene.say("three");
		await scene.say("/continue");
		expect(await ask("/undo 2")).toMatch(/4 messages.*You wrote: "two"/);
		await scene.say("four");
		expect(shownTexts()).toEqual(["one", "you said one", "four"]);
		await scene.say("/branch");
		await scene.say("five");
		expect(await ask("/undo 5")).toContain("your last turn (2 messages");
	});

	test("/undo answers the same after a death, and happens once", async () => {
		await start({ durable: true });
		const id = await scene.say("one");
		await scene.say("two");
		dieBeforeAnswering();
		await scene.say("/undo");
		await scene.crash();
		expect(last()).toContain("Undone: your last turn (2 messages).");
		expect(last()).toContain('You wrote: "two"');
		expect(await visible(id)).toEqual(["one", "you said one"]);
	});

	test("/retry answers again: the answer before is hidden, the message and its disposition stay", async () => {
		await start({ agent: numbered() });
		await scene.say("/retry");
		expect(last()).toBe("There is no message to answer again.");
		const id = await scene.say("one");
		const turn = (await scene.item(id)).turn;
		await scene.say("/retry");
		expect(scene.texts().slice(1)).toEqual([
			"answer 1",
			"Answering again; the previous answer no longer counts.",
			"answer 2",
		]);
		expect(shownTexts()).toEqual(["one"]);
		expect(await visible(id)).toEqual(["one", "answer 2"]);
		expect(await scene.item(id)).toMatchObject({ turn, disposition: { kind: "answered", turn } });
		await scene.say("/retry");
		expect(await visible(id)).toEqual(["one", "answer 3"]);
	});

	test("/retry during a turn ends that and answers its message once; what waits comes after it", async () => {
		await start({ script: slow });
		const id = await scene.say("slow");
		const next = await scene.say("next");
		expect(await ask("/retry")).toBe("The current answer was stopped. Answering again.");
		await scene.clock.advance(5 * MINUTE);
		expect(scene.texts().slice(1)).toEqual(["half of it", "you said next"]);
		expect(await visible(id)).toEqual(["slow", "half of it", "next", "you said next"]);
		expect([await scene.disposition(id), await scene.disposition(next)]).toEqual(["stopped", "answered"]);
	});

	test("/retry after a death answers the command and goes on with the turn, once", async () => {
		await start({ durable: true, agent: numbered() });
		const id = await scene.say("one");
		dieBeforeAnswering();
		await scene.say("/retry");
		await scene.crash();
		await scene.clock.advance(MINUTE);
		expect(scene.texts().filter((text) => text.startsWith("Answering again"))).toHaveLength(1);
		expect(await visible(id)).toEqual(["one", last()]);
		expect(last()).toMatch(/^answer [23]$/);
	});
});

describe("/branch", () => {
	test("goes on with everything said so far, leaves the session before as it is, and names the way back", async () => {
		await start();
		expect(await ask("/branch")).toContain("There is no session to branch from");
		const id = await scene.say("one");
		const answer = await ask("/branch another way");
		expect(answer).toMatch(/^You are now on a branch that knows everything said so far\./);
		await scene.say("two");
		expect(shownTexts()).toEqual(["one", "you said one", "two"]);
		const [branch, trunk] = await scene.sessions(id);
		expect(branch).toMatchObject({ title: "another way", base: { session: trunk?.id, kind: "branch" } });
		expect(trunk).toMatchObject({ endReason: "user_switch", messages: 2 });
		await scene.say(/\/resume \S+/.exec(answer)?.[0] as string);
		expect(await visible(id)).toEqual(["one", "you said one"]);
	});
});

describe("/model", () => {
	test("shows, sets and clears; the agent is asked with it; it survives a restart and rotation, and /new clears it", async () => {
		const overrides: (ModelOverride | null)[] = [];
		await start({
			durable: true,
			agent: numbered(overrides),
			config: { session_reset: { mode: "idle", idle_minutes: 60, max_messages: 0 } },
		});
		expect(await ask("/model")).toContain("uses the configured model.");
		expect(await ask("/model ollama:llama3:8b")).toMatch(
			/^From now on, <code>ollama:llama3:8b<\/code> answers here, until \/new\. \/model default undoes this\./,
		);
		expect(last()).toContain("The current agent (offline) does not use a model");
		await scene.say("one");
		await scene.crash();
		await scene.say("two");
		await scene.clock.advance(2 * HOUR);
		await scene.say("three");
		expect(overrides).toEqual(Array(3).fill({ provider: "ollama", model: "llama3:8b" }));
		expect(await ask("/model")).toContain("uses <code>ollama:llama3:8b</code>.");
		expect(await ask("/model gpt-large")).toContain("/model ollama:llama3:8b undoes this.");
		await scene.say("four");
		await scene.say("/new");
		await scene.say("five");
		expect(overrides.slice(3)).toEqual([{ model: "gpt-large" }, null]);
		await scene.say("/model p:m");
		expect(await ask("/model default")).toContain("/model p:m undoes this.");
		await scene.say("six");
		expect(overrides.at(-1)).toBeNull();
	});

	test("what cannot be a model's name is refused with an example", async () => {
		await start();
		for (const name of ["two words", ":x", "a:", "<b>", `p:${"x".repeat(300)}`])
			expect(await ask(`/model ${name}`), name).toContain("For example: /model ");
		expect(await ask("/model")).toContain("uses the configured model.");
	});
});

describe("what is told", () => {
	test("/usage adds up the session and today, with what has no known price", async () => {
		await start({ durable: true, agent: numbered() });
		expect(await ask("/usage")).toBe("No session is open.\nThis conversation today (UTC): no model calls.");
		await scene.say("one");
		await scene.crash(DAY);
		await scene.say("two");
		await scene.say("/new");
		await scene.say("three");
		expect(await ask("/usage")).toBe(
			[
				"This session: 1 model call, 1,000 tokens in, 20 out, price unknown.",
				"This conversation today (UTC): 2 model calls, 2,000 tokens in, 40 out, cost 0.0015 EUR, plus 1 with no known price.",
			].join("\n"),
		);
		expect(await ask("/usage", { chat: "bob" })).toContain("no model calls");
	});

	test("/insights is for owners, and counts messages, turns, failed tools and boundaries of the days asked for", async () => {
		await start({
			durable: true,
			config: { session_reset: { mode: "idle", idle_minutes: 60, max_messages: 0 } },
			script: {
				rules: [
					{
						when: "work",
						steps: [{ tools: [{ name: "fail" }, { name: "effect" }] }, { text: "worked" }],
						repeat: true,
					},
					{ when: "break", steps: [{ fail: { kind: "provider_down" } }], repeat: true },
				],
				otherwise: [{ text: "you said {{input}}" }],
			},
		});
		await scene.say("long ago");
		await scene.crash(20 * DAY);
		await scene.say("work");
		await scene.say("break", { chat: "bob" });
		await scene.say("/new");
		expect(await ask("/insights")).toBe(
			[
				"The last 7 days, in 2 active conversations:",
				"Messages: 6",
				"Turns: 2 (completed 1, failed 1)",
				"Tool calls: 2, 50% failed",
				"Sessions ended: 2 (idle 1, user new 1)",
			].join("\n"),
		);
		expect(await ask("/insights 30")).toContain("Turns: 3 (completed 2, failed 1)");
		for (const days of ["0", "soon", "99999"])
			expect(await ask(`/insights ${days}`)).toContain("For example: /insights 7");
		expect(await ask("/insights", { chat: "bob" })).toBe(
			"You cannot use /insights here. /help lists the commands you can use.",
		);
	});

	test("/insights counts every conversation, but not one of commands alone", async () => {
		await start({
			config: { auth: { telegram: { allow: [{ id: "ada", role: "owner" }], allow_all: true } } },
		});
		for (let n = 0; n < 205; n++) scene.world.say({ chat: `c${n}`, text: "hello" });
		await scene.clock.advance(0);
		expect(await ask("/insights")).toContain("in 205 active conversations:\nMessages: 410\nTurns: 205 (");
	});

	test("/whoami says name, ids, principal, role and rights", async () => {
		await start({
			config: { auth: { telegram: { allow: [{ id: "ada", role: "owner" }], allow_all: true } } },
		});
		const id = await scene.say("/whoami", { source: { user_name: "Ada *A*", user_id_alt: "a-2" } });
		const { principal } = await scene.item(id);
		expect(last().split("\n")).toEqual([
			"You are Ada *A* on telegram.",
			expect.stringMatching(/^Your ids there: ada, a-2$/),
			`Your id in Keryx: ${principal}`,
			"Your role here is owner. You can use every command.",
		]);
		const guest = await ask("/whoami", { chat: "somebody" });
		expect(guest).toContain("Your role here is guest. You can use /status, /usage, /why, /whoami, /help.");
	});

	test("/sethome makes this chat the home channel at once, over the configuration, and through a restart", async () => {
		const home_channels = { telegram: { chat_id: "old", name: "Old room" } };
		await start({ config: { home_channels }, durable: true });
		expect(await ask("/sethome", { source: { user_name: "Ada's room" } })).toBe(
			"This is now the home channel for telegram. /sethome off goes back to the one in config.yaml.",
		);
		await scene.say("one");
		expect(scene.shown.at(-1)?.system).toContain("Ada's room");
		await scene.crash();
		await scene.say("/new");
		await scene.say("two");
		expect(scene.shown.at(-1)?.system).toContain("Ada's room");
		expect(scene.shown.at(-1)?.system).not.toContain("Old room");
		expect(await ask("/sethome", { chat: "bob" })).toBe(
			"You cannot use /sethome here. /help lists the commands you can use.",
		);
		expect(await ask("/sethome off")).toContain("is the one in config.yaml again");
		await scene.say("/new");
		await scene.say("three");
		expect(scene.shown.at(-1)?.system).toContain("Old room");
	});

	test("/why counts messages back, or takes a message's own number; commands and others' messages are none", async () => {
		await start();
		const [one, two] = [await scene.say("one"), await scene.say("two")];
		await scene.say("/status");
		const told = async (args: string, saying = {}) =>
			/^Message (\d+):/.exec(await ask(`/why${args}`, saying))?.[1];
		expect(await told("")).toBe(String(scene.inbox(two)));
		expect(await told(" 1")).toBe(String(scene.inbox(two)));
		expect(await told(" 2")).toBe(String(scene.inbox(one)));
		expect(await ask("/why 3")).toBe("This conversation has fewer than 3 messages.");
		expect(await ask("/why 0")).toContain("takes a message's number");
		expect(await ask("/why", { chat: "bob" })).toBe("There is no answered message in this conversation yet.");
		for (let n = 0; n < 25; n++) await scene.say("filler");
		const far = await scene.say("far");
		expect(scene.inbox(far)).toBeGreaterThan(20);
		await scene.say("later");
		expect(await told(` ${scene.inbox(far)}`)).toBe(String(scene.inbox(far)));
		expect(await ask(`/why ${scene.inbox(far)}`, { chat: "bob" })).toBe(
			`No inbound message ${scene.inbox(far)}. Check the id; things you have no access to are reported as not found, too.`,
		);
	});

	test("/why tells of a message that was dropped", async () => {
		await start({ script: slow });
		await scene.say("slow");
		await scene.say("unwanted");
		await scene.say("/stop all");
		expect(await ask("/why")).toContain("Result: the user dropped it.");
	});

	test("/help groups what one may use, a line each that fits a phone", async () => {
		await start({
			config: { auth: { telegram: { allow: [{ id: "ada", role: "owner" }], allow_all: true } } },
		});
		const lines = (await ask("/help"))
			.replace(/<[^>]+>/g, "")
			.replace(/&lt;|&gt;/g, "_")
			.split("\n");
		expect(lines.filter((line) => line !== "" && !line.startsWith("/"))).toEqual([
			"Conversation",
			"Answers",
			"Files",
			"Information",
		]);
		expect(lines.filter((line) => line.startsWith("/")).map((line) => /^\/(\w+)/.exec(line)?.[1])).toEqual(
			COMMANDS.map(({ name }) => name),
		);
		expect(lines.filter((line) => line.length > 50)).toEqual([]);
		const guest = (await ask("/help", { chat: "x" })).replace(/<[^>]+>/g, "");
		expect([...guest.matchAll(/^\/(\w+)/gm)].map(([, name]) => name)).toEqual([
			"status",
			"usage",
			"why",
			"whoami",
			"help",
		]);
	});

	test("a name that nothing stands behind is answered with the nearest", async () => {
		await start();
		expect(await ask("/aprove")).toContain("Did you mean /approve?");
		expect(await ask("/sesions")).toContain("Did you mean /sessions?");
		expect(await ask("/constructor")).toContain("There is no command /constructor.");
	});

	test("what only tells is told beside a running turn, and leaves it alone", async () => {
		await start({ script: slow });
		const id = await scene.say("slow");
		for (const command of [
			"status",
			"sessions",
			"usage",
			"whoami",
			"why",
			"help",
			"insights",
			"model",
			"busy",
			"verbose",
			"title",
			"sethome",
			"diff",
		]) {
			await scene.say(`/${command}`);
			expect(last(), command).not.toContain("answer was stopped");
		}
		await scene.clock.advance(5 * MINUTE);
		expect(await scene.disposition(id)).toBe("answered");
	});

	test("a guest may change nothing", async () => {
		await start({ config: { auth: { telegram: { allow: [], allow_all: true } } } });
		const id = await scene.say("one");
		for (const command of COMMANDS) {
			if (command.roles?.includes("guest")) continue;
			expect(await ask(`/${command.name}`)).toBe(
				`You cannot use /${command.name} here. /help lists the commands you can use.`,
			);
		}
		expect((await visible(id)).length).toBe(2);
		expect((await scene.sessions(id)).length).toBe(1);
	});

	test("an answer that was not given before a death is given after it, as it was", async () => {
		await start({ durable: true, script: slow });
		await scene.say("slow");
		dieBeforeAnswering();
		await scene.say("/status");
		await scene.say("/undo nonsense");
		await scene.crash();
		expect(scene.texts()).toEqual([
			expect.stringContaining("Keryx is working on an answer"),
			expect.stringContaining("/undo takes a whole number"),
		]);
	});
});

describe("/verbose", () => {
	const tools = {
		otherwise: [
			{ text: "looking", tools: [{ name: "slow", input: { ms: 5000, about: "`x`" } }] },
			{ tools: [{ name: "slow", input: { ms: 6000 } }] },
			{ text: "found" },
		],
	};
	const streaming = (display = {}) => ({ display: { streaming: true, ...display } });

	test("by default the current call is shown; all lists each with its arguments; off shows none", async () => {
		await start({ script: tools, config: streaming() });
		await scene.say("go");
		await scene.clock.advance(6 * SECOND);
		expect(last()).toBe("looking\n\n… slow");
		await scene.clock.advance(MINUTE);
		expect(last()).toBe("found");

		expect(await ask("/verbose")).toContain("you see the current call (new)");
		expect(await ask("/verbose all")).toBe(
			"From now on, you see every call with its arguments while tools run. /verbose default undoes this.",
		);
		await scene.say("go");
		await scene.clock.advance(6 * SECOND);
		expect(last()).toBe(
			`looking\n\n… <code>slow {"ms":5000,"about":"'x'"}</code>\n… <code>slow {"ms":6000}</code>`,
		);
		await scene.clock.advance(MINUTE);

		expect(await ask("/verbose off")).toContain("you see nothing while tools run. /verbose all undoes this.");
		await scene.say("go");
		await scene.clock.advance(6 * SECOND);
		expect(last()).toBe("looking");
	});

	test("takes hold in the answer that runs, belongs to the conversation, and survives a restart", async () => {
		await start({ durable: true, script: tools, config: streaming({ tool_progress: "off" }) });
		await scene.say("go");
		await scene.clock.advance(2 * SECOND);
		await scene.say("/verbose new");
		await scene.clock.advance(4 * SECOND);
		expect(scene.texts()[0]).toBe("looking\n\n… slow");
		await scene.clock.advance(MINUTE);
		await scene.crash();
		expect(await ask("/verbose")).toContain("(new)");
		expect(await ask("/verbose", { chat: "bob" })).toContain("(off)");
		expect(await ask("/verbose default")).toContain(
			"you see nothing while tools run. /verbose new undoes this.",
		);
		expect(await ask("/verbose loud")).toContain("/verbose takes all, new, off or default");
	});

	test("where nothing is streamed it says so", async () => {
		await start();
		expect(await ask("/verbose all")).toContain("(setting: display.streaming)");
	});
});

describe("/stop", () => {
	test("all drops what waited before it, and nothing that follows", async () => {
		await start({ script: slow });
		const running = await scene.say("slow");
		const waiting = [await scene.say("one"), await scene.say("two")];
		scene.world.say({ chat: "ada", text: "/stop all" });
		const after = scene.world.say({ chat: "ada", text: "three" });
		await scene.clock.advance(MINUTE);
		expect(scene.texts()[0]).toBe("Stopped. The text so far is kept. Dropped 2 waiting messages.");
		const ends = await Promise.all([running, ...waiting, after].map((id) => scene.disposition(id)));
		expect(ends).toEqual(["stopped", "dropped_by_user", "dropped_by_user", "answered"]);
	});

	test("all drops and answers once over a death between the two", async () => {
		await start({ durable: true, script: slow });
		const running = await scene.say("slow");
		const waiting = await scene.say("one");
		dieBeforeAnswering();
		await scene.say("/stop all");
		await scene.crash();
		await scene.clock.advance(5 * MINUTE);
		expect(scene.texts()).toEqual(["Stopped. The text so far is kept. Dropped 1 waiting message."]);
		expect([await scene.disposition(running), await scene.disposition(waiting)]).toEqual([
			"stopped",
			"dropped_by_user",
		]);
	});
});

test("commands sent in one breath are carried out and answered one after another", async () => {
	await start({ channel: { window: 10 } });
	await scene.say("hello");
	for (const text of ["/title first", "/new", "/sessions", "/resume 1", "/title", "/undo", "/status"])
		scene.world.say({ chat: "ada", text });
	await scene.clock.advance(0);
	expect(scene.texts().slice(1)).toEqual([
		'This session is now named "first".',
		expect.stringContaining("Started a new session."),
		expect.stringContaining("1. first ("),
		expect.stringContaining('You are now in session "first", with 2 messages.'),
		expect.stringContaining('This session is named "first".'),
		expect.stringContaining("Undone: your last turn"),
		expect.stringContaining("0 messages, no limit."),
	]);
});

test("docs/reference/commands.md has every command with an example", () => {
	const text = readFileSync(new URL("../../docs/reference/commands.md", import.meta.url), "utf8");
	for (const { name } of COMMANDS) {
		expect(text).toMatch(new RegExp(`^### \`/${name}\\b`, "m"));
		if (name !== "help") expect(text).toMatch(new RegExp(`^you:   /${name}\\b`, "m"));
	}
	const headings = [...text.matchAll(/^### `\/(\w+)/gm)].map(([, name]) => name);
	expect(headings).toEqual(COMMANDS.map(({ name }) => name));
});
