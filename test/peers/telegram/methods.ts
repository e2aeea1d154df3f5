// What a bot can ask for. Every answer and every refusal has the form and the words of the Bot API.
import type { InlineKeyboardMarkup, Message } from "grammy/types";
import type { Payload, Upload } from "./body.ts";
import { ApiError, bad } from "./errors.ts";
import type { PollArgs } from "./queue.ts";
import { type Formatted, readText } from "./text.ts";
import {
	type BotAccount,
	type ChatRecord,
	type MediaKind,
	mediaOf,
	type StoredFile,
	type World,
} from "./world.ts";

const TEXT_LIMIT = 4096;
const CAPTION_LIMIT = 1024;
const BUTTON_LIMIT = 64;
const FILE_LIMIT = 20 * 1024 * 1024;

export interface Call {
	readonly bot: BotAccount;
	readonly payload: Payload;
	/** Called when the bot hangs up. */
	onLeft(left: () => void): void;
}

type Method = (world: World, call: Call) => unknown;

const sendFile =
	(kind: MediaKind): Method =>
	(world, call) => {
		const { fields } = call.payload;
		const record = writable(world, call);
		const file = world.keep({ kind, ...uploadOf(call, fields[kind]) });
		return show(world, call, record, captioned(fields), file);
	};

export const METHODS: Readonly<Record<string, Method>> = {
	getMe: (_, { bot }) => ({
		...bot.user,
		can_join_groups: true,
		can_read_all_group_messages: true,
		supports_inline_queries: false,
	}),
	getUpdates: (_, { bot, payload, onLeft }) => {
		const { updates, leave } = bot.queue.poll(payload.fields as PollArgs);
		onLeft(leave);
		return updates;
	},
	setWebhook: (_, { bot, payload }) => {
		const {
			url = "",
			secret_token: secret = "",
			max_connections: most = 40,
			allowed_updates,
		} = payload.fields;
		if (!/^[\w-]{0,256}$/.test(String(secret))) throw bad("secret token contains illegal characters");
		if (url !== "" && !URL.canParse(String(url))) throw bad("bad webhook: invalid URL");
		if (Array.isArray(allowed_updates)) bot.queue.allow(allowed_updates as string[]);
		bot.queue.pusher.set(
			url === "" ? null : { url: String(url), secret: String(secret), mostAtOnce: Number(most) },
		);
		return true;
	},
	deleteWebhook: (_, { bot }) => {
		bot.queue.pusher.set(null);
		return true;
	},
	getWebhookInfo: (_, { bot: { queue } }) => ({
		url: queue.pusher.webhook?.url ?? "",
		has_custom_certificate: false,
		pending_update_count: queue.waiting.length,
		...(queue.pusher.lastError && {
			last_error_date: Math.floor(queue.pusher.lastError.at / 1000),
			last_error_message: queue.pusher.lastError.message,
		}),
	}),
	sendMessage: (world, call) => {
		const { fields } = call.payload;
		const record = writable(world, call);
		const formatted = readText(String(fields.text ?? ""), fields.parse_mode as string | undefined);
		if (formatted.text === "") throw bad("message text is empty");
		if (formatted.text.length > TEXT_LIMIT) throw bad("message is too long");
		return show(world, call, record, formatted);
	},
	sendPhoto: sendFile("photo"),
	sendDocument: sendFile("document"),
	sendAudio: sendFile("audio"),
	sendVideo: sendFile("video"),
	sendVoice: sendFile("voice"),
	sendAnimation: sendFile("animation"),
	sendMediaGroup: (world, call) => {
		const record = writable(world, call);
		const items = call.payload.fields.media as readonly Record<string, unknown>[];
		if (items.length < 2 || items.length > 10)
			throw bad("wrong number of messages: an album has 2 to 10 items");
		const files = items.map((item) => ({
			file: { kind: item.type as MediaKind, ...uploadOf(call, item.media) },
			formatted: captioned(item),
		}));
		const isPlain = (kind: MediaKind) => kind === "document" || kind === "audio";
		if (new Set(files.map(({ file }) => (isPlain(file.kind) ? file.kind : "picture"))).size > 1)
			throw bad("document can't be mixed with other media types");
		const album = `album-${record.lastId}-${world.files.size}`;
		return files.map(({ file, formatted }) => show(world, call, record, formatted, world.keep(file), album));
	},
	editMessageText: (world, call) => {
		const { fields } = call.payload;
		const { record, stored } = own(world, call, "edit");
		if (stored.file) throw bad("there is no text in the message to edit");
		const formatted = readText(String(fields.text ?? ""), fields.parse_mode as string | undefined);
		if (formatted.text === "") throw bad("message text is empty");
		if (formatted.text.length > TEXT_LIMIT) throw bad("MESSAGE_TOO_LONG");
		return change(world, record, stored.message, {
			text: formatted.text,
			entities: formatted.entities,
			...markupOf(fields),
		});
	},
	editMessageCaption: (world, call) => {
		const { record, stored } = own(world, call, "edit");
		const { text, entities } = captioned(call.payload.fields);
		return change(world, record, stored.message, {
			caption: text,
			caption_entities: entities,
			...markupOf(call.payload.fields),
		});
	},
	editMessageReplyMarkup: (world, call) => {
		const { record, stored } = own(world, call, "edit");
		return change(world, record, stored.message, { ...stored.message, ...markupOf(call.payload.fields) });
	},
	deleteMessage: (world, call) => {
		const { record, stored } = own(world, call, "delete");
		record.messages.delete(stored.message.message_id);
		return true;
	},
	sendChatAction: (world, call) => {
		writable(world, call);
		return true;
	},
	answerCallbackQuery: (world, { payload: { fields } }) => {
		const id = String(fields.callback_query_id);
		const text = String(fields.text ?? "");
		const answer = world.presses.get(id);
		if (!answer) throw bad("query is too old and response timeout expired or query ID is invalid");
		if (text.length > 200) throw bad("MESSAGE_TOO_LONG");
		world.presses.delete(id);
		answer(text);
		return true;
	},
	getFile: (world, { payload }) => {
		const id = String(payload.fields.file_id);
		const file = world.files.get(id);
		if (!file) throw bad("wrong file_id or the file is temporarily unavailable");
		if ((file.statedSize ?? file.bytes.length) > FILE_LIMIT) throw bad("file is too big");
		return { file_id: id, file_unique_id: `u-${id}`, file_size: file.bytes.length, file_path: file.path };
	},
	setMyCommands: (_, { bot, payload }) => {
		const commands = payload.fields.commands as readonly { command: string; description: string }[];
		for (const { command, description } of commands) {
			if (!/^[a-z0-9_]{1,32}$/.test(command)) throw bad("BOT_COMMAND_INVALID");
			if (description.length < 1 || description.length > 256) throw bad("BOT_COMMAND_DESCRIPTION_INVALID");
		}
		if (commands.length > 100) throw bad("too many commands");
		bot.commands.set(scopeOf(payload), commands);
		return true;
	},
	getMyCommands: (_, { bot, payload }) => bot.commands.get(scopeOf(payload)) ?? [],
	getChat: (world, call) => world.chatOf(call.bot, call.payload.fields.chat_id).chat,
	setMessageReaction: (world, call) => {
		world.find(writable(world, call), call.payload.fields.message_id);
		return true;
	},
};

