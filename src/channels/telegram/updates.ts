// Passes one Telegram update to the host. Resolves after the host has committed it; only then may it be confirmed (I3).
import type { CallbackQuery, Chat, Message, MessageReactionUpdated, Update } from "grammy/types";
import type { Part } from "../../domain/index.ts";
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import { render } from "../../render/index.ts";
import { type FileSource, fetchFile, fileOf } from "./files.ts";
import { type AccountOf, personOf, type Sender, senderOf, sourceIn, sourceOf } from "./source.ts";
import { type Bot, describedOf, isForAnotherBot, isMentioned, quotedOf, textOf } from "./text.ts";

/** Telegram sends only the kinds that are requested. */
export const ALLOWED_UPDATES = [
	"message",
	"edited_message",
	"channel_post",
	"edited_channel_post",
	"callback_query",
	"message_reaction",
	"my_chat_member",
] as const;

/** The longest text that a pressed button can show. */
const SHOWN_LIMIT = 200;

export interface UpdateContext {
	readonly host: ChannelHost;
	readonly bot: Bot;
	readonly of: AccountOf;
	readonly files: FileSource;
	/** The other updates of the batch. */
	readonly batch: readonly Update[];
	/** Whether Keryx wrote this message, if known. */
	readonly isOwn: (chatId: string, messageId: string) => boolean;
	readonly onMoved: (chatId: string, toChatId: string) => void;
	/** Shows a person the effect of a button. */
	readonly answerPress: (query: string, text: string) => Promise<void>;
}

type Cursor = { readonly cursor?: string };

/** An update's chat: updates of one chat are passed on serially. */
export function chatOf(update: Update): Chat | undefined {
	const { message_reaction: reaction, my_chat_member: member, callback_query: query } = update;
	return (messageOf(update) ?? editedOf(update) ?? query?.message ?? reaction ?? member)?.chat;
}

export async function handIn(
	update: Update,
	cursor: string | undefined,
	context: UpdateContext,
): Promise<void> {
	const at: Cursor = cursor === undefined ? {} : { cursor };
	const message = messageOf(update);
	if (message) return handInMessage(message, at, context);
	const edited = editedOf(update);
	if (edited) return handInEdit(edited, at, context);
	if (update.callback_query) return handInPress(update.callback_query, at, context);
	if (update.message_reaction) return handInReaction(update.message_reaction, at, context);
	const { my_chat_member: member } = update;
	const status = member?.new_chat_member.status;
	if (member && (status === "kicked" || status === "left")) {
		const reason =
			member.chat.type === "private" ? "the user blocked the bot" : "the bot was removed from the chat";
		await context.host.gone({
			source: sourceIn(member.chat, personOf(member.from), context.of),
			reason,
			...at,
		});
		return;
	}
	await pass(at, context);
}

async function handInMessage(message: Message, at: Cursor, context: UpdateContext): Promise<void> {
	const { host, bot, of } = context;
	const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message;
	if (to !== undefined) return move(chat.id, to, message, at, context);
	if (from !== undefined) return move(from, chat.id, message, at, context);
	const { content, blobs } = await contentOf(message, context);
	if (content === null || isForAnotherBot(message, bot)) return pass(at, context);
	const sender = senderOf(message);
	const quoted = quotedOf(message, bot);
	const album = message.media_group_id;
	await host.accept({
		source: sourceOf(message, of),
		platformMessage: nameOf(chat, message.message_id, bot),
		content,
		...(blobs.length > 0 && { blobs }),
		...(quoted && { quoted }),
		...(album !== undefined && { album }),
		mentioned: isMeant(message, context),
		sentAt: message.date * 1000,
		transport: transportOf(sender, context),
		...at,
	});
}

/** Only one message of an album has the text, and with it the mention. */
function isMeant(message: Message, { host, bot, batch }: UpdateContext): boolean {
	const commands = new Set(host.commands().map(({ name }) => name));
	const { media_group_id: album, chat } = message;
	const others = album === undefined ? [] : batch.flatMap((update) => messageOf(update) ?? []);
	return [
		message,
		...others.filter((other) => other.media_group_id === album && other.chat.id === chat.id),
	].some((one) => isMentioned(one, bot, commands));
}

