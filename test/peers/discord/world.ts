// Discord as its people see it: servers, channels, threads, private chats, messages. What they do reaches bots as events of the gateway;
// what bots do shows in the channels.
import type { Clock } from "../../../src/time/index.ts";
import { ApiError, invalidForm, unknownChannel, unknownMessage } from "./errors.ts";

export const INTENT = {
	guilds: 1 << 0,
	guildMessages: 1 << 9,
	guildReactions: 1 << 10,
	directMessages: 1 << 12,
	directReactions: 1 << 13,
	messageContent: 1 << 15,
} as const;
/** Of an application: the developer turned the privileged intent on. */
export const CONTENT_FLAG = 1 << 19;
export const EPHEMERAL = 1 << 6;
const TEXT = 0;
const DM = 1;
const THREAD = 11;
const DISCORD_EPOCH = 1_420_070_400_000;
/** How long a nonce is known. */
const NONCE_MS = 5 * 60_000;

export interface Person {
	readonly id: string;
	readonly name: string;
	readonly isBot: boolean;
	/** In every server; left out, none. */
	roles?: readonly string[];
}

export interface BotAccount extends Person {
	token: string;
	/** Whether the developer turned on the intent for the text of messages. */
	mayReadContent: boolean;
	commands: readonly Record<string, unknown>[];
}

export interface Guild {
	readonly id: string;
	readonly name: string;
	readonly channels: ChannelRecord[];
	readonly bots: Set<BotAccount>;
}

export interface ChannelRecord {
	readonly id: string;
	readonly type: typeof TEXT | typeof DM | typeof THREAD;
	readonly name: string;
	readonly topic: string | null;
	readonly guild: Guild | null;
	readonly parent: ChannelRecord | null;
	/** The people of a private chat. */
	readonly people: readonly Person[];
	readonly messages: Map<string, Stored>;
	/** Why bots cannot write here. */
	closed: ApiError | null;
	/** Bots may not read what was said before. */
	hidesHistory: boolean;
	isGone: boolean;
}

export interface SentFile {
	readonly name: string;
	readonly bytes: Uint8Array;
	readonly mediaType?: string;
	/** What Discord says of its size before it is fetched; left out: the truth. */
	readonly statedSize?: number;
}

export interface StoredFile extends SentFile {
	readonly id: string;
}

/** A message as it stands in its channel. */
export interface Stored {
	readonly id: string;
	readonly channel: ChannelRecord;
	readonly author: Person;
	readonly content: string;
	readonly files: readonly StoredFile[];
	readonly replyTo: string | null;
	readonly components: readonly unknown[];
	readonly nonce: string | null;
	readonly flags: number;
	readonly edits: number;
	readonly type: number;
	/** Who was notified. */
	readonly pings: readonly string[];
	/** More of the message, as it stands on the wire. */
	readonly more: Readonly<Record<string, unknown>>;
}

export interface NewMessage {
	readonly content?: string;
	readonly files?: readonly SentFile[];
	readonly replyTo?: string;
	readonly components?: readonly unknown[];
	readonly nonce?: string;
	readonly enforceNonce?: boolean;
	readonly flags?: number;
	readonly pings?: readonly string[];
	readonly more?: Readonly<Record<string, unknown>>;
	readonly type?: number;
}

/** Something happened: for the bots that can see it. */
export interface Happened {
	readonly t: string;
	readonly d: Readonly<Record<string, unknown>>;
	readonly intent: number;
	/** Bots without the intent for text see this in its place. */
	readonly blanked?: Readonly<Record<string, unknown>>;
	readonly to: (bot: BotAccount) => boolean;
}