/** The chat that is written to; refuses where the bot may not write. */
function writable(world: World, { bot, payload }: Call): ChatRecord {
	const record = world.chatOf(bot, payload.fields.chat_id);
	if (record.closed) throw record.closed;
	const thread = payload.fields.message_thread_id;
	if (thread !== undefined && !record.topics.has(Number(thread))) throw bad("message thread not found");
	return record;
}

function own(world: World, call: Call, verb: "edit" | "delete") {
	const record = writable(world, call);
	const stored = record.messages.get(Number(call.payload.fields.message_id));
	if (!stored) throw bad(`message to ${verb} not found`);
	if (stored.bot !== call.bot.user.id) throw bad(`message can't be ${verb}${verb === "edit" ? "ed" : "d"}`);
	return { record, stored };
}

function show(
	world: World,
	{ bot, payload: { fields } }: Call,
	record: ChatRecord,
	{ text, entities }: Formatted,
	file?: StoredFile,
	album?: string,
): Message {
	const message = {
		message_id: world.nextId(record),
		...(record.chat.type === "channel" ? { sender_chat: record.chat } : { from: bot.user }),
		chat: record.chat,
		date: world.seconds(),
		...(fields.message_thread_id !== undefined && {
			message_thread_id: Number(fields.message_thread_id),
			is_topic_message: true,
		}),
		...replyOf(record, fields),
		...(file ? mediaOf(file) : {}),
		...(text !== "" && (file ? { caption: text } : { text })),
		...(entities.length > 0 && (file ? { caption_entities: entities } : { entities })),
		...(album !== undefined && { media_group_id: album }),
		...markupOf(fields),
	} as Message;
	record.messages.set(message.message_id, { message, bot: bot.user.id, file, edits: 0 });
	// Bots see other bots' messages.
	world.tell(record, { message: message as never }, bot.user);
	return message;
}

