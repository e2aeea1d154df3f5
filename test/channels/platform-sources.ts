// Who speaks, as each platform tells it. The rights matrix tries every row through a whole gateway: a platform is one more entry.
import type { User } from "grammy/types";
import type { Config } from "../../src/config/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { createDiscordPeer, type ChannelRecord as DiscordChannel } from "../peers/discord/index.ts";
import { IrcServer, type MadeUp, maskOf } from "../peers/irc/index.ts";
import { createMatrixPeer, type MatrixRoom } from "../peers/matrix/index.ts";
import { createSlackPeer, type ChannelRecord as SlackChannel } from "../peers/slack/index.ts";
import { type ChatRecord, createTelegramPeer } from "../peers/telegram/index.ts";
import { startDovecot } from "../support/dovecot.ts";
import { openPostOffice, type Written } from "../support/post-office.ts";
import { discordChannelOn } from "./discord-scene.ts";
import { emailChannelOn } from "./email-scene.ts";
import { ircChannelOn } from "./irc-scene.ts";
import { matrixChannelOn } from "./matrix-scene.ts";
import { channelOn as slackChannelOn } from "./slack-scene.ts";
import { channelOn } from "./telegram-scene.ts";
import { xmppSources } from "./xmpp-sources.ts";

type Auth = NonNullable<Config["auth"][string]>;

export interface Way {
	write(text: string): void;
	/** Writes a message, which the agent answers. Where there is one, `write` changes that message. */
	first?(): void;
}

export interface PlatformSources {
	readonly channel: Channel;
	/** With an owner, a member, a guest and a bot that is an owner. */
	readonly auth: Partial<Auth>;
	/** How many updates the channel has to hand in before anybody writes. */
	readonly before: number;
	/** Whether the channel says when it passes over an update. Others move their cursors whenever they like. */
	readonly passes: boolean;
	/** Whether everything is there that a way needs of the platform. */
	isReady(): boolean;
	/** By what they are in words. */
	readonly ways: Readonly<Record<string, Way>>;
	/** What Keryx shows in the chat of a way. */
	shown(way: string): readonly string[];
	close(): Promise<void>;
}

export const PLATFORM_SOURCES: Readonly<Record<string, () => Promise<PlatformSources>>> = {
	telegram: telegramSources,
	discord: discordSources,
	slack: slackSources,
	irc: ircSources,
	email: emailSources,
	xmpp: xmppSources,
	matrix: matrixSources,
};

/** The ways of a platform, each with the chat that it is in. */
export class Ways<Chat> {
	readonly ways: Record<string, Way> = {};
	readonly #chats = new Map<string, Chat>();

	add(words: string, chat: Chat, write: (text: string) => unknown, first?: () => unknown): void {
		this.#chats.set(words, chat);
		this.ways[words] = {
			write: (text) => void write(text),
			...(first && { first: () => void first() }),
		};
	}

	chat(words: string): Chat {
		return this.#chats.get(words) as Chat;
	}
}

const NAMES = { owner: "Olga", member: "Max", guest: "Gina", stranger: "Sam" } as const;

export function everybody<Person>(
	user: (name: string) => Person,
): Readonly<Record<keyof typeof NAMES, Person>> & Readonly<Record<string, Person>> {
	const { owner, member, guest, stranger } = NAMES;
	return { owner: user(owner), member: user(member), guest: user(guest), stranger: user(stranger) };
}

interface Listed {
	readonly id: string | number;
}

export function authOf(
	{ owner, member, guest }: { readonly owner: Listed; readonly member: Listed; readonly guest: Listed },
	...owners: readonly Listed[]
): Partial<Auth> {
	return {
		allow_bots: true,
		pairing: false,
		allow: [
			{ id: String(owner.id), role: "owner" },
			{ id: String(member.id), role: "member" },
			{ id: String(guest.id), role: "guest" },
			...owners.map(({ id }) => ({ id: String(id), role: "owner" as const })),
		],
	};
}

