// A message's text, what it replies to, and whether Keryx was addressed.
import type { Room } from "./rooms.ts";
import { type MatrixEvent, objectOf, textIn } from "./wire.ts";

export interface Me {
	/** `@keryx:example.org` */
	readonly id: string;
}

/** Messages with a file. */
export const FILES: ReadonlySet<string> = new Set(["m.image", "m.file", "m.audio", "m.video"]);

export interface Relation {
	/** The first message of its thread. */
	readonly thread?: string;
	/** The message it replaces. */
	readonly replaces?: string;
	readonly repliesTo?: string;
}

export function relationOf(content: unknown): Relation {
	const relation = objectOf(objectOf(content)["m.relates_to"]);
	const event = textIn(relation, "event_id");
	const reply = textIn(relation["m.in_reply_to"], "event_id");
	const isThread = relation.rel_type === "m.thread";
	// In a thread every message names the one before it, for programs without threads.
	const isReply = reply !== undefined && !(isThread && relation.is_falling_back === true);
	return {
		...(isThread && event !== undefined && { thread: event }),
		...(relation.rel_type === "m.replace" && event !== undefined && { replaces: event }),
		...(isReply && { repliesTo: reply }),
	};
}

/** The words of a message; empty for a file without a caption, null if it is not a message. */
export function wordsOf(content: unknown, sender: string, room: Room): string | null {
	const kind = textIn(content, "msgtype");
	const body = textIn(content, "body");
	if (kind === undefined || body === undefined) return null;
	if (FILES.has(kind)) {
		const name = textIn(content, "filename");
		return name === undefined || name === body ? "" : body;
	}
	const text = isReply(content) ? withoutQuote(body) : body;
	// The label prevents an action from being a command.
	if (kind === "m.emote") return `* ${room.nameOf(sender)} ${text}`;
	if (kind === "m.location") return `[location: ${textIn(content, "geo_uri") ?? body}]`;
	if (kind === "m.text" || kind === "m.notice") return text;
	return kind.startsWith("m.key.verification") ? null : `[${kind}] ${text}`;
}

/** Describes other events that people see as messages. */
export function describedOf({ type, content }: MatrixEvent): string | null {
	if (type === "m.room.encrypted") return "[an encrypted message, which Keryx cannot read]";
	if (type === "m.sticker") return `[sticker ${textIn(content, "body") ?? ""}]`.replace(" ]", "]");
	const poll = objectOf(content["m.poll"] ?? content["org.matrix.msc3381.poll.start"]);
	if (!/poll\.start$/.test(type)) return null;
	const answers = Array.isArray(poll.answers) ? poll.answers.map(plainText) : [];
	return `[poll: ${plainText(poll.question)} (${answers.join(" / ")})]`;
}

function plainText(given: unknown): string {
	const { body, "m.text": texts, "org.matrix.msc1767.text": text } = objectOf(given);
	const [first] = Array.isArray(texts) ? texts : [];
	return [body, textIn(first, "body"), text].find((one) => typeof one === "string") ?? "";
}

/** Named by the sender's program; older programs name nobody, and there the name in the text counts. */
export function isMentioned(content: unknown, text: string, me: Me, room: Room): boolean {
	const { "m.mentions": mentions, formatted_body: html } = objectOf(content);
	const users = objectOf(mentions).user_ids;
	if (Array.isArray(users) && users.includes(me.id)) return true;
	if (typeof html === "string" && namesLink(html, me)) return true;
	return addressing(me, room).some((pattern) => pattern.test(text)) || text.includes(me.id);
}

/** The text without Keryx's own name at its start, and `!status` as `/status`: programs use lines with a slash themselves. */
export function bareText(text: string, me: Me, room: Room, commands: ReadonlySet<string>): string {
	const bare = addressing(me, room).reduce((rest, pattern) => rest.replace(pattern, ""), text.trim());
	const [, name = ""] = /^!([a-z_]+)(?:\s|$)/i.exec(bare) ?? [];
	return commands.has(name.toLowerCase()) ? `/${bare.slice(1)}` : bare;
}

/** `Keryx: hello`, `@keryx hello`, `@keryx:example.org hello`. */
function addressing(me: Me, room: Room): readonly RegExp[] {
	const names = [me.id, room.nameOf(me.id), /^@([^:]+):/.exec(me.id)?.[1] ?? me.id];
	return [...new Set(names)].map((name) => {
		const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
		return new RegExp(
			name === me.id
				? `^${quoted}[:,]?(?:\\s+|$)`
				: `^(?:@${quoted}(?:[:,]\\s*|\\s+|$)|${quoted}[:,](?:\\s+|$))`,
			"i",
		);
	});
}

function namesLink(html: string, me: Me): boolean {
	return [me.id, encodeURIComponent(me.id)].some((id) => html.includes(`https://matrix.to/#/${id}"`));
}

function isReply(content: unknown): boolean {
	return objectOf(objectOf(content)["m.relates_to"])["m.in_reply_to"] !== undefined;
}

/** Older programs repeat what they reply to: `> <@ada:example.org> hello` and a blank line. */
function withoutQuote(body: string): string {
	return body.replace(/^> <[^>\n]+>[^\n]*\n(?:>[^\n]*\n)*\n/, "");
}
