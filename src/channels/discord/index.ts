// Discord: a channel on discord.js's REST and our own gateway connection.
// The library's connection and retries are not used: they count an event as received before Keryx has committed it.
// Never here: a rule about who may speak, or anything of another platform.

import { platformTraits } from "../../domain/index.ts";
import type { Channel, ChannelHost, ChannelTraits, Outgoing, SendResult } from "../../gateway/index.ts";
import { leaseLost } from "../lease.ts";
import type { PlatformOptions } from "../options.ts";
import { Stumbles } from "../stumbles.ts";
import { Transport } from "../transport.ts";
import { Backfill, type Gap } from "./backfill.ts";
import type { Cursor } from "./cursor.ts";
import { change, channelOf, deliver, isReceipt } from "./deliver.ts";
import { Directory } from "./directory.ts";
import {
	atOf,
	type CursorNow,
	type Dispatch,
	type EventContext,
	type GuildFacts,
	handIn,
	handInMessage,
	laneOf,
	learn,
	type Message,
	markOf,
} from "./events.ts";
import type { Work } from "./intake.ts";
import { Answers, ARGUMENT, type Interaction, isAnswerable } from "./interactions.ts";
import { type Connection, Line, type Reading } from "./line.ts";
import { lookUp } from "./lookup.ts";
import { API_ROOT } from "./names.ts";
import { goneReason, outcomeOf, reasonOf } from "./outcome.ts";
import { Pace } from "./pace.ts";
import { KIND, openRest } from "./rest.ts";
import { SentMessages } from "./sent.ts";
import { isAfter } from "./snowflake.ts";
import { Startup } from "./startup.ts";

export { identifyDiscord } from "./identify.ts";

const CALL_MS = 30_000;
/** Below the outbox's limit for a delivery. */
const UPLOAD_MS = 55_000;
const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };

export interface DiscordOptions extends PlatformOptions {
	/** An answer in a server gets its own thread. */
	readonly threadReplies?: boolean;
	/** Channels where every message is for the agent. */
	readonly freeChats?: readonly string[];
	/** The pause after a forgotten session: this long to five times as long. */
	readonly voidPauseMs?: number;
}

export const DISCORD_TRAITS: ChannelTraits = {
	...platformTraits("discord"),
	shows: {
		attachments: true,
		buttons: true,
		edit: true,
		typing: true,
		threads: true,
		idempotentSend: true,
		lookup: true,
		drafts: false,
	},
};