async function telegramSources(): Promise<PlatformSources> {
	const peer = await createTelegramPeer();
	const people = everybody((name) => peer.user(name));
	const { owner, stranger } = people;
	const robot: User = { ...peer.user("Robot"), is_bot: true };
	const name = `@${peer.bot.user.username}`;
	const group = peer.supergroup("Team");
	const strange = peer.supergroup("Strange");
	const forum = peer.forum("Forum");
	const topic = peer.topic(forum, "Plans", owner);
	const news = peer.channel("News");
	const anonymous: User = { id: 1_087_968_824, is_bot: true, first_name: "Group" };
	const gif = { id: 5, is_bot: true, first_name: "Gif", username: "gif_bot" };
	const all = new Ways<ChatRecord>();
	for (const [role, who] of Object.entries(people)) {
		all.add(`${role}, private chat`, peer.dm(who), (text) => peer.say(who, peer.dm(who), text));
		all.add(`${role}, group`, group, (text) => peer.say(who, group, `${text}${name}`));
		all.add(`${role}, topic of a forum`, forum, (text) => peer.say(who, forum, text, { thread: topic }));
	}
	all.add("owner, group that a stranger made", strange, (text) => peer.say(owner, strange, `${text}${name}`));
	all.add("owner, forwarding somebody's words", peer.dm(owner), (text) =>
		peer.say(owner, peer.dm(owner), text, {
			more: { forward_origin: { type: "user", date: 1, sender_user: stranger } },
		}),
	);
	all.add("owner, words of an inline bot", peer.dm(owner), (text) =>
		peer.say(owner, peer.dm(owner), text, { more: { via_bot: gif } }),
	);
	all.add("owner, command for another bot", group, (text) => peer.say(owner, group, `${text}@other_bot`));
	all.add("stranger with the owner's names", group, (text) =>
		peer.say({ ...stranger, first_name: "Olga", username: owner.username ?? "" }, group, `${text}${name}`),
	);
	all.add("anonymous administrator of a group", group, (text) =>
		peer.say(anonymous, group, `${text}${name}`, { more: { sender_chat: group.chat } }),
	);
	all.add("a channel, in a group", group, (text) =>
		peer.say(anonymous, group, `${text}${name}`, { more: { sender_chat: news.chat } }),
	);
	all.add("a channel's own post", news, (text) => peer.say(owner, news, text));
	all.add("a bot listed as an owner", group, (text) => peer.say(robot, group, `${text}${name}`));
	return {
		channel: channelOn(peer),
		auth: authOf(people, robot),
		// The topic was opened.
		before: 1,
		passes: true,
		isReady: () => true,
		ways: all.ways,
		shown: (words) => peer.answers(all.chat(words)).map(({ text }) => text),
		close: () => peer.close(),
	};
}

async function discordSources(): Promise<PlatformSources> {
	const peer = await createDiscordPeer();
	const people = everybody((name) => peer.user(name));
	const { owner, stranger } = people;
	const robot = { ...peer.user("Robot"), isBot: true };
	// Without the mark of a bot: that it came through a webhook is enough.
	const webhook = peer.user("Hook");
	const impostor = { ...peer.user(owner.name), isBot: true };
	const garden = peer.guild("Garden");
	const channel = peer.channel(garden, "plans");
	const thread = peer.thread(channel, "Tomatoes");
	const strange = peer.channel(peer.guild("Strange"), "general");
	const name = peer.mention(peer.bot);
	const all = new Ways<DiscordChannel>();
	for (const [role, who] of Object.entries(people)) {
		all.add(`${role}, private chat`, peer.dm(who), (text) => peer.say(who, peer.dm(who), text));
		all.add(`${role}, channel`, channel, (text) => peer.say(who, channel, `${name} ${text}`));
		all.add(`${role}, thread`, thread, (text) => peer.say(who, thread, `${name} ${text}`));
		all.add(`${role}, slash command`, channel, (text) => peer.command(who, channel, text.slice(1)));
	}
	all.add("owner, server that a stranger made", strange, (text) =>
		peer.say(owner, strange, `${name} ${text}`),
	);
	all.add("owner, forwarding somebody's words", peer.dm(owner), (text) =>
		peer.say(owner, peer.dm(owner), "", { more: { message_snapshots: [{ message: { content: text } }] } }),
	);
	for (const [where, chat, written] of [
		["private chat", peer.dm(owner), ""],
		["channel", channel, `${name} `],
	] as const) {
		let id = "";
		all.add(
			`owner, ${where}, changing a message into a command`,
			chat,
			(text) => peer.edit(chat, id, `${written}${text}`),
			() => {
				id = peer.say(owner, chat, `${written}hello`);
			},
		);
	}
	all.add("stranger with the owner's names", channel, (text) =>
		peer.say({ ...stranger, name: owner.name }, channel, `${name} ${text}`),
	);
	all.add("a webhook with the owner's names", channel, (text) =>
		peer.say(impostor, channel, `${name} ${text}`, { more: { webhook_id: impostor.id } }),
	);
	all.add("a webhook listed as an owner", channel, (text) =>
		peer.say(webhook, channel, `${name} ${text}`, { more: { webhook_id: webhook.id } }),
	);
	all.add("a bot listed as an owner, channel", strange, (text) =>
		peer.say(robot, strange, `${name} ${text}`),
	);
	all.add("a bot listed as an owner, thread", thread, (text) => peer.say(robot, thread, `${name} ${text}`));
	return {
		channel: discordChannelOn(peer),
		auth: authOf(people, robot, webhook),
		before: 0,
		passes: false,
		isReady: () => peer.bot.commands.length > 0,
		ways: all.ways,
		shown: (words) =>
			peer
				.answers(all.chat(words))
				.filter(({ by, isCommand }) => by === peer.bot.name && !isCommand)
				.map(({ text }) => text),
		close: () => peer.close(),
	};
}

