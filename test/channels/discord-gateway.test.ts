// The whole way on Discord: a real gateway between people there and an agent.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import type { DiscordOptions } from "../../src/channels/discord/index.ts";
import { type Channel, type Gateway, systemClock } from "../../src/gateway/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { configOf, confirmationsOn, dangerTool, puppet } from "../gateway/support.ts";
import {
	type ChannelRecord,
	createDiscordPeer,
	type DiscordPeer,
	type Person,
} from "../peers/discord/index.ts";
import { discordChannelOn } from "./discord-scene.ts";
import { gatewayOn, memoryStore, watching } from "./whole-gateway.ts";

let peer: DiscordPeer;
let ada: Person;
let bob: Person;
let plans: ChannelRecord;
let store: Store;
let gateway: Gateway;
let dangers: string[];
/** What the agent was shown. */
let shown: StepInput[];

beforeEach(async () => {
	peer = await createDiscordPeer();
	ada = peer.user("Ada");
	bob = peer.user("Bob");
	plans = peer.channel(peer.guild("Garden"), "plans", "what to grow");
	dangers = [];
	shown = [];
	store = await memoryStore();
});
afterEach(async () => {
	await gateway.stop();
	await store.close();
	await peer.close();
});

interface StartOptions extends Partial<DiscordOptions> {
	readonly streaming?: boolean;
	/** What the channel does otherwise. */
	readonly changed?: Partial<Channel>;
}

async function start(
	agent: StepAgent = puppet(),
	{ streaming = false, changed = {}, ...options }: StartOptions = {},
): Promise<void> {
	const auth = { discord: { allow: [{ id: ada.id, role: "owner" as const }, bob.id] } };
	const config = configOf({ auth, display: { streaming } });
	const confirmations = confirmationsOn(store, systemClock, config);
	gateway = gatewayOn({
		store,
		confirmations,
		agent: watching(agent, shown),
		tools: createTools([dangerTool(dangers)]),
		channels: [{ ...discordChannelOn(peer, options), ...changed }],
		config,
	});
	await gateway.start();
	confirmations.start();
	await expect.poll(() => peer.gateway.sessions.some(({ socket }) => socket !== null)).toBe(true);
}

/** Answers with what it was asked. */
const echo: StepAgent = {
	kind: "step",
	name: "echo",
	async *step({ history }) {
		const content = `answer to ${String(history.at(-1)?.content)}`;
		yield {
			type: "done",
			message: { content, toolCalls: [], finishReason: "stop" },
			usage: { ...NO_USAGE, provider: "test", model: "test" },
		};
	},
};

const texts = (channel: ChannelRecord) => peer.answers(channel).map(({ text }) => text);
const call = () => peer.mention(peer.bot);

