// Passes one Discord event to the host. Resolves after the host has committed it (I3).
import type { REST } from "@discordjs/rest";
import type { APIAttachment, APIUser } from "discord-api-types/v10";
import type { Part } from "../../domain/index.ts";
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import type { Mark } from "./cursor.ts";
import type { ChannelFacts, Directory, Location, RoleFacts } from "./directory.ts";
import { type FileSource, fetchFile } from "./files.ts";
import { type Answers, BUTTON, type Interaction, isAnswerable, lineOf } from "./interactions.ts";
import type { SentMessages } from "./sent.ts";
import { timeOf } from "./snowflake.ts";
import { type AccountOf, type MemberFacts, type Sender, senderOf, sourceIn } from "./source.ts";
import { isMentioned, type Me, quotedOf, type Said, textOf } from "./text.ts";

/** A message as in gateway events. History messages lack server and member. */
export type Message = Said & {
	readonly channel_id: string;
	readonly type: number;
	/** Of its channel. */
	readonly channel_type?: number;
	readonly guild_id?: string;
	readonly member?: MemberFacts;
	readonly webhook_id?: string;
	readonly mention_roles?: readonly string[];
	readonly nonce?: string | number;
	readonly edited_timestamp?: string | null;
	readonly attachments?: readonly APIAttachment[];
};

export interface Dispatch {
	readonly t: string;
	readonly s: number;
	readonly d: unknown;
}

export interface EventContext {
	readonly host: ChannelHost;
	readonly rest: REST;
	readonly me: APIUser;
	readonly of: AccountOf;
	readonly directory: Directory;
	readonly files: FileSource;
	readonly answers: Answers;
	/** Whether an answer to this message gets its own thread. */
	readonly opensThread: (location: Location, isMentioned: boolean) => boolean;
}

/** The cursor to commit with. Read right before the commit: the position moves while a file is fetched. */
export type CursorNow = () => string | undefined;
type At = () => { readonly cursor?: string };
/** Written by people, not by Discord itself (joins, pins). */
const SAID = new Set([0, 19, 20]);

/** Learns what needs no commit: channels and the bot's own messages. */
export function learn({ t, d }: Dispatch, me: Me, directory: Directory, sent: SentMessages): void {
	switch (t) {
		case "GUILD_CREATE": {
			const { id, channels = [], threads = [], roles } = d as GuildFacts;
			for (const channel of [...channels, ...threads]) directory.learn(channel, id);
			if (roles) directory.learnRoles(id, roles, me.id);
			return;
		}
		case "CHANNEL_CREATE":
		case "CHANNEL_UPDATE":
		case "THREAD_CREATE":
		case "THREAD_UPDATE":
			directory.learn(d as ChannelFacts);
			return;
		case "THREAD_LIST_SYNC": {
			const { guild_id: guild, threads } = d as { guild_id: string; threads: readonly ChannelFacts[] };
			for (const thread of threads) directory.learn(thread, guild);
			return;
		}
		case "MESSAGE_CREATE": {
			const { author, nonce, id, channel_id: channel, channel_type: type, guild_id: guild } = d as Message;
			if (guild === undefined && type !== undefined) directory.learn({ id: channel, type });
			if (author.id === me.id && nonce !== undefined) sent.add(String(nonce), id);
			return;
		}
	}
}

export interface GuildFacts {
	readonly id: string;
	readonly unavailable?: boolean;
	readonly roles?: readonly RoleFacts[];
	readonly channels?: readonly (ChannelFacts & { readonly last_message_id?: string | null })[];
	readonly threads?: readonly (ChannelFacts & { readonly last_message_id?: string | null })[];
}

/** The channel of an event; null if it is not for Keryx. */
export function laneOf({ t, d }: Dispatch, me: Me): string | null {
	const { channel_id: channel, id } = d as { readonly channel_id?: string; readonly id?: string };
	switch (t) {
		case "MESSAGE_CREATE":
		case "MESSAGE_UPDATE": {
			const { author, type } = d as Partial<Message>;
			const isOurs = author !== undefined && author.id !== me.id && type !== undefined && SAID.has(type);
			return isOurs ? (channel ?? null) : null;
		}
		case "MESSAGE_REACTION_ADD":
			return (d as Reaction).user_id === me.id ? null : (channel ?? null);
		case "MESSAGE_DELETE":
		case "MESSAGE_DELETE_BULK":
			return channel ?? null;
		case "INTERACTION_CREATE":
			return isAnswerable(d as Interaction) ? (channel ?? null) : null;
		case "CHANNEL_DELETE":
			return id ?? null;
		case "GUILD_DELETE":
			return (d as GuildFacts).unavailable ? null : (id ?? null);
		default:
			return null;
	}
}

