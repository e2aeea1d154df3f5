// What is Telegram's own: topics, groups that move, mentions, what breaks between Telegram and us, and what only a human can mend.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseSource } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import type { Outgoing } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { type Clock, systemClock } from "../../src/time/index.ts";
import { FETCH } from "../peers/telegram/index.ts";
import { channelOn, type TelegramScene, telegramScene } from "./telegram-scene.ts";

let scene: TelegramScene;
let ada: User;
beforeEach(async () => {
	scene = await telegramScene();
	ada = scene.peer.user("Ada");
});
afterEach(() => scene.close());

/** What was handed in, when so many messages were. */
async function taken(count: number) {
	await scene.until(() => scene.host.taken.length >= count);
	return scene.host.taken;
}

const outgoing = (chatId: number, text: string, more: Partial<Outgoing> = {}): Outgoing => ({
	id: "t1:1",
	destination: { platform: "telegram", account: "", chatId: String(chatId) },
	body: { text, plain: text },
	plain: false,
	openBlob: nothing,
	...more,
});

async function* nothing(): AsyncGenerator<Uint8Array> {}

test("Telegram is asked to fetch nothing that a link in an answer leads to", async () => {
	const { peer, channel } = scene;
	await scene.start();
	const said = outgoing(ada.id, "see https://example.org/?q=what-the-agent-knows");
	peer.say(ada, peer.dm(ada), "hello");
	await taken(1);
	const sent = await channel.send(said);
	await channel.edit?.(sent.kind === "sent" ? sent.receipt : "", said);
	const calls = peer.calls.filter(({ method }) => /^(?:sendMessage|editMessageText)$/.test(method));
	expect(calls).toHaveLength(2);
	for (const { fields } of calls) expect(fields.link_preview_options).toEqual({ is_disabled: true });
});