async function slackSources(): Promise<PlatformSources> {
	// Nothing is delivered twice, however slow the machine.
	const peer = await createSlackPeer({ ackMs: 3_600_000 });
	const people = everybody((name) => peer.user(name));
	const { owner, stranger } = people;
	const robot = peer.bot("Robot");
	const impostor = peer.user(owner.name);
	const slackbot = { id: "USLACKBOT", name: "Slackbot" };
	const dms = new Map(Object.values(people).map((who) => [who, peer.dm(who)] as const));
	const dmOf = (who: (typeof people)["owner"]) => dms.get(who) as SlackChannel;
	const channel = peer.channel("plans");
	const closed = peer.privateChannel("quiet");
	const group = peer.groupDm(...Object.values(people));
	const thread = peer.say(owner, channel, "Tomatoes", { silent: true });
	const all = new Ways<SlackChannel>();
	for (const [role, who] of Object.entries(people)) {
		all.add(`${role}, private chat`, dmOf(who), (text) => peer.say(who, dmOf(who), text));
		all.add(`${role}, channel`, channel, (text) => peer.say(who, channel, `${peer.mention} ${text}`));
		all.add(`${role}, thread`, channel, (text) =>
			peer.say(who, channel, `${peer.mention} ${text}`, { thread }),
		);
		all.add(`${role}, group of people`, group, (text) => peer.say(who, group, `${peer.mention} ${text}`));
		all.add(`${role}, slash command`, channel, (text) => peer.command(who, channel, "/keryx", text.slice(1)));
	}
	all.add("owner, private channel", closed, (text) => peer.say(owner, closed, `${peer.mention} ${text}`));
	/** An event that nobody in the peer's workspace can cause. What was said silently lends it its time. */
	const told = (chat: SlackChannel, event: Readonly<Record<string, unknown>>) => {
		const ts = peer.say(stranger, chat, "", { silent: true });
		peer.tell({ type: "message", ts, event_ts: ts, channel: chat.id, channel_type: chat.kind, ...event });
	};
	all.add("owner, forwarding somebody's words", dmOf(owner), (text) =>
		told(dmOf(owner), {
			user: owner.id,
			text: "",
			attachments: [{ is_share: true, author_name: stranger.name, text }],
		}),
	);
	for (const [where, chat, written] of [
		["private chat", dmOf(owner), ""],
		["channel", channel, `${peer.mention} `],
	] as const) {
		let ts = "";
		all.add(
			`owner, ${where}, changing a message into a command`,
			chat,
			(text) => peer.edit(chat, ts, `${written}${text}`),
			() => {
				ts = peer.say(owner, chat, `${written}hello`);
			},
		);
	}
	all.add("stranger with the owner's names", channel, (text) =>
		peer.say(impostor, channel, `${peer.mention} ${text}`),
	);
	all.add("Slackbot", channel, (text) => peer.say(slackbot, channel, `${peer.mention} ${text}`));
	all.add("an app that writes in the owner's name", channel, (text) =>
		peer.say({ ...owner, botId: "B0900" }, channel, `${peer.mention} ${text}`),
	);
	all.add("a bot listed as an owner, channel", closed, (text) =>
		peer.say(robot, closed, `${peer.mention} ${text}`),
	);
	all.add("a bot listed as an owner, group of people", group, (text) =>
		peer.say(robot, group, `${peer.mention} ${text}`),
	);
	const integration = (bot: string, username: string) => (text: string) =>
		told(channel, {
			subtype: "bot_message",
			bot_id: bot,
			username,
			text: `${peer.mention} ${text}`,
		});
	all.add("an integration with the owner's names", channel, integration("B0901", owner.name));
	all.add("an integration listed as an owner", channel, integration("B0902", "Hook"));
	return {
		channel: slackChannelOn(peer),
		auth: authOf(people, robot, { id: "B0902" }),
		before: 0,
		passes: false,
		isReady: () => true,
		ways: all.ways,
		shown: (words) => peer.answers(all.chat(words)).map(({ text }) => text),
		close: () => peer.close(),
	};
}