/** The newest message or command, needed after a gap. */
export function markOf({ t, d }: Dispatch): Mark | undefined {
	if (t === "INTERACTION_CREATE") {
		const { id, channel_id: chat, guild_id: guild } = d as Interaction;
		return chat === undefined || guild !== undefined ? undefined : { message: id, privateChat: chat };
	}
	if (t !== "MESSAGE_CREATE") return undefined;
	const { id, channel_id: channel, guild_id: guild } = d as Message;
	return { message: id, ...(guild === undefined && { privateChat: channel }) };
}

export async function handIn({ t, d }: Dispatch, cursor: CursorNow, context: EventContext): Promise<void> {
	const at = atOf(cursor);
	switch (t) {
		case "MESSAGE_CREATE":
			return handInMessage(d as Message, at, context);
		case "MESSAGE_UPDATE":
			return handInEdit(d as Message, at, context);
		case "MESSAGE_DELETE":
			return handInDeletions(d as Deleted, [(d as Deleted).id ?? ""], at, context);
		case "MESSAGE_DELETE_BULK":
			return handInDeletions(d as Deleted, (d as Deleted).ids ?? [], at, context);
		case "MESSAGE_REACTION_ADD":
			return handInReaction(d as Reaction, at, context);
		case "INTERACTION_CREATE":
			return handInInteraction(d as Interaction, at, context);
		case "CHANNEL_DELETE":
			return gone([(d as ChannelFacts).id], "the channel was deleted", at, context);
		case "GUILD_DELETE": {
			const { id } = d as GuildFacts;
			return gone(context.directory.channelsOf(id), "the bot was removed from the server", at, context);
		}
		default:
			await pass(at, context);
	}
}

export async function handInMessage(given: Message, at: At, context: EventContext): Promise<void> {
	const { host, me, of } = context;
	const location = await locationOf(given, context);
	const role = await namedRole(given, location, context);
	const message = role === null ? given : namingBot(given, role, me);
	const sender = senderOf(message.author, message.member);
	const mentioned = location.isPrivate || isMentioned(message, me);
	const { content, blobs } = await contentOf(message, context);
	if (content === null) return pass(at, context);
	const quoted = quotedOf(message, me);
	const { id } = message;
	const thread = context.opensThread(location, mentioned) ? { thread: id } : {};
	await host.accept({
		source: sourceIn(location, of, { sender, message: id, ...thread }),
		platformMessage: id,
		content,
		...(blobs.length > 0 && { blobs }),
		...(quoted && { quoted }),
		mentioned,
		sentAt: timeOf(id),
		transport: transportOf(sender, context, message.webhook_id !== undefined),
		...at(),
	});
}

/** The bot's own role, if the message names it: to people both look the same. */
async function namedRole(
	{ mention_roles: named = [] }: Message,
	{ guild }: Location,
	{ directory, me, rest }: EventContext,
): Promise<string | null> {
	if (guild === undefined || named.length === 0) return null;
	const own = await directory.ownRole(guild, me.id, rest);
	return own !== null && named.includes(own) ? own : null;
}

function namingBot(message: Message, role: string, me: APIUser): Message {
	return {
		...message,
		content: message.content.replaceAll(`<@&${role}>`, `<@${me.id}>`),
		mentions: [...(message.mentions ?? []), me],
	};
}

async function contentOf(
	message: Message,
	{ me, files }: EventContext,
): Promise<{ readonly content: Inbound["content"] | null; readonly blobs: readonly string[] }> {
	const text = textOf(message, me);
	const forwarded = (message.message_snapshots ?? []).flatMap((one) => one.message.attachments ?? []);
	const attachments = [...(message.attachments ?? []), ...forwarded];
	if (attachments.length === 0) return { content: text === "" ? null : text, blobs: [] };
	const parts: Part[] = text === "" ? [] : [{ type: "text", text }];
	const blobs: string[] = [];
	for (const attachment of attachments) {
		const { part, blob } = await fetchFile(attachment, files);
		parts.push(part);
		if (blob !== null) blobs.push(blob);
	}
	return { content: parts, blobs };
}