export class World {
	readonly clock: Clock;
	readonly bots: BotAccount[] = [];
	readonly guilds: Guild[] = [];
	readonly channels = new Map<string, ChannelRecord>();
	readonly files = new Map<string, StoredFile>();
	/** Where files are. */
	root: () => string = () => "";
	tell: (event: Happened) => void = () => {};
	readonly #nonces = new Map<string, { readonly message: Stored; readonly at: number }>();
	#count = 0;
	#lastAt = 0;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** Grows with time, as Discord's ids do: milliseconds, then a counter. */
	snowflake(): string {
		this.#lastAt = Math.max(this.#lastAt, this.clock.now());
		if (++this.#count % 4096 === 0) this.#lastAt++;
		return String((BigInt(this.#lastAt - DISCORD_EPOCH) << 22n) | BigInt(this.#count % 4096));
	}

	person(name: string, isBot = false): Person {
		return { id: this.snowflake(), name, isBot };
	}

	addBot(name: string): BotAccount {
		const { id } = this.person(name, true);
		const token = `${Buffer.from(id).toString("base64url")}.peer.${"x".repeat(27)}${this.bots.length}`;
		const bot: BotAccount = { id, name, isBot: true, token, mayReadContent: true, commands: [] };
		this.bots.push(bot);
		return bot;
	}

	guild(name: string, bots: readonly BotAccount[]): Guild {
		const guild: Guild = { id: this.snowflake(), name, channels: [], bots: new Set() };
		this.guilds.push(guild);
		for (const bot of bots) this.join(guild, bot);
		return guild;
	}

	join(guild: Guild, bot: BotAccount): void {
		guild.bots.add(bot);
		this.tell({
			t: "GUILD_CREATE",
			d: this.guildJson(guild, bot),
			intent: INTENT.guilds,
			to: (one) => one === bot,
		});
	}

	/** The bot is removed from the server. */
	leave(guild: Guild, bot: BotAccount): void {
		guild.bots.delete(bot);
		this.tell({ t: "GUILD_DELETE", d: { id: guild.id }, intent: INTENT.guilds, to: (one) => one === bot });
	}

	channel(guild: Guild, name: string, topic: string | null = null): ChannelRecord {
		const channel = this.#add({ type: TEXT, name, topic, guild, parent: null, people: [] });
		guild.channels.push(channel);
		this.#toGuild(guild, "CHANNEL_CREATE", this.channelJson(channel));
		return channel;
	}

	thread(parent: ChannelRecord, name: string, id?: string): ChannelRecord {
		const { guild } = parent;
		const known = { type: THREAD, name, topic: null, guild, parent, people: [] } as const;
		const thread = this.#add(known, id);
		guild?.channels.push(thread);
		if (guild) this.#toGuild(guild, "THREAD_CREATE", { ...this.channelJson(thread), newly_created: true });
		return thread;
	}

	dm(person: Person, bot: BotAccount): ChannelRecord {
		for (const channel of this.channels.values())
			if (channel.type === DM && [person, bot].every((one) => channel.people.some(({ id }) => id === one.id)))
				return channel;
		return this.#add({ type: DM, name: "", topic: null, guild: null, parent: null, people: [person, bot] });
	}

	removeChannel(channel: ChannelRecord): void {
		channel.isGone = true;
		const t = channel.type === THREAD ? "THREAD_DELETE" : "CHANNEL_DELETE";
		if (channel.guild) this.#toGuild(channel.guild, t, this.channelJson(channel));
		const at = channel.guild?.channels.indexOf(channel) ?? -1;
		if (at >= 0) channel.guild?.channels.splice(at, 1);
	}

	/** Throws as Discord does where there is none, or the bot cannot see it. */
	find(id: string, bot: BotAccount): ChannelRecord {
		const channel = this.channels.get(id);
		if (!channel || channel.isGone) throw unknownChannel();
		if (!this.sees(channel, bot)) throw new ApiError(403, 50001, "Missing Access");
		return channel;
	}

	sees({ guild, people }: ChannelRecord, bot: Person): boolean {
		return guild ? [...guild.bots].some(({ id }) => id === bot.id) : people.some(({ id }) => id === bot.id);
	}

	message(channel: ChannelRecord, id: string): Stored {
		const found = channel.messages.get(id);
		if (!found) throw unknownMessage();
		return found;
	}

	say(author: Person, channel: ChannelRecord, saying: NewMessage): Stored {
		const { nonce } = saying;
		const key = `${author.id} ${channel.id} ${nonce}`;
		const known = nonce === undefined || !saying.enforceNonce ? undefined : this.#nonces.get(key);
		if (known && this.clock.now() - known.at < NONCE_MS && channel.messages.has(known.message.id))
			return this.message(channel, known.message.id);
		const content = (saying.content ?? "").trim();
		checkLength(content);
		const files = (saying.files ?? []).map((file) => this.#store(file));
		const more = saying.more ?? {};
		if (
			content === "" &&
			files.length === 0 &&
			(saying.components ?? []).length === 0 &&
			!("sticker_items" in more) &&
			!("message_snapshots" in more)
		)
			throw new ApiError(400, 50006, "Cannot send an empty message");
		const message: Stored = {
			id: this.snowflake(),
			channel,
			author,
			content,
			files,
			replyTo: saying.replyTo ?? null,
			components: saying.components ?? [],
			nonce: nonce ?? null,
			flags: saying.flags ?? 0,
			edits: 0,
			type: saying.type ?? (saying.replyTo === undefined ? 0 : 19),
			pings: saying.pings ?? mentionsIn(content),
			more,
		};
		channel.messages.set(message.id, message);
		if (nonce !== undefined) this.#nonces.set(key, { message, at: this.clock.now() });
		this.announce(message);
		return message;
	}

	/** Tells the bots of a message. */
	announce(message: Stored): void {
		if ((message.flags & EPHEMERAL) === 0) this.#happened("MESSAGE_CREATE", message, true);
	}

	edit(
		channel: ChannelRecord,
		id: string,
		change: {
			readonly content?: string;
			readonly components?: readonly unknown[];
			readonly files?: readonly SentFile[];
			readonly flags?: number;
		},
	): Stored {
		const before = this.message(channel, id);
		const content = change.content === undefined ? before.content : change.content.trim();
		checkLength(content);
		const after: Stored = {
			...before,
			content,
			components: change.components ?? before.components,
			files: [...before.files, ...(change.files ?? []).map((file) => this.#store(file))],
			edits: before.edits + 1,
			flags: change.flags ?? before.flags,
		};
		channel.messages.set(id, after);
		if ((after.flags & EPHEMERAL) === 0) this.#happened("MESSAGE_UPDATE", after, false);
		return after;
	}

	remove(channel: ChannelRecord, id: string): void {
		const { flags } = this.message(channel, id);
		channel.messages.delete(id);
		if ((flags & EPHEMERAL) !== 0) return;
		this.#toChannel(
			channel,
			"MESSAGE_DELETE",
			{ id, channel_id: channel.id, ...guildId(channel) },
			"messages",
		);
	}

	react(by: Person, channel: ChannelRecord, id: string, emoji: string): void {
		const { author } = this.message(channel, id);
		const d = {
			user_id: by.id,
			channel_id: channel.id,
			message_id: id,
			message_author_id: author.id,
			...guildId(channel),
			...(channel.guild && { member: memberJson(by) }),
			emoji: { id: null, name: emoji },
			burst: false,
			type: 0,
		};
		this.#toChannel(channel, "MESSAGE_REACTION_ADD", d, "reactions");
	}

	messageJson(message: Stored, isNew = false): Record<string, unknown> {
		const { channel, author, replyTo, nonce } = message;
		const quoted = replyTo === null ? undefined : channel.messages.get(replyTo);
		return {
			id: message.id,
			type: message.type,
			channel_id: channel.id,
			author: userJson(author),
			content: message.content,
			timestamp: timeOf(message.id),
			edited_timestamp: message.edits > 0 ? new Date(this.clock.now()).toISOString() : null,
			tts: false,
			mention_everyone: message.pings.includes("everyone"),
			mentions: message.pings.flatMap((id) => {
				const who = this.named(id);
				return who ? [userJson(who)] : [];
			}),
			mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, role]) => role),
			attachments: message.files.map((file) => this.#fileJson(file, channel)),
			embeds: [],
			pinned: false,
			flags: message.flags,
			components: message.components,
			// Told when it is made; the history does not have it.
			...(isNew && nonce !== null && { nonce }),
			...(replyTo !== null && {
				message_reference: { type: 0, message_id: replyTo, channel_id: channel.id, ...guildId(channel) },
				referenced_message: quoted ? this.messageJson({ ...quoted, replyTo: null }) : null,
			}),
			...message.more,
		};
	}

	channelJson(channel: ChannelRecord): Record<string, unknown> {
		const { id, type, name, topic, parent, people, messages } = channel;
		const common = { id, type, flags: 0, last_message_id: [...messages.keys()].at(-1) ?? null };
		if (type === DM) return { ...common, recipients: people.filter(({ isBot }) => !isBot).map(userJson) };
		if (type === THREAD)
			return {
				...common,
				...guildId(channel),
				name,
				parent_id: parent?.id ?? null,
				owner_id: id,
				rate_limit_per_user: 0,
				message_count: messages.size,
				member_count: 1,
				thread_metadata: {
					archived: false,
					auto_archive_duration: 1440,
					archive_timestamp: timeOf(id),
					locked: false,
				},
			};
		return {
			...common,
			...guildId(channel),
			name,
			topic,
			parent_id: null,
			position: 0,
			nsfw: false,
			rate_limit_per_user: 0,
			permission_overwrites: [],
		};
	}

	guildJson(guild: Guild, bot: BotAccount): Record<string, unknown> {
		const { id, name, channels } = guild;
		const of = (type: number) =>
			channels.filter((one) => one.type === type).map((one) => this.channelJson(one));
		return {
			id,
			name,
			icon: null,
			owner_id: id,
			verification_level: 0,
			default_message_notifications: 0,
			explicit_content_filter: 0,
			afk_timeout: 300,
			roles: rolesJson(guild, bot),
			emojis: [],
			stickers: [],
			features: [],
			mfa_level: 0,
			system_channel_flags: 0,
			premium_tier: 0,
			preferred_locale: "en-US",
			nsfw_level: 0,
			premium_progress_bar_enabled: false,
			joined_at: new Date(this.clock.now()).toISOString(),
			large: false,
			unavailable: false,
			member_count: 2,
			voice_states: [],
			members: [{ ...memberJson(bot), user: userJson(bot) }],
			presences: [],
			stage_instances: [],
			guild_scheduled_events: [],
			channels: of(TEXT),
			threads: of(THREAD),
		};
	}

	named(id: string): Person | undefined {
		const bot = this.bots.find((one) => one.id === id);
		if (bot) return bot;
		for (const { messages, people } of this.channels.values()) {
			const found =
				people.find((one) => one.id === id) ??
				[...messages.values()].find(({ author }) => author.id === id)?.author;
			if (found) return found;
		}
		return undefined;
	}

	#add(
		known: Pick<ChannelRecord, "type" | "name" | "topic" | "guild" | "parent" | "people">,
		id = this.snowflake(),
	): ChannelRecord {
		const channel = { ...known, id, messages: new Map(), closed: null, hidesHistory: false, isGone: false };
		this.channels.set(id, channel);
		return channel;
	}

	#store(file: SentFile): StoredFile {
		const stored = { ...file, id: this.snowflake() };
		this.files.set(stored.id, stored);
		return stored;
	}

	#fileJson({ id, name, bytes, mediaType, statedSize }: StoredFile, { id: channel }: ChannelRecord): object {
		const url = `${this.root()}/attachments/${channel}/${id}/${encodeURIComponent(name)}?ex=1&is=2&hm=3`;
		const size = statedSize ?? bytes.length;
		return {
			id,
			filename: name,
			size,
			url,
			proxy_url: url,
			...(mediaType !== undefined && { content_type: mediaType }),
		};
	}

	#happened(t: string, message: Stored, isNew: boolean): void {
		const { channel, author, pings } = message;
		const d = {
			...this.messageJson(message, isNew),
			channel_type: channel.type,
			...guildId(channel),
			...(channel.guild && !author.isBot && { member: memberJson(author) }),
		};
		const kind = channel.guild ? INTENT.guildMessages : INTENT.directMessages;
		const blanked = { ...d, content: "", attachments: [], components: [], embeds: [] };
		for (const bot of this.bots) {
			const isOpen = !channel.guild || author.id === bot.id || pings.includes(bot.id);
			const to = (one: BotAccount) => one === bot && this.sees(channel, bot);
			this.tell({ t, d, intent: kind, to, ...(!isOpen && { blanked }) });
		}
	}

