// Passes Slack's events to the host. Resolves after the host has committed; only then may it be acknowledged (I3).
import type { Part } from "../../domain/index.ts";
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import type { Directory } from "./directory.ts";
import { type FileSource, fetchFile } from "./files.ts";
import { type AccountOf, isOwn, type Me, sourceOf, threadOf, type WireMessage } from "./source.ts";
import { isMentioned, textOf } from "./text.ts";
import type { Web } from "./web.ts";

type Wire = Readonly<Record<string, unknown>>;

export interface EventContext {
	readonly host: ChannelHost;
	readonly me: Me;
	readonly of: AccountOf;
	readonly web: Web;
	readonly directory: Directory;
	readonly files: FileSource;
	/** The event is committed, before everything it starts is done. */
	readonly committed?: () => void;
	/** Whether the agent was shown this thread's root: once is enough. */
	readonly isNewThread: (thread: string) => boolean;
}

/** Something that happened in a chat. */
export interface Happening {
	readonly kind: "events_api" | "interactive" | "slash_commands";
	readonly payload: Wire;
}

interface ChatEvent extends WireMessage {
	readonly channel?: string | { readonly id?: string } | null;
	readonly channel_type?: string;
	readonly event_ts?: string;
	readonly message?: WireMessage;
	readonly previous_message?: WireMessage;
	readonly deleted_ts?: string;
	readonly reaction?: string;
	readonly item_user?: string;
	readonly item?: { readonly type?: string; readonly channel?: string; readonly ts?: string };
}

/** Messages without content: joins, topic changes, thread updates. */
const SAYING = new Set([undefined, "file_share", "thread_broadcast", "me_message", "bot_message"]);
const LEFT: Readonly<Record<string, string>> = {
	channel_left: "the app was removed from the channel",
	group_left: "the app was removed from the channel",
	channel_archive: "the channel is archived",
	group_archive: "the channel is archived",
	channel_deleted: "the channel was deleted",
	group_deleted: "the channel was deleted",
};

export function eventOf({ kind, payload }: Happening): ChatEvent {
	return (kind === "events_api" ? payload.event : payload) as ChatEvent;
}

/** Its chat: events of one chat are passed on serially. */
export function chatOf(happening: Happening): string {
	const { channel, item } = eventOf(happening);
	if (happening.kind === "slash_commands") return String(happening.payload.channel_id ?? "");
	return (typeof channel === "object" ? channel?.id : channel) ?? item?.channel ?? "";
}

export interface ChatLocation {
	readonly chat: string;
	/** im, mpim, channel or group, if known. */
	readonly kind?: string | undefined;
}

/** The chat whose history may have to be read before; null if the event is not about a message. */
export function locationOf(happening: Happening): ChatLocation | null {
	const { type, channel_type: kind } = eventOf(happening);
	const chat = chatOf(happening);
	if (happening.kind !== "events_api" || chat === "") return null;
	return type === "message" || type === "app_mention" || type === "reaction_added" ? { chat, kind } : null;
}

/** Its message; undefined if it has none. */
export function messageOf(happening: Happening): WireMessage | undefined {
	const event = eventOf(happening);
	const { type } = event;
	if (happening.kind !== "events_api" || (type !== "message" && type !== "app_mention")) return undefined;
	return isSaying(event) ? event : undefined;
}

export function isSaying({ subtype }: WireMessage): boolean {
	return SAYING.has(subtype);
}

/** Resolves with what to do once Slack has been told. */
export async function handIn(
	happening: Happening,
	cursor: string | undefined,
	context: EventContext,
): Promise<(() => Promise<void>) | undefined> {
	const at = cursor === undefined ? {} : { cursor };
	const chat = chatOf(happening);
	const event = eventOf(happening);
	if (happening.kind === "interactive") return handInPress(happening.payload, at, context);
	if (happening.kind === "slash_commands") return handInCommand(happening.payload, at, context);
	const message = messageOf(happening);
	if (message) {
		await handInMessage(message, { chat, kind: event.channel_type }, at, context);
		return;
	}
	if (event.type === "message") return handInChange(event, chat, at, context);
	if (event.type === "reaction_added") return handInReaction(event, at, context);
	const reason = event.type === undefined ? undefined : LEFT[event.type];
	if (reason !== undefined && chat !== "") {
		const source = await sourceOf({ chat }, context);
		await context.host.gone({ source, reason, ...at });
	}
	return;
}