describe("sources", () => {
	test("a private chat, a group, a topic of a forum, its General topic and a channel are each named as routing wants them", async () => {
		const { peer } = scene;
		await scene.start();
		const group = peer.group("Team");
		const forum = peer.forum("Plans");
		const news = peer.channel("News");
		const topic = peer.topic(forum, "Garden", ada);
		peer.say(ada, peer.dm(ada), "one");
		peer.say(ada, group, "two");
		peer.say(ada, forum, "three", { thread: topic });
		peer.say(ada, forum, "four");
		peer.say(ada, news, "five");
		const sources = (await taken(5))
			.toSorted((a, b) => String(a.content).localeCompare(String(b.content)))
			.map(({ content, source }) => {
				const { chatType, chatId, threadId, chatName, chatTopic, userId, userName } = parseSource(source);
				return [content, chatType, chatId, threadId, chatName, chatTopic, userId, userName];
			});
		const person = [String(ada.id), "Ada"];
		const plans = String(forum.chat.id);
		expect(sources).toEqual([
			["five", "channel", String(news.chat.id), undefined, "News", undefined, String(news.chat.id), "News"],
			["four", "group", plans, undefined, "Plans", undefined, ...person],
			["one", "dm", String(ada.id), undefined, undefined, undefined, ...person],
			["three", "group", plans, String(topic), "Plans", "Garden", ...person],
			["two", "group", String(group.chat.id), undefined, "Team", undefined, ...person],
		]);
	});

	test("a chain of replies in a group is no thread, and replying shows what is replied to", async () => {
		const { peer } = scene;
		await scene.start();
		const group = peer.supergroup("Team");
		const first = peer.say(ada, group, "the first of all");
		peer.say(peer.user("Bob"), group, "I agree", { thread: first, replyTo: first, quote: "first" });
		const [, reply] = await taken(2);
		expect(parseSource(reply?.source).threadId).toBeUndefined();
		expect(reply?.quoted).toEqual({
			platformMessage: String(first),
			text: "first",
			author: "Ada",
			own: false,
		});
	});

	test("an anonymous admin writes in the name of the group; other bots and forwarded words are said to be such", async () => {
		const { peer } = scene;
		await scene.start();
		const group = peer.supergroup("Team");
		const anonymous = { ...peer.user("Group"), is_bot: true };
		peer.say(anonymous, group, "hush", { more: { sender_chat: group.chat } });
		peer.say({ ...peer.user("Robot"), is_bot: true }, group, "beep");
		const origin = { type: "hidden_user", sender_user_name: "Eve", date: 1 };
		peer.say(ada, group, "look", { more: { forward_origin: origin } });
		const [hush, beep, look] = await taken(3);
		expect(hush?.source).toMatchObject({ user_id: String(group.chat.id), user_name: "Team" });
		expect(hush?.transport?.isBot).toBeUndefined();
		expect(beep?.transport?.isBot).toBe(true);
		expect(look?.content).toBe("[forwarded from Eve]\nlook");
	});

	test("a group that became a supergroup is said to have moved, and its messages follow in order", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const group = peer.group("Team");
		peer.say(ada, group, "before");
		const after = peer.migrate(group, ada);
		peer.say(ada, after, "after");
		await taken(2);
		const [from, to] = [String(group.chat.id), String(after.chat.id)];
		expect(host.moves.map(({ source, toChatId }) => [source.chat_id, toChatId])).toEqual([
			[from, to],
			[from, to],
		]);
		// What was meant for the old id goes to the new one.
		expect(await channel.send(outgoing(group.chat.id, "hello"))).toMatchObject({ kind: "sent" });
		expect(peer.answers(after).map(({ text }) => text)).toEqual(["hello"]);
	});

	test("a move that only a refusal tells of is reported, and the message arrives once", async () => {
		const { peer, host, channel } = scene;
		const group = peer.group("Team");
		const after = peer.migrate(group, ada);
		peer.reorder(() => []);
		await scene.start();
		expect(await channel.send(outgoing(group.chat.id, "hello"))).toMatchObject({ kind: "sent" });
		expect(host.moves).toMatchObject([{ toChatId: String(after.chat.id) }]);
		expect(peer.answers(after)).toHaveLength(1);
	});
});

describe("who is meant", () => {
	test("a mention, a reply, a command for this bot and a known command count; others do not", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const group = peer.supergroup("Team");
		const name = peer.bot.user.username;
		await channel.send(outgoing(group.chat.id, "I am here"));
		const own = peer.answers(group)[0]?.id ?? 0;
		const bob = peer.user("Bob");
		const said: [string, boolean, string?][] = [
			["just talking", false],
			[`@${name} what now`, true, "what now"],
			[`tell me, @${name}`, true],
			["@somebody_else hello", false],
			["/status", true],
			["/unknown_thing", false],
			[`/status@${name} please`, true, "/status please"],
		];
		for (const [text] of said) peer.say(bob, group, text);
		peer.say(bob, group, "/status@another_bot");
		peer.say(bob, group, "and this?", { replyTo: own });
		const all = await taken(said.length + 1);
		expect(all.map(({ content, mentioned }) => [content, mentioned])).toEqual([
			...said.map(([text, mentioned, shown]) => [shown ?? text, mentioned]),
			["and this?", true],
		]);
		expect(all.at(-1)?.quoted).toMatchObject({ text: "I am here", own: true });
	});

	test("all files of an album are meant where one of them names the bot, in whatever order they come", async () => {
		const { peer } = scene;
		const group = peer.group("Team");
		const file = { kind: "photo" as const, name: "p.jpg", bytes: new Uint8Array(10) };
		peer.album(ada, group, `@${peer.bot.user.username} look`, [file, file]);
		peer.album(ada, group, "look", [file, file]);
		peer.reorder((waiting) => waiting.toReversed());
		await scene.start();
		expect((await taken(4)).map(({ mentioned }) => mentioned)).toEqual([false, false, true, true]);
	});

	test("in a private chat everything is meant, and links behind words are kept", async () => {
		const { peer } = scene;
		await scene.start();
		peer.say(ada, peer.dm(ada), "see this page", {
			entities: [{ type: "text_link", offset: 4, length: 4, url: "https://example.org/" }],
		});
		expect((await taken(1))[0]).toMatchObject({
			content: "see [this](https://example.org/) page",
			mentioned: true,
		});
	});

	test("the menu of commands is registered for private chats and for groups", async () => {
		await scene.start();
		const { commands } = scene.peer.bot;
		await scene.until(() => commands.size === 2);
		expect([...commands.keys()]).toEqual(['{"type":"all_private_chats"}', '{"type":"all_group_chats"}']);
		expect(commands.get('{"type":"all_group_chats"}')).toContainEqual({
			command: "help",
			description: "lists the commands",
		});
	});
});

