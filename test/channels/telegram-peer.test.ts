// The peer is faithful first: grammY's own bot runs against it and finds what it finds on Telegram.
import { Bot, GrammyError, InputFile } from "grammy";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";

let peer: TelegramPeer;
const bots: Bot[] = [];
beforeEach(async () => {
	peer = await createTelegramPeer();
});
afterEach(async () => {
	for (const bot of bots.splice(0)) await bot.stop().catch(() => {});
	await peer.close();
});

function botOn(token = peer.bot.token): Bot {
	const bot = new Bot(token, { client: { apiRoot: peer.apiRoot } });
	bots.push(bot);
	return bot;
}

/** Starts it; the promise rejects as bot.start does. */
async function running(bot: Bot): Promise<{ readonly ended: Promise<unknown> }> {
	let ended: Promise<unknown> = Promise.resolve();
	await new Promise<void>((resolve) => {
		ended = bot
			.start({ onStart: () => resolve(), timeout: 5 })
			.then(() => null)
			.catch((error: unknown) => error);
	});
	return { ended };
}

async function refusalOf(call: Promise<unknown>): Promise<GrammyError> {
	const error = await call.then(
		() => null,
		(thrown: unknown) => thrown,
	);
	expect(error).toBeInstanceOf(GrammyError);
	return error as GrammyError;
}