export function createDiscordChannel(options: DiscordOptions): Channel {
	const {
		name,
		account = "",
		clock,
		log,
		random = Math.random,
		threadReplies = false,
		freeChats = [],
	} = options;
	const { aliveMs = 60_000, downloadMs = 60_000 } = options;
	const { firstPauseMs = 500, longestPauseMs = 30_000, voidPauseMs = 1000 } = options;
	const apiRoot = (options.apiRoot ?? API_ROOT).replace(/\/+$/, "");
	const of = { account, ...(options.profile !== undefined && { profile: options.profile }) };
	const note = (message: string, error?: unknown) => log(`${name}: ${message}`, error);
	const directory = new Directory();
	const sent = new SentMessages();
	const answers = new Answers(note);
	const startup = new Startup(clock);
	const stumbles = new Stumbles();
	const pace = new Pace(clock);
	let host: ChannelHost | undefined;

	const transport = new Transport({
		clock,
		deadlineOf: (kind) => (kind === KIND.upload ? UPLOAD_MS : CALL_MS),
	});
	const isStopping = () => line.isStopping;
	const backfill = new Backfill({ clock, random, log: note, isStopping, firstPauseMs, longestPauseMs });
	const contextOf = ({ rest, me }: Connection): EventContext => {
		if (!host) throw new Error("stopped");
		const files = { transport, apiRoot, host, clock, deadlineMs: downloadMs, isStopping };
		return {
			host,
			rest,
			me,
			of,
			directory,
			files,
			answers,
			opensThread: (location, isMentioned) =>
				threadReplies &&
				!location.isPrivate &&
				location.thread === undefined &&
				(isMentioned || freeChats.includes(location.chat)),
		};
	};

	/** Skips events that can never be accepted. */
	const orPassOver = async (event: string, cursor: CursorNow, take: () => Promise<void>) => {
		try {
			await take();
		} catch (error) {
			if (!stumbles.isHopeless(event, error)) throw error;
			stumbles.forget(event);
			note(`an event from Discord cannot be processed (${event})`, error);
			const at = cursor();
			if (at !== undefined) await host?.passed(at);
		}
	};
	const caughtUp = (channel: string, gap: Gap, guild: string | undefined, connection: Connection): Work => ({
		lane: channel,
		takesCursor: false,
		run: () =>
			backfill.channel(channel, gap, connection.rest, async (message, cursor) => {
				const d: Message = { ...message, ...(guild !== undefined && { guild_id: guild }) };
				if (laneOf({ t: "MESSAGE_CREATE", s: 0, d }, connection.me) === null) return;
				const isPerson = message.author.bot !== true && message.webhook_id === undefined;
				const member =
					guild !== undefined && isPerson
						? await backfill.member(guild, message.author.id, connection.rest)
						: undefined;
				await orPassOver(`message ${message.id}`, cursor, () =>
					handInMessage({ ...d, ...(member && { member }) }, atOf(cursor), contextOf(connection)),
				);
			}),
	});
	/** What a new session after a gap must read first. */
	const readStart = (
		{ d }: Dispatch,
		gap: Gap,
		{ session, privateChats }: Cursor,
		connection: Connection,
	): Reading => {
		backfill.begin();
		const { guilds } = d as { readonly guilds: readonly { readonly id: string }[] };
		startup.expect(
			session.id,
			guilds.map(({ id }) => id),
		);
		return {
			works: [
				...privateChats.map((chat) => caughtUp(chat, gap, undefined, connection)),
				{ lane: "", takesCursor: false, run: () => startup.wait() },
			],
		};
	};
	const readGuild = ({ d }: Dispatch, gap: Gap, connection: Connection): Reading => {
		const { id, channels = [], threads = [] } = d as GuildFacts;
		const news = [...channels, ...threads].filter(
			({ id: channel, last_message_id: last }) => last != null && isAfter(last, gap.after(channel)),
		);
		let left = news.length;
		startup.begin(id);
		if (left === 0) startup.read(id);
		return {
			works: news.map((channel) => {
				const work = caughtUp(channel.id, gap, id, connection);
				return {
					...work,
					run: async (cursor) => {
						await work.run(cursor);
						if (--left === 0) startup.read(id);
					},
				};
			}),
		};
	};
	const read = (dispatch: Dispatch, connection: Connection, gap: Gap | null, position: Cursor): Reading => {
		const { me, rest } = connection;
		const { t, s, d } = dispatch;
		learn(dispatch, me, directory, sent);
		if (t === "READY" && gap !== null) return readStart(dispatch, gap, position, connection);
		if (t === "GUILD_CREATE" && gap !== null && startup.isMissing((d as GuildFacts).id))
			return readGuild(dispatch, gap, connection);
		const lane = laneOf(dispatch, me);
		const mark = markOf(dispatch);
		if (lane === null) return { works: [], ...(mark && { mark }) };
		if (t === "INTERACTION_CREATE" && isAnswerable(d as Interaction)) answers.putOff(d as Interaction, rest);
		const run = (cursor: CursorNow) =>
			orPassOver(`${t} ${position.session.id} ${s}`, cursor, () =>
				handIn(dispatch, cursor, contextOf(connection)),
			);
		return { works: [{ lane, takesCursor: true, run }], ...(mark && { mark }) };
	};

	const line = new Line({
		clock,
		random,
		transport,
		aliveMs,
		firstPauseMs,
		longestPauseMs,
		voidPauseMs,
		log: note,
		token: options.token,
		open: (token) => openRest(token, apiRoot, transport),
		read,
		store: async (cursor) => host?.passed(cursor),
		onConnected: (connection) => void showCommands(connection),
		onEnded: () => {
			startup.end();
			backfill.end();
		},
	});

	let shownCommands = "";
	const showCommands = async ({ rest, application }: Connection) => {
		const commands = (host?.commands() ?? [])
			.filter(({ name: command }) => /^[-_a-z0-9]{1,32}$/.test(command))
			.slice(0, 100)
			.map(({ name: command, description }) => ({
				name: command,
				description: description.slice(0, 100) || command,
				type: 1,
				// In servers and private chats with the bot; not in other people's chats, where nobody would see the answer.
				contexts: [0, 1],
				options: [{ type: 3, name: ARGUMENT, description: "what the command is about", required: false }],
			}));
		const wanted = JSON.stringify([application, commands]);
		if (commands.length === 0 || wanted === shownCommands) return;
		shownCommands = wanted;
		try {
			await rest.put(`/applications/${application}/commands`, { body: commands });
		} catch (error) {
			shownCommands = "";
			if (!line.isStopping) note("the slash commands could not be set", reasonOf(error));
		}
	};

	/** Waits for its turn, without effect on Discord; then it is sent, if the line still works. */
	const inTurn = async (
		{ destination, plain }: Outgoing,
		what: "message" | "change",
		go: (connection: Connection) => Promise<SendResult>,
	): Promise<SendResult> => {
		if (!line.connection) return NOT_CONNECTED;
		const turn = pace.take(what);
		if ("askAfterMs" in turn)
			return { kind: "retry", afterMs: turn.askAfterMs, reason: "Discord's rate limit" };
		if (turn.afterMs > 0) await new Promise<void>((resolve) => void clock.after(turn.afterMs, resolve));
		const { connection } = line;
		if (!connection) return NOT_CONNECTED;
		const lost = leaseLost(host);
		if (lost) return lost;
		try {
			return await go(connection);
		} catch (error) {
			line.suspect(error);
			const reason = goneReason(error);
			// A thread may be gone while its channel is not.
			if (reason !== null && destination.threadId === undefined)
				await host?.gone({
					source: {
						platform: "discord",
						account,
						chat_id: destination.chatId,
						chat_type: destination.group ? "channel" : "dm",
						...(destination.userId !== undefined && { user_id: destination.userId }),
					},
					reason,
				});
			return outcomeOf(error, plain);
		}
	};

	return {
		name,
		platform: "discord",
		account,
		traits: DISCORD_TRAITS,
		start: async (given) => {
			host = given;
			await line.start(await given.cursor());
		},
		stop: async () => {
			await line.stop();
			transport.close();
		},
		send: (outgoing) => inTurn(outgoing, "message", ({ rest }) => deliver(outgoing, { rest, sent })),
		edit: (receipt, outgoing) => {
			if (!line.connection) return Promise.resolve(NOT_CONNECTED);
			if (!isReceipt(receipt))
				return Promise.resolve({ kind: "refused", reason: "this receipt is not from Discord" });
			return inTurn(outgoing, "change", ({ rest }) => change(receipt, outgoing, { rest, sent }));
		},
		typing: async (destination) => {
			if (!line.connection || !pace.fits()) return;
			await line.connection.rest.post(`/channels/${channelOf(destination)}/typing`);
		},
		lookup: async (id, destination, madeAt) => {
			const { connection } = line;
			if (!connection) return { kind: "unknown" };
			return lookUp(id, destination, madeAt, { rest: connection.rest, me: connection.me, sent, clock });
		},
		health: () => line.health(),
	};
}
