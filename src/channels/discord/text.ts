// A message's text, what it replies to, and whether the bot was addressed.
import type { APIMessage, APIUser } from "discord-api-types/v10";
import type { Inbound } from "../../gateway/index.ts";
import { senderOf } from "./source.ts";

type Quoted = NonNullable<Inbound["quoted"]>;
export type Me = Pick<APIUser, "id">;
/** The fields Keryx reads; Discord sometimes omits some. */
export type Said = Pick<APIMessage, "id" | "content" | "author"> &
	Partial<
		Pick<
			APIMessage,
			| "mentions"
			| "referenced_message"
			| "sticker_items"
			| "poll"
			| "message_snapshots"
			| "attachments"
			| "embeds"
		>
	>;

/** The text without the bot's own name at its start, and with others' names instead of their numbers. */
export function textOf(message: Said, me: Me): string {
	const bare = message.content.replace(new RegExp(`^\\s*<@!?${me.id}>[,:]?\\s*`), "");
	const named = (message.mentions ?? []).reduce(
		(text, user) => text.replaceAll(new RegExp(`<@!?${user.id}>`, "g"), () => `@${senderOf(user).name}`),
		bare,
	);
	return [named, ...describedOf(message)].filter(Boolean).join("\n");
}

/** Other content than text and files, in words. */
function describedOf({
	sticker_items: stickers,
	poll,
	message_snapshots: forwarded,
}: Pick<Said, "sticker_items" | "poll" | "message_snapshots">): string[] {
	return [
		...(stickers ?? []).map(({ name }) => `[sticker ${name}]`),
		...(poll
			? [
					`[poll: ${poll.question.text ?? ""} (${poll.answers.map(({ poll_media: { text } }) => text ?? "").join(" / ")})]`,
				]
			: []),
		...(forwarded ?? []).map(({ message: { content, sticker_items: stickers } }) =>
			["[forwarded]", content, ...describedOf({ sticker_items: stickers ?? [] })].filter(Boolean).join("\n"),
		),
	];
}

/** What it replies to, if that still exists. */
export function quotedOf({ referenced_message: reply }: Said, me: Me): Quoted | undefined {
	if (!reply) return undefined;
	const files = (reply.attachments ?? []).map(({ filename }) => `[${filename}]`);
	return {
		platformMessage: reply.id,
		text: [textOf(reply, me), ...files].filter(Boolean).join(" "),
		author: senderOf(reply.author).name,
		own: reply.author.id === me.id,
	};
}

/** Named in the text, or by a notifying reply. Mentioning everyone does not count. */
export function isMentioned({ mentions, referenced_message: reply }: Said, me: Me): boolean {
	return reply?.author.id === me.id || (mentions ?? []).some(({ id }) => id === me.id);
}
