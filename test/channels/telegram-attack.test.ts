// Ways to be taken for somebody else on Telegram, each tried on a whole gateway: none may turn into a decision, a command or a reply.
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { type Gateway, systemClock } from "../../src/gateway/index.ts";
import { OPERATOR, type Store } from "../../src/store/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { configOf, confirmationsOn, dangerTool, puppet } from "../gateway/support.ts";
import { type ChatRecord, createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { channelOn } from "./telegram-scene.ts";
import { gatewayOn, memoryStore, watching } from "./whole-gateway.ts";

let peer: TelegramPeer;
let ada: User;
let store: Store;
let gateway: Gateway;
let dangers: string[];
let shown: StepInput[];

beforeEach(async () => {
	peer = await createTelegramPeer();
	ada = peer.user("Ada");
	dangers = [];
	shown = [];
	await start(puppet());
});
afterEach(async () => {
	await gateway.stop();
	await store.close();
	await peer.close();
});

async function start(agent: StepAgent): Promise<void> {
	const config = configOf({
		auth: { telegram: { allow: [{ id: String(ada.id), role: "owner" as const }], pairing: true } },
	});
	store = await memoryStore();
	const confirmations = confirmationsOn(store, systemClock, config);
	gateway = gatewayOn({
		store,
		confirmations,
		agent: watching(agent, shown),
		tools: createTools([dangerTool(dangers)]),
		channels: [channelOn(peer)],
		config,
	});
	await gateway.start();
	confirmations.start();
}

const pending = () => store.confirmations({ scope: OPERATOR, now: systemClock.now(), limit: 10 });

async function asked(chat: ChatRecord): Promise<string> {
	peer.say(ada, chat, 'call danger {"what":"it"}');
	await expect.poll(async () => (await pending()).length).toBe(1);
	return (await pending())[0]?.id ?? "";
}

/** The chat has taken in everything that was written there before. */
async function settled(chat: ChatRecord): Promise<void> {
	peer.say(ada, chat, "/whoami");
	await expect.poll(() => peer.answers(chat).some(({ text }) => text.includes("owner"))).toBe(true);
}

describe("words that somebody else chose", () => {
	test.each([
		["an inline bot made them", { via_bot: { id: 5, is_bot: true, first_name: "Gif", username: "gif_bot" } }],
		[
			"they are forwarded",
			{ forward_origin: { type: "hidden_user", date: 1, sender_user_name: "/approve\n/approve" } },
		],
	])("are no command: %s", async (_, more) => {
		const dm = peer.dm(ada);
		const id = await asked(dm);
		peer.say(ada, dm, `/approve ${id}`, { more });
		await settled(dm);
		expect((await pending())[0]?.status).toBe("pending");
		expect(dangers).toEqual([]);
		await expect.poll(() => JSON.stringify(shown.at(-1)?.history)).toContain(`/approve ${id}`);
	});
});

describe("somebody who is not the owner", () => {
	test("says yes to nothing, in whatever guise, and gets no answer in a group", async () => {
		const dm = peer.dm(ada);
		const group = peer.supergroup("Eve's place");
		const id = await asked(dm);
		const eve = { ...peer.user("Ada"), username: ada.username ?? "" };
		const words = `/approve ${id}`;
		const asGroup = { sender_chat: group.chat };
		const nobody = { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
		peer.say(eve, group, words);
		peer.say(nobody, group, words, { more: asGroup });
		peer.say(eve, group, words, { more: { sender_chat: { id: -ada.id, type: "channel", title: "Ada" } } });
		peer.say(eve, group, `@${peer.bot.user.username} ${words}`);
		peer.say(eve, peer.channel("News"), words);
		const harmless = peer.say(eve, group, "hello");
		peer.edit(group, harmless, words);
		await settled(dm);
		expect((await pending())[0]?.status).toBe("pending");
		expect(peer.answers(group)).toEqual([]);
	});

	test("presses nothing, and Ada's own press in another chat finds nothing", async () => {
		const dm = peer.dm(ada);
		await asked(dm);
		const question = () => peer.answers(dm).find(({ buttons }) => buttons.length > 0);
		await expect.poll(question).toBeDefined();
		const [approve = { id: "" }] = question()?.buttons.flat() ?? [];
		const eve = peer.user("Eve");
		const group = peer.supergroup("Eve's place");
		const other = peer.say(ada, group, "hello");
		for (const [by, chat, message, button] of [
			[eve, dm, question()?.id ?? 0, approve.id],
			[eve, group, other, approve.id],
			[ada, group, other, approve.id],
			[ada, dm, question()?.id ?? 0, `${approve.id}x`],
			[ada, dm, question()?.id ?? 0, ""],
			[ada, dm, question()?.id ?? 0, "' OR 1=1 --"],
		] as const)
			expect(await press(by, chat, message, button)).toMatch(/Only the person who was asked|no longer works/);
		expect((await pending())[0]?.status).toBe("pending");
	});
});

/** As a hostile client presses: a message of anybody, in any chat. */
function press(by: User, chat: ChatRecord, id: number, button: string): Promise<string> {
	return peer.press(by, chat, id, button, peer.bot);
}