	#toChannel(
		channel: ChannelRecord,
		t: string,
		d: Record<string, unknown>,
		what: "messages" | "reactions",
	): void {
		const inGuild = what === "messages" ? INTENT.guildMessages : INTENT.guildReactions;
		const inDm = what === "messages" ? INTENT.directMessages : INTENT.directReactions;
		this.tell({ t, d, intent: channel.guild ? inGuild : inDm, to: (bot) => this.sees(channel, bot) });
	}

	#toGuild(guild: Guild, t: string, d: Record<string, unknown>): void {
		this.tell({ t, d, intent: INTENT.guilds, to: (bot) => guild.bots.has(bot) });
	}
}

export function userJson({ id, name, isBot }: Person): Record<string, unknown> {
	return {
		id,
		username: name.toLowerCase().replace(/\W/g, "_"),
		discriminator: isBot ? "0001" : "0",
		global_name: isBot ? null : name,
		avatar: null,
		...(isBot && { bot: true }),
	};
}

/** Everybody's, and the one that Discord makes for a bot that is added with rights. */
export function rolesJson({ id }: Guild, bot: BotAccount): readonly object[] {
	const role = { color: 0, hoist: false, position: 0, permissions: "8", mentionable: false, flags: 0 };
	return [
		{ ...role, id, name: "@everyone", managed: false },
		{ ...role, id: roleOf(bot), name: bot.name, managed: true, tags: { bot_id: bot.id } },
	];
}

export function roleOf({ id }: Pick<BotAccount, "id">): string {
	return `${id}7`;
}

export function memberJson({ roles = [] }: Person): Record<string, unknown> {
	return {
		nick: null,
		roles,
		joined_at: "2026-01-01T00:00:00.000Z",
		deaf: false,
		mute: false,
		flags: 0,
		permissions: "8",
	};
}

export function guildId({ guild }: ChannelRecord): { readonly guild_id?: string } {
	return guild ? { guild_id: guild.id } : {};
}

/** Those that would be notified, if nothing forbids it. */
export function mentionsIn(content: string): string[] {
	const people = [...content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id as string);
	return [...new Set([...people, ...(/@everyone|@here/.test(content) ? ["everyone"] : [])])];
}

function checkLength(content: string): void {
	if (content.length > 2000)
		throw invalidForm("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.");
}

function timeOf(snowflake: string): string {
	return new Date(Number(BigInt(snowflake) >> 22n) + DISCORD_EPOCH).toISOString();
}