/** Discord reports its own additions, such as link previews, as updates that nobody made. */
async function handInEdit(message: Message, at: At, context: EventContext): Promise<void> {
	if (message.edited_timestamp == null) return pass(at, context);
	const location = await locationOf(message, context);
	const sender = senderOf(message.author, message.member);
	await context.host.edited({
		source: sourceIn(location, context.of, { sender, message: message.id }),
		platformMessage: message.id,
		content: textOf(message, context.me),
		...at(),
	});
}

interface Deleted {
	readonly id?: string;
	readonly ids?: readonly string[];
	readonly channel_id: string;
	readonly guild_id?: string;
}

async function handInDeletions(
	{ channel_id: channel, guild_id: guild }: Deleted,
	ids: readonly string[],
	at: At,
	context: EventContext,
): Promise<void> {
	const location = await context.directory.locate(channel, guild, context.rest);
	const source = sourceIn(location, context.of);
	for (const [n, id] of ids.entries())
		await context.host.deleted({ source, platformMessage: id, ...(n === ids.length - 1 && at()) });
	if (ids.length === 0) await pass(at, context);
}

interface Reaction {
	readonly user_id: string;
	readonly channel_id: string;
	readonly message_id: string;
	readonly message_author_id?: string;
	readonly guild_id?: string;
	readonly member?: MemberFacts & { readonly user?: Message["author"] };
	readonly emoji: { readonly name: string | null };
}

async function handInReaction(reaction: Reaction, at: At, context: EventContext): Promise<void> {
	const { channel_id: channel, guild_id: guild, user_id: id, member, emoji } = reaction;
	const location = await context.directory.locate(channel, guild, context.rest);
	const sender = member?.user ? senderOf(member.user, member) : { id, name: "", isBot: false, roles: [] };
	await context.host.reacted({
		source: sourceIn(location, context.of, { sender }),
		platformMessage: reaction.message_id,
		emoji: emoji.name ?? "",
		on: reaction.message_author_id === context.me.id ? "own" : "other",
		...at(),
	});
}

async function handInInteraction(interaction: Interaction, at: At, context: EventContext): Promise<void> {
	const { host, rest, answers, directory, of } = context;
	const { channel_id: channel = "", guild_id: guild, channel: facts, member, data, message } = interaction;
	const user = member?.user ?? interaction.user;
	if (!user) return pass(at, context);
	if (facts) directory.learn(facts, guild);
	const location = await directory.locate(channel, guild, rest);
	const sender = senderOf(user, member);
	const transport = transportOf(sender, context);
	if (interaction.type === BUTTON) {
		const { text } = await host.pressed({
			source: sourceIn(location, of, { sender }),
			button: data?.custom_id ?? "",
			platformMessage: message?.id ?? "",
			transport,
			...at(),
		});
		void answers.say(interaction, text, rest);
		return;
	}
	const { refused } = await host.accept({
		source: sourceIn(location, of, { sender, message: interaction.id }),
		platformMessage: interaction.id,
		content: lineOf(interaction),
		mentioned: true,
		sentAt: timeOf(interaction.id),
		transport,
		...at(),
	});
	void answers.close(interaction, refused !== null, rest);
}

async function gone(
	channels: readonly string[],
	reason: string,
	at: At,
	context: EventContext,
): Promise<void> {
	const { host, of, directory, rest } = context;
	for (const id of channels) {
		const location = await directory.locate(id, undefined, rest);
		// A thread is not the chat; its parent channel has its own events.
		if (location.thread === undefined)
			await host.gone({ source: sourceIn({ ...location, isPrivate: false }, of), reason });
	}
	await pass(at, context);
	for (const id of channels) directory.forget(id);
}

function locationOf(
	{ channel_id: channel, guild_id: guild }: Message,
	context: EventContext,
): Promise<Location> {
	return context.directory.locate(channel, guild, context.rest);
}

export function atOf(cursor: CursorNow): At {
	return () => {
		const now = cursor();
		return now === undefined ? {} : { cursor: now };
	};
}

async function pass(at: At, { host }: EventContext): Promise<void> {
	const { cursor } = at();
	if (cursor !== undefined) await host.passed(cursor);
}

function transportOf(
	sender: Sender,
	{ of }: EventContext,
	isWebhook = false,
): NonNullable<Inbound["transport"]> {
	return {
		...((sender.isBot || isWebhook) && { isBot: true }),
		...(sender.roles.length > 0 && { roles: sender.roles }),
		...(of.profile !== undefined && { mayChooseProfile: true }),
	};
}
