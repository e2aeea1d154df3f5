// Telegram as its people see it: chats, members, messages, files. What they do reaches the bots as updates; what bots do shows in the chats.
import type { Chat, InlineKeyboardMarkup, Message, MessageEntity, PhotoSize, User } from "grammy/types";
import type { Clock } from "../../../src/time/index.ts";
import { ApiError, bad } from "./errors.ts";
import { type NewUpdate, UpdateQueue } from "./queue.ts";
import { clean, foundEntities } from "./text.ts";

export type MediaKind = "photo" | "document" | "audio" | "video" | "voice" | "animation";

export interface SentFile {
	readonly kind: MediaKind;
	readonly name: string;
	readonly bytes: Uint8Array;
	readonly mediaType?: string;
	/** What Telegram says of its size before it is fetched; left out: the truth. */
	readonly statedSize?: number;
}

export interface StoredFile extends SentFile {
	readonly id: string;
	readonly path: string;
}

/** A message as it stands in its chat. */
export interface Stored {
	readonly message: Message;
	/** By a bot: its id. */
	readonly bot: number | null;
	readonly file: StoredFile | undefined;
	readonly edits: number;
}

export interface BotAccount {
	readonly user: User;
	token: string;
	readonly queue: UpdateQueue;
	/** Of the newest message in its private chats. */
	lastId: number;
	/** By the JSON of their scope. */
	readonly commands: Map<string, readonly unknown[]>;
}

export interface Saying {
	readonly thread?: number;
	readonly replyTo?: number;
	/** The part of the message replied to that was marked. */
	readonly quote?: string;
	readonly file?: SentFile;
	readonly album?: string;
	readonly entities?: readonly MessageEntity[];
	/** More of the message, as it stands on the wire. */
	readonly more?: Readonly<Record<string, unknown>>;
}

export interface ChatRecord {
	readonly key: string;
	chat: Chat;
	readonly messages: Map<number, Stored>;
	readonly bots: Set<BotAccount>;
	readonly admins: Set<number>;
	/** Ids of topics, each with its name. */
	readonly topics: Map<number, string>;
	/** Why bots cannot write here. */
	closed: ApiError | null;
	lastId: number;
}

