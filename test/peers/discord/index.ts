// Discord, as far as a bot can tell: REST, gateway and files, with people who write, press and leave, and a network that fails as told.
import { type Clock, systemClock } from "../../../src/time/index.ts";
import { ApiError } from "./errors.ts";
import { Gateway } from "./gateway.ts";
import { Interactions } from "./interactions.ts";
import { Limiter, type Limits } from "./limits.ts";
import { type CallRecord, type Fault, serveDiscord } from "./server.ts";
import {
	type BotAccount,
	type ChannelRecord,
	EPHEMERAL,
	type Guild,
	type NewMessage,
	type Person,
	roleOf,
	type SentFile,
	type Stored,
	World,
} from "./world.ts";

export type { CallRecord, Fault } from "./server.ts";
export type { ChannelRecord, Person, SentFile } from "./world.ts";

/** A message as the people in a channel see it. */
export interface Shown {
	readonly id: string;
	/** The name of who wrote it. */
	readonly by: string;
	readonly isBot: boolean;
	readonly text: string;
	readonly replyTo: string | null;
	readonly files: readonly SentFile[];
	readonly buttons: readonly (readonly { readonly id: string; readonly label: string }[])[];
	readonly edits: number;
	readonly pings: readonly string[];
	/** The answer to a slash command. */
	readonly isCommand: boolean;
}

export interface DiscordPeerOptions {
	readonly clock?: Clock;
	/** Left out: a free one. */
	readonly port?: number;
	/** Left out: none. */
	readonly limits?: Limits;
	readonly heartbeatMs?: number;
}

export type DiscordPeer = Awaited<ReturnType<typeof createDiscordPeer>>;

/** As Discord has them, roughly: it names them in its answers. */
export const USUAL_LIMITS: Limits = { perRoute: 5, windowMs: 5000, global: 50 };

