// Telegram, as far as a bot can tell: a Bot API of its own with people who write, press and leave, and a network that fails as told.
import type { Message, Update, User } from "grammy/types";
import { type Clock, systemClock } from "../../../src/time/index.ts";
import { ApiError, bad } from "./errors.ts";
import type { NewUpdate } from "./queue.ts";
import { type CallRecord, type Fault, serveBotApi } from "./server.ts";
import { type BotAccount, buttonsOf, type ChatRecord, type Saying, type SentFile, World } from "./world.ts";

export type { CallRecord, Fault } from "./server.ts";
export { FETCH } from "./server.ts";
export type { ChatRecord, SentFile } from "./world.ts";

/** A message as the people in a chat see it. */
export interface Shown {
	readonly id: number;
	/** The first name of who wrote it. */
	readonly by: string;
	readonly isBot: boolean;
	readonly text: string;
	readonly thread: number | undefined;
	readonly replyTo: number | undefined;
	readonly album: string | undefined;
	readonly entities: readonly string[];
	readonly file: SentFile | undefined;
	readonly buttons: readonly (readonly { readonly id: string; readonly label: string }[])[];
	readonly edits: number;
}

export interface TelegramPeerOptions {
	readonly clock?: Clock;
	/** Left out: a free one. */
	readonly port?: number;
}

export type TelegramPeer = Awaited<ReturnType<typeof createTelegramPeer>>;