async function contentOf(
	message: Message,
	{ bot, files }: UpdateContext,
): Promise<{ readonly content: Inbound["content"] | null; readonly blobs: readonly string[] }> {
	const text = wordsOf(message, bot);
	const file = fileOf(message);
	if (!file) return { content: text === "" ? null : text, blobs: [] };
	const { part, blob } = await fetchFile(file, files);
	const parts: Part[] = text === "" ? [part] : [{ type: "text", text }, part];
	return { content: parts, blobs: blob === null ? [] : [blob] };
}

function wordsOf(message: Message, bot: Bot): string {
	return [textOf(message, bot), describedOf(message)].filter(Boolean).join("\n");
}

/**
 * A message's permanent id. In private chats and small groups each bot has its own numbering, so another bot in the same entry starts
 * again.
 */
function nameOf(chat: Chat, id: number, bot: Bot): string {
	return chat.type === "private" || chat.type === "group" ? `${bot.id}/${id}` : String(id);
}

/** Telegram reports some invisible changes as edits: the host compares the text. */
async function handInEdit(message: Message, at: Cursor, context: UpdateContext): Promise<void> {
	await context.host.edited({
		source: sourceOf(message, context.of),
		platformMessage: nameOf(message.chat, message.message_id, context.bot),
		content: wordsOf(message, context.bot),
		...at,
	});
}

async function handInPress(query: CallbackQuery, at: Cursor, context: UpdateContext): Promise<void> {
	const { id, message, from, data } = query;
	if (!message || data === undefined) return pass(at, context);
	const person = personOf(from);
	const thread = "from" in message ? sourceOf(message, context.of).thread_id : undefined;
	const { text } = await context.host.pressed({
		source: {
			...sourceIn(message.chat, person, context.of),
			...(thread !== undefined && { thread_id: thread }),
		},
		button: data,
		platformMessage: String(message.message_id),
		transport: transportOf(person, context),
		...at,
	});
	// Telegram shows it unchanged: marks would appear around names.
	const { plain } = render(text, { markup: "plain", limit: { max: 4096, unit: "utf16" } });
	await context.answerPress(id, plain.length > SHOWN_LIMIT ? `${plain.slice(0, SHOWN_LIMIT - 1)}…` : plain);
}

async function handInReaction(
	reaction: MessageReactionUpdated,
	at: Cursor,
	context: UpdateContext,
): Promise<void> {
	const { chat, message_id: id, user, actor_chat: actor } = reaction;
	const sender = user ? personOf(user) : actor && { id: actor.id, name: actor.title ?? "", isBot: false };
	const before = new Set(reaction.old_reaction.map(emojiOf));
	const added = reaction.new_reaction.map(emojiOf).filter((emoji) => emoji !== "" && !before.has(emoji));
	const on = context.isOwn(String(chat.id), String(id)) ? "own" : "other";
	const platformMessage = on === "own" ? String(id) : nameOf(chat, id, context.bot);
	const source = sourceIn(chat, sender, context.of);
	for (const [n, emoji] of added.entries())
		await context.host.reacted({
			source,
			platformMessage,
			emoji,
			on,
			transport: transportOf(sender, context),
			...(n === added.length - 1 && at),
		});
	if (added.length === 0) await pass(at, context);
}

async function move(
	from: number,
	to: number,
	message: Message,
	at: Cursor,
	{ host, of, onMoved }: UpdateContext,
): Promise<void> {
	const source = { ...sourceOf(message, of), chat_id: String(from) };
	await host.moved({ source, toChatId: String(to), ...at });
	onMoved(String(from), String(to));
}

async function pass({ cursor }: Cursor, { host }: UpdateContext): Promise<void> {
	if (cursor !== undefined) await host.passed(cursor);
}

function transportOf(
	sender: Sender | undefined,
	{ bot, of }: UpdateContext,
): NonNullable<Inbound["transport"]> {
	return {
		...(sender?.isBot && { isBot: true }),
		...(sender?.id === bot.id && { own: true }),
		...(of.profile !== undefined && { mayChooseProfile: true }),
	};
}

export function messageOf(update: Update): Message | undefined {
	return update.message ?? update.channel_post;
}

export function editedOf(update: Update): Message | undefined {
	return update.edited_message ?? update.edited_channel_post;
}

function emojiOf(reaction: MessageReactionUpdated["new_reaction"][number]): string {
	return reaction.type === "emoji" ? reaction.emoji : "";
}
