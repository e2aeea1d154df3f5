// Who speaks, as each platform tells it. The rights matrix tries every row through a whole gateway: a platform is one more entry.
import type { User } from "grammy/types";
import type { Config } from "../../src/config/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { type ChatRecord, createTelegramPeer } from "../peers/telegram/index.ts";
import { channelOn } from "./telegram-scene.ts";

type Auth = NonNullable<Config["auth"][string]>;

export interface PlatformSources {
	readonly channel: Channel;
	/** With an owner, a member, a guest and a bot that is an owner. */
	readonly auth: Partial<Auth>;
	/** How many updates the channel has to hand in before anybody writes. */
	readonly before: number;
	/** By what they are in words: each writes a text. */
	readonly ways: Readonly<Record<string, (text: string) => void>>;
	/** What the chat of a way shows. */
	shown(way: string): readonly string[];
	close(): Promise<void>;
}

export const PLATFORM_SOURCES: Readonly<Record<string, () => Promise<PlatformSources>>> = {
	telegram: telegramSources,
};

async function telegramSources(): Promise<PlatformSources> {
	const peer = await createTelegramPeer();
	const [owner, member, guest, stranger] = ["Olga", "Max", "Gina", "Sam"].map((name) => peer.user(name)) as [
		User,
		User,
		User,
		User,
	];
	const robot: User = { ...peer.user("Robot"), is_bot: true };
	const name = `@${peer.bot.user.username}`;
	const group = peer.supergroup("Team");
	const strange = peer.supergroup("Strange");
	const forum = peer.forum("Forum");
	const topic = peer.topic(forum, "Plans", owner);
	const news = peer.channel("News");
	const anonymous: User = { id: 1_087_968_824, is_bot: true, first_name: "Group" };
	const gif = { id: 5, is_bot: true, first_name: "Gif", username: "gif_bot" };
	const chats = new Map<string, ChatRecord>();
	const ways: Record<string, (text: string) => void> = {};
	const way = (words: string, chat: ChatRecord, say: (text: string) => number) => {
		chats.set(words, chat);
		ways[words] = say;
	};
	const people = { owner, member, guest, stranger } as const;
	for (const [role, who] of Object.entries(people)) {
		way(`${role}, private chat`, peer.dm(who), (text) => peer.say(who, peer.dm(who), text));
		way(`${role}, group`, group, (text) => peer.say(who, group, `${text}${name}`));
		way(`${role}, topic of a forum`, forum, (text) => peer.say(who, forum, text, { thread: topic }));
	}
	way("owner, group that a stranger made", strange, (text) => peer.say(owner, strange, `${text}${name}`));
	way("owner, forwarding somebody's words", peer.dm(owner), (text) =>
		peer.say(owner, peer.dm(owner), text, {
			more: { forward_origin: { type: "user", date: 1, sender_user: stranger } },
		}),
	);
	way("owner, words of an inline bot", peer.dm(owner), (text) =>
		peer.say(owner, peer.dm(owner), text, { more: { via_bot: gif } }),
	);
	way("owner, command for another bot", group, (text) => peer.say(owner, group, `${text}@other_bot`));
	way("stranger with the owner's names", group, (text) =>
		peer.say({ ...stranger, first_name: "Olga", username: owner.username ?? "" }, group, `${text}${name}`),
	);
	way("anonymous administrator of a group", group, (text) =>
		peer.say(anonymous, group, `${text}${name}`, { more: { sender_chat: group.chat } }),
	);
	way("a channel, in a group", group, (text) =>
		peer.say(anonymous, group, `${text}${name}`, { more: { sender_chat: news.chat } }),
	);
	way("a channel's own post", news, (text) => peer.say(owner, news, text));
	way("a bot listed as an owner", group, (text) => peer.say(robot, group, `${text}${name}`));
	return {
		channel: channelOn(peer),
		auth: {
			allow_bots: true,
			pairing: false,
			allow: [
				{ id: String(owner.id), role: "owner" },
				{ id: String(member.id), role: "member" },
				{ id: String(guest.id), role: "guest" },
				{ id: String(robot.id), role: "owner" },
			],
		},
		// The topic was opened.
		before: 1,
		ways,
		shown: (words) => peer.answers(chats.get(words) as ChatRecord).map(({ text }) => text),
		close: () => peer.close(),
	};
}