export class World {
	readonly clock: Clock;
	readonly bots: BotAccount[] = [];
	readonly files = new Map<string, StoredFile>();
	/** Buttons that were pressed and not answered: what the person is shown, by the query's id. */
	readonly presses = new Map<string, (shown: string) => void>();
	readonly #chats = new Map<string, ChatRecord>();
	/** Small groups count their messages together; so do the private chats of each bot. */
	#sharedId = 0;
	#ids = 1000;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	addBot(name: string): BotAccount {
		const id = ++this.#ids;
		const bot: BotAccount = {
			user: { id, is_bot: true, first_name: name, username: `${name.toLowerCase()}_bot` },
			token: `${id}:${name}-secret`,
			queue: new UpdateQueue(this.clock),
			lastId: 0,
			commands: new Map(),
		};
		this.bots.push(bot);
		return bot;
	}

	user(name: string): User {
		return { id: ++this.#ids, is_bot: false, first_name: name, username: name.toLowerCase() };
	}

	dm(user: User, bot: BotAccount): ChatRecord {
		const key = `${bot.user.id}:${user.id}`;
		const found = this.#chats.get(key);
		if (found) return found;
		const chat = { id: user.id, type: "private", first_name: user.first_name } as Chat;
		const record = this.#open(key, chat, [bot]);
		record.closed = new ApiError(403, "Forbidden: bot can't initiate conversation with a user");
		return record;
	}

	group(
		title: string,
		type: "group" | "supergroup" | "channel",
		bots: readonly BotAccount[],
		isForum = false,
	): ChatRecord {
		const id = type === "group" ? -++this.#ids : -1_000_000_000_000 - ++this.#ids;
		const chat = { id, type, title, ...(isForum && { is_forum: true }) } as Chat;
		return this.#open(String(id), chat, bots);
	}

	#open(key: string, chat: Chat, bots: readonly BotAccount[]): ChatRecord {
		const record: ChatRecord = {
			key,
			chat,
			messages: new Map(),
			bots: new Set(bots),
			admins: new Set(),
			topics: new Map(),
			closed: null,
			// The first message of a supergroup or channel says that it was made.
			lastId: 1,
		};
		this.#chats.set(key, record);
		return record;
	}

	/** As a bot names it. */
	chatOf(bot: BotAccount, id: unknown): ChatRecord {
		const record = this.#chats.get(`${bot.user.id}:${String(id)}`) ?? this.#chats.get(String(id));
		if (!record) throw bad("chat not found");
		return record;
	}

	nextId(record: ChatRecord): number {
		if (record.chat.type === "group") return ++this.#sharedId;
		const [bot] = record.bots;
		return record.chat.type === "private" && bot ? ++bot.lastId : ++record.lastId;
	}

	seconds(): number {
		return Math.floor(this.clock.now() / 1000);
	}

	keep(file: SentFile): StoredFile {
		const id = `file-${this.files.size + 1}`;
		const stored = { ...file, id, path: `${file.kind}s/${id}` };
		this.files.set(id, stored);
		return stored;
	}

	say(from: User, record: ChatRecord, text: string, saying: Saying = {}): number {
		if (record.chat.type === "private") record.closed = null;
		const stored = saying.file && this.keep(saying.file);
		const written = clean(text);
		const entities = saying.entities ?? foundEntities(written);
		const message = {
			message_id: this.nextId(record),
			...(record.chat.type === "channel" ? { sender_chat: record.chat } : { from }),
			chat: record.chat,
			date: this.seconds(),
			...this.#thread(record, saying.thread),
			...this.#reply(record, saying),
			...(stored ? mediaOf(stored) : {}),
			...(written !== "" && (stored ? { caption: written } : { text: written })),
			...(entities.length > 0 && (stored ? { caption_entities: entities } : { entities })),
			...(saying.album !== undefined && { media_group_id: saying.album }),
			...saying.more,
		} as Message;
		record.messages.set(message.message_id, { message, bot: null, file: stored, edits: 0 });
		this.tell(record, { [record.chat.type === "channel" ? "channel_post" : "message"]: message }, from);
		return message.message_id;
	}

	/** Changes what was written; without a text only something that bots do not see. */
	edit(record: ChatRecord, id: number, text?: string): void {
		const stored = this.find(record, id);
		const field = stored.file ? "caption" : "text";
		const marks = stored.file ? "caption_entities" : "entities";
		const message = {
			...stored.message,
			...(text !== undefined && { [field]: text, [marks]: foundEntities(text) }),
			edit_date: this.seconds(),
		} as Message;
		record.messages.set(id, { ...stored, message });
		const kind = record.chat.type === "channel" ? "edited_channel_post" : "edited_message";
		this.tell(record, { [kind]: message });
	}

	find(record: ChatRecord, id: unknown): Stored {
		const stored = record.messages.get(Number(id));
		if (!stored) throw bad("message not found");
		return stored;
	}

	/** Every bot in the chat hears it, but one that did it itself. */
	tell(record: ChatRecord, update: NewUpdate, by?: User): void {
		for (const bot of record.bots) if (bot.user.id !== by?.id) bot.queue.add(update);
	}

	#thread(record: ChatRecord, thread: number | undefined): object {
		if (thread === undefined) return {};
		return { message_thread_id: thread, ...(record.topics.has(thread) && { is_topic_message: true }) };
	}

	#reply(record: ChatRecord, { replyTo, quote, thread }: Saying): object {
		// In a topic everything that is no reply refers to the message that opened it.
		const id = replyTo ?? (thread !== undefined && record.topics.has(thread) ? thread : undefined);
		const message = id === undefined ? undefined : record.messages.get(id)?.message;
		if (!message) return {};
		const { reply_to_message: _, ...bare } = message as Message & { reply_to_message?: unknown };
		return {
			reply_to_message: bare,
			...(quote !== undefined && { quote: { text: quote, position: 0, is_manual: true } }),
		};
	}
}

/** The field of a message that a file is. */
export function mediaOf({ kind, id, name, bytes, mediaType, statedSize }: StoredFile): object {
	const file = { file_id: id, file_unique_id: `u-${id}`, file_size: statedSize ?? bytes.length };
	if (kind === "photo") {
		const small: PhotoSize = { ...file, file_id: `${id}-small`, file_size: 10, width: 90, height: 90 };
		return { photo: [small, { ...file, width: 800, height: 600 }] };
	}
	const named = kind === "voice" ? {} : { file_name: name };
	return { [kind]: { ...file, ...named, mime_type: mediaType ?? "application/octet-stream", duration: 1 } };
}

export function buttonsOf(message: Message): { readonly id: string; readonly label: string }[][] {
	const markup = (message as { reply_markup?: InlineKeyboardMarkup }).reply_markup;
	return (markup?.inline_keyboard ?? []).map((row) =>
		row.map((button) => ({
			id: "callback_data" in button ? button.callback_data : "",
			label: button.text,
		})),
	);
}