type At = { readonly cursor?: string };

/** A message from an event or the history. */
export async function handInMessage(
	message: WireMessage,
	{ chat, kind }: ChatLocation,
	at: At,
	context: EventContext,
): Promise<void> {
	const { host, me, of } = context;
	if (isOwn(message, me) || message.ts === undefined) return;
	const [{ content, blobs }, source, quoted] = await Promise.all([
		contentOf(message, context),
		sourceOf(
			{
				chat,
				kind,
				thread: threadOf(message),
				user: message.user ?? message.bot_id,
				...(message.user === undefined && { userName: message.username ?? "a bot" }),
				message: message.ts,
			},
			context,
		),
		quotedOf(message, chat, context),
	]);
	if (content === null) return;
	const isDm = source.chat_type === "dm";
	const commands = new Set(host.commands().map(({ name }) => name));
	await host.accept({
		source,
		platformMessage: message.ts,
		content,
		...(blobs.length > 0 && { blobs }),
		...(quoted && { quoted }),
		mentioned: isDm || isMentioned(message, me, commands),
		sentAt: Math.floor(Number(message.ts) * 1000),
		transport: transportOf(message, of),
		...at,
	});
}

async function contentOf(
	message: WireMessage,
	{ me, directory, files }: EventContext,
): Promise<{ readonly content: Inbound["content"] | null; readonly blobs: readonly string[] }> {
	const text = await textOf(message, me, directory);
	const forwarded = (message.attachments ?? []).filter(({ is_share: shares }) => shares);
	const attached = [...(message.files ?? []), ...forwarded.flatMap((one) => one.files ?? [])];
	if (attached.length === 0) return { content: text === "" ? null : text, blobs: [] };
	const parts: Part[] = text === "" ? [] : [{ type: "text", text }];
	const blobs: string[] = [];
	for (const file of attached) {
		const { part, blob } = await fetchFile(file, files);
		parts.push(part);
		if (blob !== null) blobs.push(blob);
	}
	return { content: parts, blobs };
}

/** A thread's root message: always if Keryx wrote it, because a reply to that is for Keryx; otherwise when the thread is new here. */
async function quotedOf(
	message: WireMessage,
	chat: string,
	{ web, me, directory, isNewThread }: EventContext,
): Promise<Inbound["quoted"]> {
	const thread = threadOf(message);
	if (thread === undefined) return undefined;
	const isToUs = message.parent_user_id === me.userId;
	if (!isNewThread(`${chat}/${thread}`) && !isToUs) return undefined;
	const parent = await web
		.call<{ messages?: readonly WireMessage[] }>("conversations.replies", {
			channel: chat,
			ts: thread,
			limit: 1,
		})
		.then(({ messages }) => messages?.find(({ ts }) => ts === thread))
		.catch(() => undefined);
	if (!parent) return isToUs ? { platformMessage: thread, text: "", own: true } : undefined;
	const author = parent.user === undefined ? parent.username : await directory.person(parent.user);
	const named = (parent.files ?? []).map(({ name = "file" }) => `[${name}]`);
	return {
		platformMessage: thread,
		text: [await textOf(parent, me, directory), ...named].filter(Boolean).join(" "),
		...(author !== undefined && { author }),
		own: isOwn(parent, me),
	};
}