export async function createTelegramPeer({ clock = systemClock, port }: TelegramPeerOptions = {}) {
	const world = new World(clock);
	const bot = world.addBot("Keryx");
	const planned: { readonly method: string | undefined; readonly fault: Fault }[] = [];
	const listeners = new Set<() => void>();
	const changed = () => {
		for (const listener of listeners) listener();
	};
	bot.queue.onChange(changed);
	const handle = {
		/** Asked about each call that nothing was planned for. */
		faults: (_: CallRecord): Fault | undefined => undefined,
	};
	const faultOf = (call: CallRecord): Fault | undefined => {
		const at = planned.findIndex(({ method }) => method === undefined || method === call.method);
		return at < 0 ? handle.faults(call) : planned.splice(at, 1)[0]?.fault;
	};
	const server = await serveBotApi({
		world,
		faultOf,
		onCall: changed,
		...(port !== undefined && { port }),
	});
	let presses = 0;

	return Object.assign(handle, {
		apiRoot: server.root,
		calls: server.calls,
		bot: bot as BotAccount,
		addBot: (name: string) => world.addBot(name),

		user: (name: string) => world.user(name),
		dm: (user: User, of: BotAccount = bot) => world.dm(user, of),
		group: (title: string, bots: readonly BotAccount[] = [bot]) => world.group(title, "group", bots),
		supergroup: (title: string, bots: readonly BotAccount[] = [bot]) =>
			world.group(title, "supergroup", bots),
		channel: (title: string) => world.group(title, "channel", [bot]),
		forum: (title: string) => world.group(title, "supergroup", [bot], true),
		/** Opens a topic; answers its id. */
		topic: (forum: ChatRecord, name: string, by: User): number => {
			const id = forum.lastId + 1;
			forum.topics.set(id, name);
			world.say(by, forum, "", {
				more: {
					message_thread_id: id,
					is_topic_message: true,
					forum_topic_created: { name, icon_color: 1 },
				},
			});
			return id;
		},

		say: (by: User, chat: ChatRecord, text: string, saying?: Saying) => world.say(by, chat, text, saying),
		/** Several files at once. The first has the text. */
		album: (by: User, chat: ChatRecord, text: string, files: readonly SentFile[], saying: Saying = {}) => {
			const album = `mg-${chat.key}-${world.files.size}`;
			return files.map((file, n) => world.say(by, chat, n === 0 ? text : "", { ...saying, file, album }));
		},
		edit: (chat: ChatRecord, id: number, text: string) => world.edit(chat, id, text),
		/** Something about the message changes that no bot sees: its text is the same. */
		touch: (chat: ChatRecord, id: number) => world.edit(chat, id),
		react: (by: User, chat: ChatRecord, id: number, emoji: string) => {
			world.tell(chat, {
				message_reaction: {
					chat: chat.chat,
					message_id: id,
					user: by,
					date: world.seconds(),
					old_reaction: [],
					new_reaction: [{ type: "emoji", emoji: emoji as "👍" }],
				},
			});
		},
		/** Presses a button; resolves with what the person is shown. */
		press: (
			by: User,
			chat: ChatRecord,
			id: number,
			data: string,
			/** A hostile client sends any button with any message: whose button it says it is. */
			told?: BotAccount,
		): Promise<string> => {
			const { message, bot } = world.find(chat, id);
			const of = told?.user.id ?? bot;
			const query = `query-${++presses}`;
			return new Promise((resolve) => {
				world.presses.set(query, resolve);
				for (const account of chat.bots)
					if (account.user.id === of)
						account.queue.add({
							callback_query: {
								id: query,
								from: by,
								message: message as never,
								chat_instance: chat.key,
								data,
							},
						});
			});
		},
		/** In a private chat the person blocks the bot; elsewhere it is removed. */
		remove: (chat: ChatRecord, by: User) => {
			const isDm = chat.chat.type === "private";
			chat.closed = new ApiError(
				403,
				isDm ? "Forbidden: bot was blocked by the user" : "Forbidden: bot was kicked from the group chat",
			);
			world.tell(chat, membership(chat, by, world.seconds(), "kicked"));
		},
		/** Lets the bot in again. */
		restore: (chat: ChatRecord, by: User) => {
			chat.closed = null;
			world.tell(chat, membership(chat, by, world.seconds(), "member"));
		},
		/** A small group becomes a supergroup, with another id. */
		migrate: (group: ChatRecord, by: User): ChatRecord => {
			const title = "title" in group.chat ? (group.chat.title ?? "") : "";
			const after = world.group(title, "supergroup", [...group.bots]);
			world.say(by, group, "", { more: { migrate_to_chat_id: after.chat.id } });
			world.say(by, after, "", { more: { migrate_from_chat_id: group.chat.id } });
			group.closed = bad("group chat was upgraded to a supergroup chat", {
				migrate_to_chat_id: after.chat.id,
			});
			return after;
		},

		/** What stands in the chat, oldest first. */
		shown: (chat: ChatRecord): Shown[] => [...chat.messages.values()].map(shownOf),
		/** The same of bots alone. */
		answers: (chat: ChatRecord): Shown[] =>
			[...chat.messages.values()].map(shownOf).filter(({ isBot }) => isBot),
		/** Messages whose updates a bot has confirmed, in order, by chat and id. */
		confirmed: (): string[] => bot.queue.confirmed.map(nameOf).filter((name) => name !== ""),

		/** What happens to the next call (of this method). */
		next: (fault: Fault, method?: string) => {
			planned.push({ method, fault });
		},
		/** Keeps the next call of this method waiting until it is let go. */
		hold: (method: string): { readonly arrived: Promise<void>; readonly release: () => void } => {
			let release = () => {};
			const until = new Promise<void>((resolve) => {
				release = resolve;
			});
			planned.push({ method, fault: { until } });
			const before = server.calls.length;
			const arrived = new Promise<void>((resolve) => {
				const look = () => {
					if (!server.calls.slice(before).some((call) => call.method === method)) return;
					listeners.delete(look);
					resolve();
				};
				listeners.add(look);
			});
			return { arrived, release };
		},
		/** Delivers a message once more. */
		redeliver: (chat: ChatRecord, id: number) => {
			const { message } = world.find(chat, id);
			bot.queue.add({ message: message as never });
		},
		/** Hands an update to the bot as it is. */
		update: (update: NewUpdate) => bot.queue.add(update),
		reorder: (change: (waiting: readonly NewUpdate[]) => readonly NewUpdate[]) => bot.queue.reorder(change),
		revokeToken: () => {
			bot.token = `${bot.user.id}:another-secret`;
		},
		onChange: (listener: () => void) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		disconnect: () => server.disconnect(),
		close: () => server.close(),
	});
}

function shownOf({
	message,
	bot,
	file,
	edits,
}: { message: Message; bot: number | null } & Pick<Shown, "file" | "edits">): Shown {
	const { text, caption, entities, caption_entities: marks } = message;
	const { reply_to_message: reply } = message;
	return {
		id: message.message_id,
		by: message.from?.first_name ?? ("title" in message.chat ? (message.chat.title ?? "") : ""),
		isBot: bot !== null,
		text: text ?? caption ?? "",
		thread: message.message_thread_id,
		replyTo: reply?.message_id,
		album: (message as { media_group_id?: string }).media_group_id,
		entities: (entities ?? marks ?? []).map(({ type }) => type),
		file,
		buttons: buttonsOf(message),
		edits,
	};
}

function nameOf(update: Update): string {
	const message = update.message ?? update.channel_post;
	return message ? `${message.chat.id}/${message.message_id}` : "";
}

function membership(chat: ChatRecord, from: User, date: number, status: "kicked" | "member"): NewUpdate {
	const before = { status: status === "kicked" ? "member" : "kicked", user: from } as never;
	return {
		my_chat_member: {
			chat: chat.chat,
			from,
			date,
			old_chat_member: before,
			new_chat_member: { status, user: from, until_date: 0 } as never,
		},
	};
}