describe("more than messages", () => {
	test("a change that nobody sees comes as an edit with the same text, and a reaction says on whose message it is", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const id = peer.say(ada, dm, "/status");
		await taken(1);
		peer.touch(dm, id);
		const sent = await channel.send(outgoing(ada.id, "done"));
		peer.react(ada, dm, Number(sent.kind === "sent" && sent.receipt), "👍");
		peer.react(ada, dm, id, "👎");
		await scene.until(() => host.reactions.length === 2);
		expect(host.edits.map(({ content }) => content)).toEqual(["/status"]);
		expect(host.reactions.map(({ emoji, on }) => [emoji, on])).toEqual([
			["👍", "own"],
			["👎", "other"],
		]);
		expect(host.taken).toHaveLength(1);
	});

	test("blocked and removed: the chat is said to be gone, by the update and by the refusal", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		peer.say(ada, dm, "hello");
		await taken(1);
		peer.remove(dm, ada);
		await scene.until(() => host.goings.length === 1);
		expect(await channel.send(outgoing(ada.id, "are you there?"))).toMatchObject({ kind: "refused" });
		expect(host.goings.map(({ source, reason }) => [source.chat_id, source.chat_type, reason])).toEqual([
			[String(ada.id), "dm", "the user blocked the bot"],
			[String(ada.id), "dm", "bot was blocked by the user"],
		]);
	});

	test("places, stickers and polls are put into words; somebody who joins says nothing", async () => {
		const { peer } = scene;
		await scene.start();
		const group = peer.group("Team");
		peer.say(ada, group, "", { more: { new_chat_members: [ada] } });
		peer.say(ada, group, "", { more: { location: { latitude: 52.5, longitude: 13.4 } } });
		peer.say(ada, group, "", { more: { sticker: { emoji: "🎉" } } });
		expect((await taken(2)).map(({ content }) => content)).toEqual([
			"[location: 52.5, 13.4]",
			"[sticker 🎉]",
		]);
	});

	test("what a press says is shown without marks", async () => {
		const { peer, host, channel } = scene;
		host.pressed = () => Promise.resolve({ text: "Approved: `run_it` for **Eve**." });
		await scene.start();
		const dm = peer.dm(ada);
		peer.say(ada, dm, "hello");
		await taken(1);
		const buttons = [[{ id: "yes", label: "Yes" }]];
		const sent = await channel.send(
			outgoing(dm.chat.id, "May I?", { body: { text: "May I?", plain: "May I?", buttons } }),
		);
		expect(sent).toMatchObject({ kind: "sent" });
		const message = Number(sent.kind === "sent" ? sent.receipt : "");
		expect(await peer.press(ada, dm, message, "yes")).toBe("Approved: run_it for Eve.");
	});

	test("rich messages, checklists and other kinds are put into words, and are no commands", async () => {
		const { peer } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const group = peer.group("Team");
		const name = peer.bot.user.username ?? "";
		const rich = (text: unknown) => ({ rich_message: { blocks: [{ type: "paragraph", text }] } });
		const table = {
			type: "table",
			cells: [
				[{ text: "a" }, { text: [{ type: "bold", text: "b" }] }],
				[{}, { text: "c" }],
			],
		};
		const list = { type: "list", items: [{ label: "1.", blocks: [{ type: "paragraph", text: "one" }] }] };
		const later = { type: "of next year" };
		peer.say(ada, dm, "", { more: rich("/approve 1") });
		peer.say(ada, dm, "", { more: { rich_message: { blocks: [table, list, later] } } });
		peer.say(ada, group, "", { more: rich([{ type: "mention", text: "you", username: name }, " there?"]) });
		peer.say(ada, group, "", { more: rich(`@${name} in words alone`) });
		const tasks = [
			{ id: 1, text: "bread", completion_date: 5 },
			{ id: 2, text: "salt" },
		];
		peer.say(ada, dm, "", { more: { checklist: { title: "Shop", tasks } } });
		peer.say(ada, dm, "", { more: { story: { chat: { id: 7, type: "channel", title: "News" }, id: 1 } } });
		peer.say(ada, dm, "", { more: { paid_media: { star_count: 5, paid_media: [] } } });
		const byText = new Map((await taken(7)).map(({ content, mentioned }) => [content, mentioned]));
		expect(byText).toEqual(
			new Map([
				["[rich message]\n/approve 1", true],
				["[rich message]\na | b\n | c\n1. one\n[of next year]", true],
				["[rich message]\nyou there?", true],
				[`[rich message]\n@${name} in words alone`, false],
				["[checklist: Shop]\n[x] bread\n[ ] salt", true],
				["[story of News]", true],
				["[paid media, which bots cannot read]", true],
			]),
		);
	});

	test("a file that Telegram does not hand out, or that breaks off each time, becomes words", async () => {
		const { peer, host } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const file = { kind: "document" as const, name: "film.mkv", bytes: new Uint8Array(10) };
		peer.say(ada, dm, "watch", { file: { ...file, statedSize: 31 * 1024 * 1024 } });
		for (let n = 0; n < 16; n++) peer.next("lost", FETCH);
		peer.say(ada, dm, "and this", { file });
		const [large, broken] = await taken(2);
		expect(large?.content).toEqual([
			{ type: "text", text: "watch" },
			{
				type: "text",
				text: expect.stringMatching(/could not download the file "film.mkv": it has 31 MB.*20 MB/),
			},
		]);
		expect(broken?.content).toEqual([
			{ type: "text", text: "and this" },
			{ type: "text", text: expect.stringContaining("could not download") },
		]);
		expect(host.blobs.size).toBe(0);
	});

	test("a file that is slow to come holds up its own chat, and no other", async () => {
		const { peer, host } = scene;
		await scene.start();
		const held = peer.hold(FETCH);
		const bob = peer.user("Bob");
		const file = { kind: "photo" as const, name: "p.jpg", bytes: new Uint8Array(10) };
		peer.say(ada, peer.dm(ada), "a picture", { file });
		peer.say(ada, peer.dm(ada), "and words");
		peer.say(bob, peer.dm(bob), "hello");
		await held.arrived;
		await taken(1);
		expect(host.taken.map(({ content }) => content)).toEqual(["hello"]);
		expect(peer.confirmed()).toEqual([]);
		held.release();
		expect((await taken(3)).slice(1).map(({ content }) => content)).toEqual([
			[
				{ type: "text", text: "a picture" },
				{ type: "image", blob: "blob-1", mediaType: "image/jpeg", name: "photo.jpg" },
			],
			"and words",
		]);
	});
});