async function handInChange(
	event: ChatEvent,
	chat: string,
	at: At,
	context: EventContext,
): Promise<undefined> {
	const { host, me, directory } = context;
	const { subtype, message, previous_message: before, deleted_ts: deleted } = event;
	const isTombstone = subtype === "message_changed" && message?.subtype === "tombstone";
	const subject = subtype === "message_changed" ? message : before;
	const ts = deleted ?? message?.ts;
	// Ignore Keryx's own edits.
	if ((subtype !== "message_changed" && subtype !== "message_deleted") || ts === undefined) return;
	if (subject && (isOwn(subject, me) || (before && isOwn(before, me)))) return;
	const source = await sourceOf(
		{
			chat,
			kind: event.channel_type,
			thread: subject && threadOf(subject),
			user: subject?.user ?? before?.user ?? subject?.bot_id,
			message: ts,
		},
		context,
	);
	if (subtype === "message_deleted" || isTombstone || !message)
		await host.deleted({ source, platformMessage: ts, ...at });
	// A link preview also arrives as an edit: the host compares the text.
	else
		await host.edited({ source, platformMessage: ts, content: await textOf(message, me, directory), ...at });
	return;
}

async function handInReaction(event: ChatEvent, at: At, context: EventContext): Promise<undefined> {
	const { reaction, item, item_user: author, user } = event;
	if (item?.channel === undefined || item.ts === undefined || reaction === undefined) return;
	if (user === context.me.userId) return;
	await context.host.reacted({
		source: await sourceOf({ chat: item.channel, user, message: item.ts }, context),
		platformMessage: item.ts,
		emoji: EMOJI[reaction.split("::")[0] ?? ""] ?? `:${reaction}:`,
		on: author === context.me.userId ? "own" : "other",
		...at,
	});
	return;
}

/** Those that may decide something, and the usual ones. */
const EMOJI: Readonly<Record<string, string>> = {
	"+1": "👍",
	thumbsup: "👍",
	"-1": "👎",
	thumbsdown: "👎",
	white_check_mark: "✅",
	x: "❌",
	heart: "❤️",
	eyes: "👀",
	tada: "🎉",
};

interface PressPayload {
	readonly type?: string;
	readonly user?: { readonly id?: string; readonly name?: string };
	readonly container?: { readonly message_ts?: string; readonly channel_id?: string };
	readonly message?: WireMessage;
	readonly actions?: readonly { readonly value?: string }[];
}

async function handInPress(
	payload: PressPayload,
	at: At,
	context: EventContext,
): Promise<(() => Promise<void>) | undefined> {
	const { user, container, message = {}, actions } = payload;
	const { message_ts: ts, channel_id: chat } = container ?? {};
	const button = actions?.[0]?.value;
	if (payload.type !== "block_actions" || !ts || !chat || button === undefined || user?.id === undefined)
		return;
	const thread = threadOf(message);
	const { text } = await context.host.pressed({
		source: await sourceOf({ chat, thread, user: user.id }, context),
		button,
		platformMessage: ts,
		transport: transportOf({}, context.of),
		...(context.committed && { onCommitted: context.committed }),
		...at,
	});
	const person = user.id;
	return async () => {
		await context.web.call("chat.postEphemeral", {
			channel: chat,
			user: person,
			text: escaped(text),
			...(thread !== undefined && { thread_ts: thread }),
		});
	};
}

/** `/keryx status` is /status; an app's other slash commands keep their names. */
async function handInCommand(payload: Wire, at: At, context: EventContext): Promise<undefined> {
	const {
		channel_id: chat,
		user_id: user,
		command,
		text,
		trigger_id: id,
	} = payload as Record<string, string>;
	if (chat === undefined || command === undefined || id === undefined) return;
	const known = new Set(context.host.commands().map(({ name }) => name));
	const isOurs = known.has(command.replace(/^\//, "").toLowerCase());
	const said = (text ?? "").trim();
	const content = isOurs ? `${command} ${said}`.trim() : `/${said.replace(/^\//, "") || "help"}`;
	await context.host.accept({
		source: await sourceOf({ chat, user }, context),
		platformMessage: `command ${id}`,
		content,
		mentioned: true,
		transport: transportOf({}, context.of),
		...at,
	});
	return;
}

function transportOf(
	{ bot_id: bot, subtype, user }: WireMessage,
	{ profile }: AccountOf,
): NonNullable<Inbound["transport"]> {
	const isBot = bot !== undefined || subtype === "bot_message" || user === "USLACKBOT";
	return { ...(isBot && { isBot: true }), ...(profile !== undefined && { mayChooseProfile: true }) };
}

/** Slack reads control sequences in any text. */
export function escaped(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
