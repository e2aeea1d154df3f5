// A message's text, its links, what it replies to, and whether the bot was addressed.
import type { Message, MessageEntity, MessageOrigin, User } from "grammy/types";
import type { Inbound } from "../../gateway/index.ts";
import { richNames, richTextOf } from "./rich.ts";
import { nameOfChat, personOf, senderOf } from "./source.ts";

type Quoted = NonNullable<Inbound["quoted"]>;
export type Bot = Pick<User, "id" | "username">;

/** The text without the bot's own name at its start or after a command. */
export function textOf(message: Message, bot: Bot): string {
	const written = withLinks(message.text ?? message.caption ?? "", entitiesOf(message));
	const name = bot.username ?? "";
	const bare = name
		? written
				.replace(new RegExp(`^\\s*@${name}\\b[,:]?\\s*`, "i"), "")
				.replace(new RegExp(`^(/[a-z0-9_]+)@${name}\\b`, "i"), "$1")
		: written;
	const { forward_origin: origin, via_bot: maker } = message;
	// In front, so that another person's text is never read as a command.
	if (origin) return `[forwarded from ${originName(origin)}]\n${bare}`.trimEnd();
	return maker ? `[made by the bot ${personOf(maker).name}]\n${bare}`.trimEnd() : bare;
}

/** Other content than text and files, in words; null for messages without content (joins, title changes). */
export function describedOf(message: Message): string | null {
	if (message.sticker) return `[sticker ${message.sticker.emoji ?? ""}]`.replace(" ]", "]");
	if (message.venue) {
		const { title, address, location } = message.venue;
		return `[place: ${title}, ${address} (${location.latitude}, ${location.longitude})]`;
	}
	if (message.location) return `[location: ${message.location.latitude}, ${message.location.longitude}]`;
	if (message.contact) {
		const { first_name: first, last_name: last, phone_number: phone } = message.contact;
		return `[contact: ${[first, last].filter(Boolean).join(" ")}, ${phone}]`;
	}
	if (message.poll)
		return `[poll: ${message.poll.question} (${message.poll.options.map(({ text }) => text).join(" / ")})]`;
	if (message.dice) return `[dice ${message.dice.emoji}: ${message.dice.value}]`;
	// At the start, so that text that only looks like a command is not one.
	if (message.rich_message) return `[rich message]\n${richTextOf(message.rich_message)}`;
	if (message.checklist) {
		const { title, tasks } = message.checklist;
		const listed = tasks.map(({ text, completion_date: done }) => `\n${done ? "[x]" : "[ ]"} ${text}`);
		return `[checklist: ${title}]${listed.join("")}`;
	}
	if (message.story) return `[story of ${nameOfChat(message.story.chat) ?? "somebody"}]`;
	if (message.game) return `[game: ${message.game.title}]`;
	if (message.invoice) return `[invoice: ${message.invoice.title}]`;
	if (message.paid_media) return "[paid media, which bots cannot read]";
	return null;
}

/** What it replies to. In a topic everything refers to the first message, which is not a reply. */
export function quotedOf(message: Message, bot: Bot): Quoted | undefined {
	const { reply_to_message: reply, external_reply: external, quote } = message;
	if (reply && !reply.forum_topic_created) {
		const sender = senderOf(reply);
		return {
			platformMessage: String(reply.message_id),
			text: quote?.text ?? shownOf(reply),
			...(sender && { author: sender.name }),
			own: sender?.id === bot.id,
		};
	}
	if (!external) return undefined;
	return {
		platformMessage: String(external.message_id ?? ""),
		text: quote?.text ?? "",
		author: originName(external.origin),
		own: false,
	};
}

/** Named, replied to, or a command for it. A command without a name is for every bot that knows it. */
export function isMentioned(message: Message, bot: Bot, commands: ReadonlySet<string>): boolean {
	if (message.chat.type === "private") return true;
	const reply = message.reply_to_message;
	if (reply && !reply.forum_topic_created && reply.from?.id === bot.id) return true;
	const text = message.text ?? message.caption ?? "";
	const own = (bot.username ?? "").toLowerCase();
	if (message.rich_message && richNames(message.rich_message, own)) return true;
	return entitiesOf(message).some((entity) => {
		if (entity.type === "text_mention") return entity.user.id === bot.id;
		const said = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
		if (entity.type === "mention") return said === `@${own}`;
		if (entity.type !== "bot_command") return false;
		const [name = "", addressee] = said.slice(1).split("@");
		return addressee === undefined ? entity.offset === 0 && commands.has(name) : addressee === own;
	});
}

/** A command that names another bot: never for us. */
export function isForAnotherBot(message: Message, bot: Bot): boolean {
	const match = /^\/[a-z0-9_]+@(\w+)/i.exec(message.text ?? message.caption ?? "");
	return match !== null && match[1]?.toLowerCase() !== (bot.username ?? "").toLowerCase();
}

function entitiesOf(message: Message): readonly MessageEntity[] {
	return message.entities ?? message.caption_entities ?? [];
}

/** Hidden link addresses would be lost: they are written as Markdown. From the end, so that offsets stay valid. */
function withLinks(text: string, entities: readonly MessageEntity[]): string {
	let written = text;
	for (const entity of entities.toSorted((a, b) => b.offset - a.offset))
		if (entity.type === "text_link") {
			const end = entity.offset + entity.length;
			written = `${written.slice(0, entity.offset)}[${written.slice(entity.offset, end)}](${entity.url})${written.slice(end)}`;
		}
	return written;
}

function shownOf(message: Message): string {
	const file = (["photo", "video", "animation", "audio", "voice", "document", "video_note"] as const).find(
		(kind) => message[kind] !== undefined,
	);
	return [message.text ?? message.caption ?? describedOf(message) ?? "", file ? `[${file}]` : ""]
		.filter(Boolean)
		.join(" ");
}

function originName(origin: MessageOrigin): string {
	switch (origin.type) {
		case "user":
			return personOf(origin.sender_user).name;
		case "hidden_user":
			return origin.sender_user_name;
		case "chat":
			return origin.sender_chat.title ?? "a chat";
		case "channel":
			return origin.chat.title ?? "a channel";
	}
}