test("while a file is slow to come, what others write later is taken, and the line is known to be alive", async () => {
	const { peer, host, channel } = scene;
	await scene.start();
	const held = peer.hold(FETCH);
	const bob = peer.user("Bob");
	const file = { kind: "photo" as const, name: "p.jpg", bytes: new Uint8Array(10) };
	peer.say(ada, peer.dm(ada), "a picture", { file });
	await held.arrived;
	for (const text of ["one", "two"]) {
		const before = channel.health().aliveAt ?? 0;
		peer.say(bob, peer.dm(bob), text);
		await scene.until(() => host.taken.at(-1)?.content === text);
		expect(channel.health().aliveAt).toBeGreaterThanOrEqual(before);
	}
	expect(peer.confirmed()).toEqual([]);
	held.release();
	await taken(3);
	await scene.until(() => peer.confirmed().length === 3);
	expect(host.taken.map(({ content }) => (typeof content === "string" ? content : "picture"))).toEqual([
		"one",
		"two",
		"picture",
	]);
});

test("a change that is handed out before the message it changes is told after it", async () => {
	const { peer, host } = scene;
	const order: string[] = [];
	const { accept, edited } = { accept: host.accept.bind(host), edited: host.edited.bind(host) };
	host.accept = (inbound) => {
		order.push(String(inbound.content));
		return accept(inbound);
	};
	host.edited = (edit) => {
		order.push(`now: ${String(edit.content)}`);
		return edited(edit);
	};
	const dm = peer.dm(ada);
	const first = peer.say(ada, dm, "first");
	peer.edit(dm, first, "first, changed");
	peer.edit(dm, peer.say(ada, dm, "second"), "second, changed");
	peer.edit(dm, first, "first, again");
	peer.reorder(([said, changed, ...rest]) => [changed, said, ...rest] as never);
	await scene.start();
	await scene.until(() => peer.bot.queue.waiting.length === 0);
	expect(order).toEqual([
		"first",
		"now: first, changed",
		"second",
		"now: second, changed",
		"now: first, again",
	]);
});