describe("grammY's bot on the peer", () => {
	test("hears commands with their mention, answers in place, and confirms as it goes", async () => {
		const bot = botOn();
		bot.command("start", (ctx) => ctx.reply(`hello ${ctx.from?.first_name}: ${ctx.match}`));
		bot.on("message:text", (ctx) =>
			ctx.reply("<b>you said</b> &lt;it&gt;", {
				parse_mode: "HTML",
				reply_parameters: { message_id: ctx.msg.message_id },
			}),
		);
		await running(bot);
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		peer.say(ada, dm, `/start@${peer.bot.user.username} now`);
		const id = peer.say(ada, dm, "anything");
		await expect.poll(() => peer.answers(dm)).toHaveLength(2);
		expect(peer.answers(dm)).toMatchObject([
			{ text: "hello Ada: now", replyTo: undefined },
			{ text: "you said <it>", replyTo: id, entities: ["bold"] },
		]);
		await expect.poll(() => peer.confirmed()).toHaveLength(2);
	});

	test("is told of a pressed button, and what it answers is shown", async () => {
		const bot = botOn();
		bot.on("message", (ctx) =>
			ctx.reply("sure?", { reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "y" }]] } }),
		);
		bot.on("callback_query:data", (ctx) =>
			ctx.answerCallbackQuery({ text: `took ${ctx.callbackQuery.data}` }),
		);
		await running(bot);
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		peer.say(ada, dm, "do it");
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
		const [question] = peer.answers(dm);
		expect(question?.buttons).toEqual([[{ id: "y", label: "Yes" }]]);
		expect(await peer.press(ada, dm, question?.id ?? 0, "y")).toBe("took y");
	});

	test("files come and go byte for byte, alone and as albums", async () => {
		const bot = botOn();
		const bytes = Uint8Array.from({ length: 5000 }, (_, n) => (n * 7) % 256);
		const fetched: Uint8Array[] = [];
		bot.on("message:document", async (ctx) => {
			const { file_path: path } = await ctx.getFile();
			const answer = await fetch(`${peer.apiRoot}/file/bot${peer.bot.token}/${path}`);
			fetched.push(new Uint8Array(await answer.arrayBuffer()));
			await ctx.replyWithDocument(new InputFile(bytes, "back.bin"), {
				caption: "<i>here</i>",
				parse_mode: "HTML",
			});
			await ctx.replyWithMediaGroup([
				{ type: "photo", media: new InputFile(bytes, "one.png") },
				{ type: "photo", media: new InputFile(bytes, "two.png"), caption: "two" },
			]);
		});
		await running(bot);
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		peer.say(ada, dm, "a file", { file: { kind: "document", name: "in.bin", bytes } });
		await expect.poll(() => peer.answers(dm)).toHaveLength(3);
		expect(fetched).toEqual([bytes]);
		const [document, one, two] = peer.answers(dm);
		expect(document).toMatchObject({ text: "here", entities: ["italic"], file: { name: "back.bin" } });
		for (const shown of [document, one, two])
			expect(Buffer.from(shown?.file?.bytes ?? [])).toEqual(Buffer.from(bytes));
		expect(one?.album).toBe(two?.album);
		expect(two?.text).toBe("two");
	});

	test("a second poller ends the first with 409, and a webhook keeps both out", async () => {
		const first = botOn();
		const { ended } = await running(first);
		await expect.poll(() => peer.bot.queue.isPolled).toBe(true);
		const second = botOn();
		await second.api.getUpdates({ timeout: 0 });
		expect(await ended).toMatchObject({
			error_code: 409,
			description: expect.stringContaining("other getUpdates"),
		});
		await second.api.setWebhook("https://example.org/hook");
		expect(await refusalOf(second.api.getUpdates())).toMatchObject({
			error_code: 409,
			description: expect.stringContaining("webhook is active"),
		});
	});

	test("too many at once is 429 with the seconds to wait; a wrong token is 401", async () => {
		const bot = botOn();
		peer.next({ retryAfter: 7 }, "sendMessage");
		expect(await refusalOf(bot.api.sendMessage(1, "hello"))).toMatchObject({
			error_code: 429,
			parameters: { retry_after: 7 },
		});
		expect(await refusalOf(botOn("1:wrong").api.getMe())).toMatchObject({ error_code: 401 });
		peer.revokeToken();
		expect(await refusalOf(bot.api.getMe())).toMatchObject({ error_code: 401, description: "Unauthorized" });
	});

	test("refusals have Telegram's words", async () => {
		const { api } = botOn();
		const ada = peer.user("Ada");
		const stranger = peer.dm(peer.user("Eve"));
		const dm = peer.dm(ada);
		const forum = peer.forum("Plans");
		peer.say(ada, dm, "hello");
		const { message_id: sent } = await api.sendMessage(ada.id, "one");
		const said = async (call: Promise<unknown>) => (await refusalOf(call)).description;
		expect(await said(api.sendMessage(ada.id, "<b>open", { parse_mode: "HTML" }))).toContain(
			`can't parse entities: Can't find end tag corresponding to start tag "b"`,
		);
		expect(await said(api.sendMessage(ada.id, "é<x>", { parse_mode: "HTML" }))).toContain(
			`can't parse entities: Unsupported start tag "x" at byte offset 2`,
		);
		expect(await said(api.sendMessage(ada.id, "x".repeat(4097)))).toContain("message is too long");
		expect(await said(api.sendMessage(ada.id, " \n"))).toContain("message text is empty");
		expect(await said(api.editMessageText(ada.id, sent, "one"))).toContain("message is not modified");
		expect(await said(api.editMessageText(ada.id, 999, "one"))).toContain("message to edit not found");
		expect(await said(api.sendMessage(stranger.chat.id, "hello"))).toContain("can't initiate conversation");
		expect(await said(api.sendMessage(12345, "hello"))).toContain("chat not found");
		expect(await said(api.sendMessage(forum.chat.id, "hello", { message_thread_id: 1 }))).toContain(
			"message thread not found",
		);
		expect(await said(api.answerCallbackQuery("no-such-query"))).toContain("query is too old");
	});

	test("a group that became a supergroup names the new one; a bot that was removed may not write", async () => {
		const { api } = botOn();
		const ada = peer.user("Ada");
		const group = peer.group("Team");
		const after = peer.migrate(group, ada);
		expect(await refusalOf(api.sendMessage(group.chat.id, "hello"))).toMatchObject({
			error_code: 400,
			parameters: { migrate_to_chat_id: after.chat.id },
		});
		peer.remove(after, ada);
		expect(await refusalOf(api.sendMessage(after.chat.id, "hello"))).toMatchObject({
			error_code: 403,
			description: "Forbidden: bot was kicked from the group chat",
		});
		const updates = await api.getUpdates();
		expect(updates.map((update) => Object.keys(update)[1])).toEqual(["message", "message", "my_chat_member"]);
	});

	test("updates are kept until an offset above them is asked for, and reactions only come where they were asked for", async () => {
		const { api } = botOn();
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		const id = peer.say(ada, dm, "one");
		peer.say(ada, dm, "two");
		peer.react(ada, dm, id, "👍");
		const first = await api.getUpdates({ allowed_updates: ["message", "message_reaction"] });
		expect(first).toHaveLength(2);
		expect(await api.getUpdates({ limit: 1 })).toEqual(first.slice(0, 1));
		peer.react(ada, dm, id, "👍");
		const rest = await api.getUpdates({ offset: (first[0]?.update_id ?? 0) + 1 });
		expect(rest).toHaveLength(2);
		expect(peer.confirmed()).toEqual([`${ada.id}/${id}`]);
	});

	test("an answer can be lost after the message was shown, and before", async () => {
		const { api } = botOn();
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		peer.say(ada, dm, "hello");
		peer.next("lose_ack", "sendMessage");
		await expect(api.sendMessage(ada.id, "shown")).rejects.toThrow(/Network request/);
		peer.next("lost", "sendMessage");
		await expect(api.sendMessage(ada.id, "lost")).rejects.toThrow(/Network request/);
		peer.next({ status: 502, description: "Bad Gateway" }, "sendMessage");
		await expect(api.sendMessage(ada.id, "lost")).rejects.toThrow(/Network request/);
		expect(peer.answers(dm).map(({ text }) => text)).toEqual(["shown"]);
	});
});