export async function createDiscordPeer(options: DiscordPeerOptions = {}) {
	const { clock = systemClock, port, limits, heartbeatMs = 41_250 } = options;
	const world = new World(clock);
	const bot = world.addBot("Keryx");
	const planned: { readonly about: RegExp | undefined; readonly fault: Fault }[] = [];
	const listeners = new Set<() => void>();
	const typed: string[] = [];
	const changed = () => {
		for (const listener of [...listeners]) listener();
	};
	const handle = {
		/** Asked about each request that nothing was planned for. */
		faults: (_: CallRecord): Fault | undefined => undefined,
		heartbeatMs,
		/** Where bots are told to connect: a proxy, if there is one. */
		address: "",
	};
	const gatewayUrl = () => handle.address.replace(/^http/, "ws");
	const gateway = new Gateway({
		world,
		heartbeatMs: () => handle.heartbeatMs,
		url: gatewayUrl,
		onChange: changed,
	});
	const interactions = new Interactions(world);
	const limiter = new Limiter(clock, limits);
	const server = await serveDiscord({
		world,
		gateway,
		interactions,
		limiter,
		gatewayUrl,
		faultOf: (call) => {
			const name = `${call.method} ${call.path}`;
			const at = planned.findIndex(({ about }) => about === undefined || about.test(name));
			return at < 0 ? handle.faults(call) : planned.splice(at, 1)[0]?.fault;
		},
		onTyping: ({ id }) => typed.push(id),
		onCall: changed,
		...(port !== undefined && { port }),
	});
	handle.address = server.root;
	world.root = () => handle.address;

	return Object.assign(handle, {
		apiRoot: `${server.root}/api`,
		root: server.root,
		calls: server.calls,
		bot,
		gateway,
		limiter,
		interactions: interactions.seen,
		/** Channels where a bot was seen typing. */
		typed,
		addBot: (name: string) => world.addBot(name),

		user: (name: string): Person => world.person(name),
		dm: (person: Person, of: BotAccount = bot) => world.dm(person, of),
		guild: (name: string) => world.guild(name, [bot]),
		channel: (guild: Guild, name: string, topic?: string) => world.channel(guild, name, topic),
		thread: (parent: ChannelRecord, name: string) => world.thread(parent, name),
		/** The channel with this id, once there is one. */
		channelById: (id: string) => world.channels.get(id),
		/** How to name somebody, so that they are told. */
		mention: ({ id }: Pick<Person, "id">) => `<@${id}>`,
		/** The role that Discord made for a bot: it has the bot's name, and people choose one or the other. */
		mentionRole: (of: BotAccount) => `<@&${roleOf(of)}>`,

		/** Answers the id of the message. */
		say: (by: Person, channel: ChannelRecord, content: string, more: NewMessage = {}): string =>
			world.say(by, channel, { ...more, content }).id,
		/** Forwards a message to another channel; Discord shows it there as it was. */
		forward: (by: Person, from: ChannelRecord, id: string, to: ChannelRecord): string => {
			const { content, attachments, sticker_items } = world.messageJson(world.message(from, id));
			const message = { type: 0, content, attachments, embeds: [], mentions: [], sticker_items };
			return world.say(by, to, { content: "", more: { message_snapshots: [{ message }] } }).id;
		},
		edit: (channel: ChannelRecord, id: string, content: string) => {
			world.edit(channel, id, { content });
		},
		/** Discord adds what a link leads to: an update that no person made. */
		embed: (channel: ChannelRecord, id: string) => {
			world.edit(channel, id, {});
		},
		remove: (channel: ChannelRecord, id: string) => world.remove(channel, id),
		react: (by: Person, channel: ChannelRecord, id: string, emoji: string) =>
			world.react(by, channel, id, emoji),
		/** Presses a button; resolves with what the person is shown. */
		press: (by: Person, channel: ChannelRecord, id: string, customId: string): Promise<string> =>
			interactions.press(by, world.message(channel, id), customId),
		/** Uses a slash command; resolves with what the person is shown. */
		command: (by: Person, channel: ChannelRecord, name: string, text?: string): Promise<string> =>
			interactions.command(by, channel, bot, name, text),

		/** The bot is removed from the server, or comes back. */
		leave: (guild: Guild) => world.leave(guild, bot),
		join: (guild: Guild) => world.join(guild, bot),
		removeChannel: (channel: ChannelRecord) => world.removeChannel(channel),
		/** The person lets the bot write no more. */
		block: (channel: ChannelRecord) => {
			channel.closed = new ApiError(403, 50007, "Cannot send messages to this user");
		},

		/** What stands in the channel, oldest first. */
		shown: (channel: ChannelRecord): Shown[] => [...channel.messages.values()].filter(isPublic).map(shownOf),
		/** The same of bots alone. */
		answers: (channel: ChannelRecord): Shown[] =>
			[...channel.messages.values()]
				.filter(isPublic)
				.map(shownOf)
				.filter(({ isBot }) => isBot),
		/** Messages of people that a bot has said it received, by id, as far as nothing before them is missing. */
		confirmed: (): string[] => [...gateway.received],

		/** What happens to the next request (whose method and path look like this). */
		next: (fault: Fault, about?: RegExp) => {
			planned.push({ about, fault });
		},
		/** Delivers a message once more. */
		redeliver: (channel: ChannelRecord, id: string) => world.announce(world.message(channel, id)),
		revokeToken: () => {
			bot.token = `${bot.token}-another`;
			gateway.disconnect(4004);
		},
		onChange: (listener: () => void) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		disconnect: () => server.disconnect(),
		close: () => server.close(),
	});
}

function isPublic({ flags }: Stored): boolean {
	return (flags & EPHEMERAL) === 0;
}

function shownOf(message: Stored): Shown {
	const { id, author, content, replyTo, files, components, edits, pings, type } = message;
	const rows = components as readonly {
		readonly components: readonly { readonly custom_id: string; readonly label: string }[];
	}[];
	return {
		id,
		by: author.name,
		isBot: author.isBot,
		text: content,
		replyTo,
		files,
		buttons: rows.map((row) => row.components.map(({ custom_id, label }) => ({ id: custom_id, label }))),
		edits,
		pings,
		isCommand: type === 20,
	};
}