describe("what only a human can mend", () => {
	test("a second poller is named as the cause for as long as it polls, and when it is gone the channel comes back", async () => {
		await scene.channel.stop();
		const { peer, host } = scene;
		let now = 0;
		const channel = channelOn(peer, { clock: { ...systemClock, monotonic: () => now } });
		await channel.start(host);
		await scene.until(() => channel.health().state === "connected");
		for (let n = 0; n < 3; n++) {
			await scene.until(() => peer.bot.queue.isPolled);
			await peer.bot.queue.poll({ timeout: 0 }).updates;
			await scene.until(() => channel.health().state === "needs_attention");
			expect(channel.health().detail).toContain("another program is reading this bot's messages");
			now += 3000;
			// An answer in between does not show that the other is gone.
			peer.say(ada, peer.dm(ada), `message ${n}`);
			await taken(n + 1);
			expect(channel.health().state).toBe("needs_attention");
		}
		now += 8000;
		peer.say(ada, peer.dm(ada), "alone");
		await scene.until(() => channel.health().state === "connected");
		expect(channel.health().detail).toBeUndefined();
		await channel.stop();
	});

	test("a webhook that is set is named as the cause", async () => {
		const { peer, channel, host } = scene;
		peer.bot.queue.pusher.set({ url: "http://127.0.0.1:1/hook", secret: "", mostAtOnce: 40 });
		await channel.start(host);
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("webhook");
	});

	test("a wrong token is needs_attention; the right one is used as soon as it is there", async () => {
		const { peer, host } = scene;
		let token = "1:wrong";
		const channel = channelOn(peer, { token: () => Promise.resolve(token) });
		await channel.start(host);
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health()).toMatchObject({ aliveAt: null, detail: expect.stringContaining("@BotFather") });
		token = peer.bot.token;
		await scene.until(() => channel.health().state === "connected");
		await channel.stop();
	});

	test("a token that a message finds refused is said at once, and nothing else is said until it is taken again", async () => {
		const { peer, channel, logged } = scene;
		let token = peer.bot.token;
		await channel.stop();
		const other = channelOn(peer, { token: () => Promise.resolve(token) }, logged as string[]);
		peer.say(ada, peer.dm(ada), "hello");
		await other.start(scene.host);
		await scene.until(() => peer.bot.commands.size === 2 && peer.bot.queue.isPolled);
		peer.revokeToken();
		expect(await other.send(outgoing(ada.id, "hello"))).toMatchObject({ kind: "retry" });
		const asked = peer.calls.length;
		await scene.until(() => {
			expect(other.health().state).toBe("needs_attention");
			return peer.calls.slice(asked).filter(({ status }) => status === 401).length > 2;
		});
		token = peer.bot.token;
		await scene.until(() => other.health().state === "connected");
		await other.stop();
		expect(logged.filter((line) => !line.includes("does not accept the bot's token"))).toEqual([]);
	});

	test("the token of another bot in the place of a refused one: what waits for that bot is taken, not confirmed unseen", async () => {
		await scene.close();
		let token = () => scene.peer.bot.token;
		scene = await telegramScene({ token: () => Promise.resolve(token()) });
		const { peer, host } = scene;
		ada = peer.user("Ada");
		const second = peer.addBot("Second");
		peer.say(ada, peer.dm(ada, second), "to the second");
		await scene.start();
		const accept = host.accept.bind(host);
		host.accept = (inbound) => {
			token = () => second.token;
			peer.revokeToken();
			host.accept = accept;
			return accept(inbound);
		};
		peer.say(ada, peer.dm(ada), "to the first");
		peer.say(ada, peer.dm(ada), "once more");
		await scene.until(() => host.taken.some(({ content }) => content === "to the second"));
	});

	test("a token that is revoked while nobody writes is found at the next poll", async () => {
		await scene.channel.stop();
		const channel = channelOn(scene.peer, { pollSeconds: 0 });
		await channel.start(scene.host);
		await scene.until(() => channel.health().state === "connected");
		scene.peer.revokeToken();
		const { token } = scene.peer.bot;
		scene.peer.bot.token = "elsewhere";
		await scene.until(() => channel.health().state === "needs_attention");
		scene.peer.bot.token = token;
		await channel.stop();
	});
});