function change(
	world: World,
	record: ChatRecord,
	before: Message,
	changes: Record<string, unknown>,
): Message {
	const { reply_markup: _, ...bare } = before as Message & { reply_markup?: unknown };
	const after = { ...bare, ...changes } as Message;
	if (visibleOf(before) === visibleOf(after))
		throw bad(
			"message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
		);
	const message = { ...after, edit_date: world.seconds() } as Message;
	const stored = world.find(record, before.message_id);
	record.messages.set(before.message_id, { ...stored, message, edits: stored.edits + 1 });
	return message;
}

function visibleOf(message: Message): string {
	const { text, caption, entities = [], caption_entities: marks = [] } = message;
	const { reply_markup: markup } = message as { reply_markup?: InlineKeyboardMarkup };
	return JSON.stringify([text ?? caption ?? "", text === undefined ? marks : entities, markup ?? null]);
}

function replyOf(record: ChatRecord, fields: Readonly<Record<string, unknown>>): object {
	const asked = fields.reply_parameters as
		| { message_id: number; allow_sending_without_reply?: boolean }
		| undefined;
	if (!asked) return {};
	const found = record.messages.get(Number(asked.message_id));
	if (found) return { reply_to_message: found.message };
	if (asked.allow_sending_without_reply) return {};
	throw bad("message to be replied not found");
}

function markupOf(fields: Readonly<Record<string, unknown>>): object {
	const markup = fields.reply_markup as InlineKeyboardMarkup | undefined;
	const rows = markup?.inline_keyboard ?? [];
	if (rows.length === 0) return {};
	for (const button of rows.flat())
		if ("callback_data" in button) {
			const bytes = Buffer.byteLength(button.callback_data);
			if (bytes < 1 || bytes > BUTTON_LIMIT) throw bad("BUTTON_DATA_INVALID");
		}
	return { reply_markup: { inline_keyboard: rows } };
}

function captioned(fields: Readonly<Record<string, unknown>>): Formatted {
	const formatted = readText(String(fields.caption ?? ""), fields.parse_mode as string | undefined);
	if (formatted.text.length > CAPTION_LIMIT) throw bad("message caption is too long");
	return formatted;
}

function uploadOf({ payload }: Call, named: unknown): Upload {
	const name = typeof named === "string" && named.startsWith("attach://") ? named.slice(9) : undefined;
	const upload = name === undefined ? undefined : payload.files.get(name);
	if (!upload) throw bad("wrong remote file identifier specified: wrong string length");
	if (upload.bytes.length === 0) throw bad("file must be non-empty");
	if (upload.bytes.length > 50 * 1024 * 1024) throw new ApiError(413, "Request Entity Too Large");
	return upload;
}

function scopeOf({ fields }: Payload): string {
	return JSON.stringify(fields.scope ?? { type: "default" });
}