describe("Discord through a real gateway", () => {
	test("a private message is answered, a message in a server only when the bot is named, with what was said before as context", async () => {
		await start(echo);
		const dm = peer.dm(ada);
		peer.say(ada, dm, "hello");
		await expect.poll(() => texts(dm)).toEqual(["answer to hello"]);
		const first = peer.say(bob, plans, "beans are green");
		const asked = peer.say(bob, plans, `${call()} what are they?`, { replyTo: first });
		await expect.poll(() => texts(plans)).toHaveLength(1);
		expect(peer.answers(plans)[0]).toMatchObject({ replyTo: asked, pings: [] });
		expect(JSON.stringify(shown.at(-1)?.history)).toContain("beans are green");
	});

	test("a question has buttons: another may not press them, the owner does, the call runs once and the buttons are gone", async () => {
		await start();
		peer.say(bob, plans, `${call()} call danger {"what":"it"}`);
		const question = () => peer.answers(plans).find(({ buttons }) => buttons.length > 0);
		await expect.poll(question).toBeDefined();
		const { id, buttons } = question() ?? { id: "", buttons: [] };
		const approve = buttons.flat().find(({ label }) => /approve/i.test(label))?.id ?? "";
		expect(await peer.press(peer.user("Eve"), plans, id, approve)).toMatch(/Only the person who was asked/);
		expect(dangers).toEqual([]);
		expect(await peer.press(ada, plans, id, approve)).toContain("Approved");
		await expect.poll(() => dangers).toEqual(["it"]);
		await expect.poll(question).toBeUndefined();
		expect(await peer.press(ada, plans, id, approve)).toMatch(/pressed already|Too late|nothing/i);
		expect(dangers).toEqual(["it"]);
	});

	test("slash commands are offered, answered at once, and carried out once", async () => {
		await start(echo);
		await expect.poll(() => peer.bot.commands.map(({ name }) => name)).toContain("status");
		expect(await peer.command(ada, plans, "status")).toBe("`/status`");
		await expect.poll(() => peer.answers(plans).filter(({ isCommand }) => !isCommand)).toHaveLength(1);
		expect(peer.answers(plans)[1]?.text).toMatch(/session/i);
	});

	test("a thread is a conversation of its own, in its channel", async () => {
		await start(echo);
		const thread = peer.thread(plans, "Beans");
		peer.say(bob, thread, `${call()} how deep?`);
		await expect.poll(() => texts(thread)).toEqual(["answer to \\[Bob] how deep?"]);
		expect(JSON.stringify(shown[0])).toContain("Beans");
		expect(texts(plans)).toEqual([]);
	});

	test("with thread_replies an answer opens a thread, where the conversation goes on", async () => {
		await start(echo, { threadReplies: true });
		const asked = peer.say(bob, plans, `${call()} how deep?`);
		await expect.poll(() => peer.channelById(asked)).toBeDefined();
		const thread = peer.channelById(asked) as ChannelRecord;
		await expect.poll(() => texts(thread)).toEqual(["answer to \\[Bob] how deep?"]);
		peer.say(bob, thread, `${call()} sure?`);
		await expect.poll(() => texts(thread)).toHaveLength(2);
		expect(shown[1]?.conversation).toBe(shown[0]?.conversation);
		expect(texts(plans)).toEqual([]);
	});

	test("an answer is shown while it is written, by changing one message, and ends with its exact text", async () => {
		let isEnough = false;
		const writer: StepAgent = {
			kind: "step",
			name: "writer",
			async *step() {
				let content = "";
				while (!isEnough) {
					yield { type: "text", delta: "word " };
					content += "word ";
					await new Promise((resolve) => systemClock.after(10, () => resolve(null)));
				}
				yield { type: "text", delta: "**end**" };
				yield {
					type: "done",
					message: { content: `${content}**end**`, toolCalls: [], finishReason: "stop" },
					usage: { ...NO_USAGE, provider: "test", model: "test" },
				};
			},
		};
		await start(writer, { streaming: true });
		const dm = peer.dm(ada);
		peer.say(ada, dm, "go on");
		await expect.poll(() => peer.answers(dm)[0]?.edits ?? 0).toBeGreaterThan(0);
		isEnough = true;
		await expect.poll(() => texts(dm)[0]).toMatch(/word \*\*end\*\*$/);
		expect(peer.answers(dm)).toHaveLength(1);
	});

	for (const way of ["resume", "backfill"] as const)
		test(`what was said while Keryx was down is answered in order, none twice, by ${way}`, async () => {
			await start(echo);
			const dm = peer.dm(ada);
			const thread = peer.thread(plans, "Beans");
			const chats = [dm, plans, thread];
			for (const chat of chats) peer.say(ada, chat, `${call()} before`);
			for (const chat of chats) await expect.poll(() => texts(chat)).toHaveLength(1);
			await gateway.stop();
			const asked = Array.from({ length: 12 }, (_, n) => `message ${n + 1}`);
			for (const text of asked) for (const chat of chats) peer.say(ada, chat, `${call()} ${text}`);
			if (way === "backfill") for (const session of [...peer.gateway.sessions]) peer.gateway.forget(session);
			const { resumed } = peer.gateway.counts;
			await start(echo);
			const all = (chat: ChannelRecord) =>
				texts(chat)
					.join("\n")
					.match(/message \d+/g) ?? [];
			for (const chat of chats) await expect.poll(() => all(chat)).toEqual(asked);
			expect(peer.gateway.counts.resumed - resumed).toBe(way === "resume" ? 1 : 0);
			expect(texts(dm).filter((text) => text.includes("before"))).toHaveLength(1);
		});

	test("a platform that is asked about a delivery hears when it was made, so that it knows whether it can be sent again", async () => {
		const asked: (number | undefined)[] = [];
		const before = systemClock.now();
		await start(echo, {
			changed: {
				send: () => Promise.resolve({ kind: "unknown", reason: "no answer" }),
				lookup: (_id, _destination, madeAt) => {
					asked.push(madeAt);
					return Promise.resolve({ kind: "unknown" });
				},
			},
		});
		peer.say(ada, peer.dm(ada), "hello");
		await expect.poll(() => asked).toHaveLength(1);
		expect(asked[0]).toBeGreaterThanOrEqual(before);
	});

	test("a channel that is deleted: what was meant for it ends, and others go on", async () => {
		let go = () => {};
		const written = new Promise<void>((resolve) => {
			go = resolve;
		});
		await start({
			...echo,
			async *step(input) {
				if (JSON.stringify(input.history.at(-1)).includes("slowly")) await written;
				yield* echo.step(input);
			},
		});
		peer.say(bob, plans, `${call()} slowly`);
		await expect.poll(() => shown).toHaveLength(1);
		peer.removeChannel(plans);
		go();
		const reply = () =>
			store.delivery({ scope: { kind: "operator" }, id: `${shown[0]?.turn}:1` }).catch(() => null);
		await expect.poll(async () => (await reply())?.state).toBe("dead");
		const dm = peer.dm(bob);
		peer.say(bob, dm, "here I am");
		await expect.poll(() => texts(dm)).toHaveLength(1);
	});
});