describe("what breaks between Telegram and us", () => {
	test("ids that start anew after a week of silence: nothing is lost, nothing comes twice", async () => {
		await scene.close();
		scene = await telegramScene({ pollSeconds: 0 });
		const { peer, host } = scene;
		ada = peer.user("Ada");
		await scene.start();
		const dm = peer.dm(ada);
		peer.say(ada, dm, "before");
		await taken(1);
		await scene.until(() => peer.confirmed().length === 1);
		// A poll that was answered with nothing has confirmed everything; the one after it must not confirm again.
		const held = peer.hold("getUpdates");
		await held.arrived;
		peer.bot.queue.nextId = 500;
		peer.say(ada, dm, "after");
		held.release();
		await taken(2);
		await scene.channel.stop();
		peer.bot.queue.nextId = 40;
		peer.say(ada, dm, "much later");
		await scene.start();
		await taken(3);
		expect(host.taken.map(({ content }) => content)).toEqual(["before", "after", "much later"]);
	});

	test("what was committed before a crash and not confirmed is known by its cursor", async () => {
		const { peer, host } = scene;
		const dm = peer.dm(ada);
		peer.say(ada, dm, "one");
		peer.say(ada, dm, "two");
		const first = peer.bot.queue.waiting[0]?.update_id;
		const later = new TakingHost();
		later.cursor = () => Promise.resolve(`${peer.bot.user.id}:${first}`);
		await scene.channel.start(later);
		await scene.until(() => later.taken.length === 1);
		expect(later.taken.map(({ content }) => content)).toEqual(["two"]);
		expect(host.taken).toEqual([]);
	});

	test("the cursor does not move past a message that waits for its file, though later ones of other chats are committed", async () => {
		const { peer, host } = scene;
		await scene.start();
		const held = peer.hold(FETCH);
		const bob = peer.user("Bob");
		const file = { kind: "photo" as const, name: "p.jpg", bytes: new Uint8Array(10) };
		peer.say(bob, peer.dm(bob), "first");
		peer.say(ada, peer.dm(ada), "a picture", { file });
		peer.say(bob, peer.dm(bob), "hello");
		await held.arrived;
		await taken(2);
		// Another process begins with what this one has committed.
		const later = new TakingHost();
		const cursor = await host.cursor();
		later.cursor = () => Promise.resolve(cursor);
		await scene.channel.stop();
		held.release();
		const channel = channelOn(peer);
		await channel.start(later);
		await scene.until(() => later.taken.length === 2);
		await channel.stop();
		expect(later.taken.map(({ content }) => JSON.stringify(content))).toEqual(
			expect.arrayContaining([expect.stringContaining("a picture"), '"hello"']),
		);
	});

	test("updates of unknown kinds, of forms that nobody expects, and those that belong nowhere hold up nothing", async () => {
		const { peer, host, logged } = scene;
		const dm = peer.dm(ada);
		await scene.start();
		peer.say(ada, dm, "broken", { entities: [{ type: "text_mention", offset: 0, length: 6 } as never] });
		for (const title of ["Team", "Family"])
			peer.say(ada, peer.group(title), "broken too", {
				entities: [{ type: "text_mention", offset: 0, length: 6 } as never],
			});
		for (const odd of [{ message: { message_id: 7 } }, { callback_query: { id: "1", from: ada, data: "x" } }])
			peer.update(odd as never);
		const accept = host.accept.bind(host);
		host.accept = (inbound) =>
			inbound.content === "nowhere"
				? Promise.reject(new KeryxError("address.incomplete", "no chat"))
				: accept(inbound);
		host.moved = () => Promise.reject(new KeryxError("store.conflict", "both have a past"));
		peer.migrate(peer.group("Old"), ada);
		peer.say(ada, dm, "nowhere");
		peer.say(ada, dm, "fine");
		await scene.until(() => host.taken.some(({ content }) => content === "fine"));
		await scene.until(() => peer.bot.queue.waiting.length === 0);
		expect(host.taken.map(({ content }) => content)).toEqual(["broken", "fine"]);
		expect(logged.filter((line) => line.includes("cannot be processed"))).toHaveLength(5);
	});

	test("for as long as the store is in trouble nothing is passed over", async () => {
		const { peer, host } = scene;
		await scene.start();
		let tries = 0;
		const accept = host.accept.bind(host);
		host.accept = (inbound) =>
			++tries < 10 ? Promise.reject(new KeryxError("store.full", "the disk is full")) : accept(inbound);
		peer.say(ada, peer.dm(ada), "hello");
		await taken(1);
		expect([tries, host.taken.length]).toEqual([10, 1]);
	});

	test("an answer of 5xx leaves open what became of a message", async () => {
		const { peer, channel } = scene;
		peer.say(ada, peer.dm(ada), "hello");
		await scene.start();
		const sent = await channel.send(outgoing(ada.id, "one"));
		for (const status of [500, 502]) {
			peer.next({ status, description: "Internal Server Error" }, "sendMessage");
			expect(await channel.send(outgoing(ada.id, "two"))).toMatchObject({ kind: "unknown" });
		}
		expect(sent.kind).toBe("sent");
	});

	test("a connection that stays open and says nothing: the poll ends, the send is unknown, both by their deadlines", async () => {
		await scene.close();
		const deadlines: (() => void)[] = [];
		// Deadlines of calls pass when the test says so; pauses pass by themselves.
		const clock: Clock = {
			...systemClock,
			after: (ms, callback) => {
				if (ms < 10_000) return systemClock.after(ms, callback);
				deadlines.push(callback);
				return () => void deadlines.splice(deadlines.indexOf(callback), 1);
			},
		};
		scene = await telegramScene({ clock });
		const { proxy, channel, peer } = scene;
		ada = peer.user("Ada");
		peer.dm(ada).closed = null;
		await scene.start();
		await scene.until(() => peer.bot.queue.isPolled && deadlines.length === 1);
		await proxy.set("silent");
		const sending = channel.send(outgoing(ada.id, "hello"));
		await scene.until(() => deadlines.length === 2);
		// The request has left for certain once the proxy has it.
		await scene.until(() => proxy.swallowed() > 0);
		for (const pass of [...deadlines]) pass();
		expect(await sending).toMatchObject({ kind: "unknown" });
		await scene.until(() => channel.health().state === "degraded");
		await proxy.set("open");
		proxy.cut();
		for (const pass of [...deadlines]) pass();
		await scene.until(() => channel.health().state === "connected");
	});

	test("an upload that breaks off before its end is certainly not taken", async () => {
		const { peer, channel, proxy } = scene;
		peer.say(ada, peer.dm(ada), "hello");
		await scene.start();
		const attachments = [{ blob: "b", name: "b.bin", mediaType: "application/octet-stream", size: 2 }];
		const body = { text: "", plain: "", attachments };
		const unreadable = async function* () {
			yield new Uint8Array(1);
			throw new Error("the store is gone");
		};
		const cutOff = async function* () {
			for (;;) {
				yield new Uint8Array(1000);
				await turnOfTheLoop();
				proxy.cut();
			}
		};
		for (const openBlob of [unreadable, cutOff])
			expect(await channel.send(outgoing(ada.id, "", { body, openBlob }))).toMatchObject({ kind: "retry" });
		expect(peer.answers(peer.dm(ada))).toEqual([]);
	});

	test("a picture that is none for Telegram goes as a file; what takes several messages is refused before any is shown", async () => {
		const { peer, channel } = scene;
		peer.say(ada, peer.dm(ada), "hello");
		await scene.start();
		const file = (name: string, mediaType: string) => ({ blob: name, name, mediaType, size: 3 });
		const openBlob = async function* () {
			yield Uint8Array.of(1, 2, 3);
		};
		const send = (id: string, attachments: ReturnType<typeof file>[], text = "") =>
			channel.send(outgoing(ada.id, "", { id, body: { text, plain: text, attachments }, openBlob }));
		peer.next({ status: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS" }, "sendPhoto");
		expect(await send("a", [file("p.png", "image/png")])).toMatchObject({ kind: "sent" });
		const mixed = [file("p.png", "image/png"), file("d.txt", "text/plain")];
		expect(await send("b", mixed, "both")).toMatchObject({ kind: "refused" });
		expect(await send("c", mixed.slice(0, 1), "x".repeat(1025))).toMatchObject({ kind: "refused" });
		const seen = peer.answers(peer.dm(ada)).map((shown) => [shown.file?.kind, shown.file?.name, shown.text]);
		expect(seen).toEqual([["document", "p.png", ""]]);
	});

	test("a topic is answered in the topic, General without one, and in a group the question is shown", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const forum = peer.forum("Plans");
		const topic = peer.topic(forum, "Garden", ada);
		const id = peer.say(ada, forum, "hello", { thread: topic });
		const to = { platform: "telegram", account: "", chatId: String(forum.chat.id), replyTo: String(id) };
		await channel.typing?.({ ...to, threadId: String(topic) });
		await channel.send(outgoing(0, "<b>in</b>", { destination: { ...to, threadId: String(topic) } }));
		await channel.send(outgoing(0, "out", { destination: to }));
		expect(peer.answers(forum)).toMatchObject([
			{ text: "in", thread: topic, replyTo: id, entities: ["bold"] },
			{ text: "out", thread: undefined, replyTo: id },
		]);
		expect(peer.calls.some(({ method }) => method === "sendChatAction")).toBe(true);
	});
});