async function ircSources(): Promise<PlatformSources> {
	const peer = await IrcServer.create({ capabilities: ["message-tags", "account-tag", "server-time"] });
	const loggedIn = everybody((name): MadeUp & Listed => {
		const nick = name.toLowerCase();
		return { nick, user: `~${nick}`, host: "home", account: nick, id: nick };
	});
	const { owner } = loggedIn;
	const robot: MadeUp & Listed = { ...owner, nick: "robot", account: "robot", isBot: true, id: "robot" };
	const listed: MadeUp = { nick: "olaf", user: "~olaf", host: "home" };
	const room = "#plans";
	const all = new Ways<string>();
	for (const [role, who] of Object.entries(loggedIn)) {
		all.add(`${role} by account, private chat`, who.nick, (text) => peer.say(who, "keryx", text));
		all.add(`${role} by account, channel`, room, (text) => peer.say(who, room, `keryx: ${text}`));
	}
	all.add("owner by account with another nick, private chat", "away", (text) =>
		peer.say({ ...owner, nick: "away" }, "keryx", text),
	);
	all.add("owner by nick, user and host, private chat", listed.nick, (text) =>
		peer.say(listed, "keryx", text),
	);
	all.add("owner by nick, user and host, channel", room, (text) => peer.say(listed, room, `keryx: ${text}`));
	all.add("owner by account, in an action", owner.nick, (text) =>
		peer.say(owner, "keryx", `\x01ACTION ${text}\x01`),
	);
	all.add("stranger with an owner's nick, not logged in", owner.nick, (text) =>
		peer.say({ nick: owner.nick, user: owner.user, host: owner.host }, "keryx", text),
	);
	all.add("stranger with an owner's nick, logged in as themselves", owner.nick, (text) =>
		peer.say({ ...owner, account: "sam" }, "keryx", text),
	);
	all.add("stranger with a listed nick from another host", listed.nick, (text) =>
		peer.say({ ...listed, host: "elsewhere" }, "keryx", text),
	);
	all.add("a bot listed as an owner, channel", room, (text) => peer.say(robot, room, `keryx: ${text}`));
	return {
		channel: ircChannelOn(peer.port, { join: [room] }),
		auth: authOf(loggedIn, robot, { id: maskOf(listed) }),
		before: 0,
		passes: false,
		isReady: () => peer.heard.some((line) => line.startsWith("JOIN")),
		ways: all.ways,
		// An answer is several messages here; one line of each kind of answer counts.
		shown: (words) =>
			peer.sent
				.filter(({ target, text }) => target === all.chat(words) && TELLING.test(text))
				.map(({ text }) => text),
		close: () => peer.close(),
	};
}

