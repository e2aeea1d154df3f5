// Where a message came from, as in docs/reference/sources.md.
import type { Chat, Message, User } from "grammy/types";

export interface Sender {
	readonly id: number;
	readonly name: string;
	readonly isBot: boolean;
}

export interface AccountOf {
	readonly account: string;
	readonly profile?: string;
}

/** A topic of a forum. Its General topic has no id, and a reply chain in a group is not a topic. */
export function threadOf(message: Message): string | undefined {
	const { message_thread_id: thread, is_topic_message: isTopic } = message;
	return isTopic && thread !== undefined && thread !== 1 ? String(thread) : undefined;
}

/** Anonymous admins and channels write in a chat's name; Telegram's stand-in user is nobody. */
export function senderOf(message: Message): Sender | undefined {
	const { sender_chat: chat, from } = message;
	if (chat) return { id: chat.id, name: nameOfChat(chat) ?? "", isBot: false };
	return from && personOf(from);
}

export function personOf({ id, first_name: first, last_name: last, username, is_bot: isBot }: User): Sender {
	return { id, name: [first, last].filter(Boolean).join(" ") || (username ?? ""), isBot };
}

export function sourceOf(message: Message, of: AccountOf): Record<string, unknown> {
	const thread = threadOf(message);
	const topic = thread === undefined ? undefined : topicOf(message);
	return {
		...sourceIn(message.chat, senderOf(message), of),
		...(thread !== undefined && { thread_id: thread }),
		...(topic !== undefined && { chat_topic: topic }),
		message_id: String(message.message_id),
	};
}

/** For updates without a message: reactions, members. */
export function sourceIn(
	chat: Chat,
	sender: Sender | undefined,
	{ account, profile }: AccountOf,
): Record<string, unknown> {
	const name = chat.type === "private" ? undefined : nameOfChat(chat);
	return {
		platform: "telegram",
		account,
		chat_id: String(chat.id),
		chat_type: typeOf(chat),
		...(name !== undefined && { chat_name: name }),
		...(sender && { user_id: String(sender.id), user_name: sender.name }),
		...(profile !== undefined && { profile }),
	};
}

/** A group stays one when it gets topics or becomes a supergroup: its conversations continue. */
function typeOf(chat: Chat): "dm" | "group" | "channel" {
	if (chat.type === "private") return "dm";
	return chat.type === "channel" ? "channel" : "group";
}

export function nameOfChat(chat: Chat): string | undefined {
	return chat.title ?? ([chat.first_name, chat.last_name].filter(Boolean).join(" ") || chat.username);
}

/** Telegram names a topic only in its first message, which everything in the topic refers to. */
function topicOf(message: Message): string | undefined {
	return message.reply_to_message?.forum_topic_created?.name;
}