async function emailSources(): Promise<PlatformSources> {
	const dovecot = await startDovecot();
	const office = await openPostOffice(dovecot);
	const people = everybody((name): Listed & { readonly id: string } => ({
		id: `${name.toLowerCase()}@home.test`,
	}));
	const { owner, stranger } = people;
	const robot = { id: "robot@home.test" };
	const [bot, other] = ["keryx@keryx.test", "other@home.test"];
	const all = new Ways<string>();
	const add = (words: string, from: string, more: Partial<Written> = {}) =>
		all.add(words, from, (text) => office.write({ from, to: bot, text, ...more }));
	for (const [role, { id }] of Object.entries(people)) {
		add(`${role}, private mail`, id);
		add(`${role}, mail that others get, too`, id, { cc: [other] });
	}
	const fails = "dmarc=fail header.from=home.test";
	const forged = { "Authentication-Results": "mx.keryx.test; dmarc=pass header.from=home.test" };
	add("owner, in capitals", owner.id.toUpperCase());
	add("owner, signed by another domain", owner.id, { checked: "dkim=pass header.d=evil.test" });
	add("somebody who writes the owner's address", owner.id, { checked: fails });
	add("somebody who writes the owner's address and a proof of it", owner.id, {
		checked: fails,
		headers: forged,
	});
	add("owner, not checked by the receiving server", owner.id, { checked: null });
	add("owner, automatic mail", owner.id, { headers: { "Auto-Submitted": "auto-generated" } });
	add("owner, through a list", owner.id, { headers: { "List-Id": "<list.home.test>" } });
	add("stranger with the owner's name", stranger.id, { fromName: owner.id });
	all.add("owner, forwarding somebody's words", owner.id, (text) =>
		office.write({ from: owner.id, to: bot, subject: "Fwd: hi", text: `look\n\n> ${text}` }),
	);
	add("another Keryx listed as an owner", robot.id, { headers: { "X-Keryx-Hops": "1" } });
	return {
		channel: emailChannelOn(office, "keryx"),
		auth: authOf(people, robot),
		before: 0,
		passes: false,
		isReady: () => true,
		ways: all.ways,
		shown: (words) => office.to(all.chat(words).toLowerCase()).map(({ mail }) => mail.text ?? ""),
		close: async () => {
			await office.close();
			await dovecot.remove();
		},
	};
}

async function matrixSources(): Promise<PlatformSources> {
	const peer = await createMatrixPeer();
	const people = everybody((name) => peer.user(name));
	const { owner, stranger } = people;
	const robot = peer.user("Robot");
	const dms = new Map(Object.values(people).map((who) => [who, peer.dm(who)] as const));
	const dmOf = (who: (typeof people)["owner"]) => dms.get(who) as MatrixRoom;
	const everyone = [...Object.values(people), robot];
	const room = peer.group("Plans", everyone);
	const strange = peer.group("Strange", [stranger, owner]);
	const thread = peer.say(owner, room, "Tomatoes");
	const all = new Ways<MatrixRoom>();
	for (const [role, who] of Object.entries(people)) {
		all.add(`${role}, private room`, dmOf(who), (text) => peer.say(who, dmOf(who), text));
		all.add(`${role}, room`, room, (text) => peer.say(who, room, `Keryx: ${text}`));
		all.add(`${role}, thread`, room, (text) => peer.say(who, room, `Keryx: ${text}`, { thread }));
	}
	all.add("owner, room that a stranger made", strange, (text) => peer.say(owner, strange, `Keryx: ${text}`));
	all.add("owner, in an action", dmOf(owner), (text) =>
		peer.say(owner, dmOf(owner), text, { more: { msgtype: "m.emote" } }),
	);
	for (const [where, chat, written] of [
		["private room", dmOf(owner), ""],
		["room", room, "Keryx: "],
	] as const) {
		let id = "";
		all.add(
			`owner, ${where}, changing a message into a command`,
			chat,
			(text) => peer.edit(owner, chat, id, `${written}${text}`),
			() => {
				id = peer.say(owner, chat, `${written}hello`);
			},
		);
	}
	all.add("stranger with the owner's names", strange, (text) => {
		peer.world.member(strange, stranger.id, stranger.id, "join", { displayname: owner.name });
		peer.say(stranger, strange, `Keryx: ${text}`);
	});
	all.add("a bot listed as an owner, room", room, (text) =>
		peer.say(robot, room, `Keryx: ${text}`, { more: { msgtype: "m.notice" } }),
	);
	return {
		channel: matrixChannelOn(peer),
		auth: authOf(people, robot),
		before: 0,
		passes: false,
		isReady: () => peer.place() > 0,
		ways: all.ways,
		shown: (words) => peer.answers(all.chat(words)).map(({ text }) => text),
		close: () => peer.close(),
	};
}

const TELLING = /Your role here is|waiting for confirmation|You cannot use|cannot decide|^done/i;
