// The wire format of a source, and its description for people. isBot and roleAuthorized are known only to the transport: nothing here
// reads or writes them, or a message could claim rights for itself.
import { KeryxError } from "../../errors.ts";
import { CHAT_TYPES, type ChatType, type Source } from "../types.ts";
import { isPlatformName } from "./platforms.ts";
import { profileName } from "./profile.ts";

/** A source as JSON; null if a required field has no value. */
export type WireSource = Record<string, string | null>;

type WireFields = Readonly<Record<string, unknown>>;

const MAX_ID_BYTES = 512;

/** Throws source.invalid or profile.invalid, naming the wire field. Unknown fields are ignored; "" counts as absent. */
export function parseSource(wire: unknown): Source {
	if (typeof wire !== "object" || wire === null || Array.isArray(wire)) {
		throw new KeryxError("source.invalid", "a source must be a JSON object");
	}
	const fields = wire as WireFields;
	const guildId = readId(fields, "guild_id");
	return {
		platform: readPlatform(fields),
		account: readId(fields, "account") ?? "",
		chatType: readChatType(fields),
		chatId: readId(fields, "chat_id") ?? "",
		chatIdAlt: readId(fields, "chat_id_alt"),
		chatName: readText(fields, "chat_name"),
		chatTopic: readText(fields, "chat_topic"),
		parentChatId: readId(fields, "parent_chat_id"),
		threadId: readId(fields, "thread_id"),
		scopeId: readId(fields, "scope_id") ?? guildId,
		userId: readId(fields, "user_id"),
		userIdAlt: readId(fields, "user_id_alt"),
		userName: readText(fields, "user_name"),
		messageId: readId(fields, "message_id"),
		profile: readProfile(fields),
	};
}

export function toWireSource(source: Source): WireSource {
	const wire: WireSource = {
		platform: source.platform,
		chat_id: source.chatId,
		chat_name: source.chatName || null,
		chat_type: source.chatType,
		user_id: source.userId || null,
		user_name: source.userName || null,
		thread_id: source.threadId || null,
		chat_topic: source.chatTopic || null,
	};
	if (source.account) wire.account = source.account;
	if (source.userIdAlt) wire.user_id_alt = source.userIdAlt;
	if (source.chatIdAlt) wire.chat_id_alt = source.chatIdAlt;
	if (source.scopeId) {
		wire.scope_id = source.scopeId;
		wire.guild_id = source.scopeId;
	}
	if (source.parentChatId) wire.parent_chat_id = source.parentChatId;
	if (source.messageId) wire.message_id = source.messageId;
	if (source.profile) wire.profile = source.profile;
	return wire;
}

export type DescribedPart = "userName" | "userId" | "chatName" | "chatId" | "threadId";

/** One line for people. Its parts are untrusted: to put it into a prompt or markup, pass `show`, which sees each part first. */
export function describeSource(
	source: Source,
	show: (part: DescribedPart, value: string) => string = (_part, value) => value,
): string {
	if (source.platform === "local") return "CLI terminal";
	const chat = describeChat(source, show);
	return source.threadId ? `${chat}, thread: ${show("threadId", source.threadId)}` : chat;
}

function describeChat(source: Source, show: (part: DescribedPart, value: string) => string): string {
	if (source.chatType === "dm") {
		if (source.userName) return `DM with ${show("userName", source.userName)}`;
		return source.userId ? `DM with ${show("userId", source.userId)}` : "DM with user";
	}
	const chat = source.chatName
		? show("chatName", source.chatName)
		: source.chatId
			? show("chatId", source.chatId)
			: "unnamed chat";
	if (source.chatType === "group" || source.chatType === "channel") return `${source.chatType}: ${chat}`;
	return chat;
}

function readPlatform(fields: WireFields): string {
	const { platform } = fields;
	if (typeof platform === "string" && isPlatformName(platform)) return platform;
	throw invalid("platform", "must be 2 to 32 of a-z, 0-9 and _, starting with a letter");
}

function readChatType(fields: WireFields): ChatType {
	const given = fields.chat_type ?? "dm";
	const known = CHAT_TYPES.find((type) => type === given);
	if (known) return known;
	throw invalid("chat_type", `must be one of ${CHAT_TYPES.join(", ")}`);
}

function readProfile(fields: WireFields): string | undefined {
	const profile = readText(fields, "profile");
	profileName(profile);
	return profile;
}

function readText(fields: WireFields, field: string): string | undefined {
	const value = fields[field] ?? "";
	if (typeof value !== "string") throw invalid(field, "must be a string");
	return value || undefined;
}

/** A number that JSON cannot represent exactly is refused: its rounded form would be another person's id. */
function readId(fields: WireFields, field: string): string | undefined {
	const value = fields[field] ?? "";
	if (typeof value === "number") {
		if (Number.isSafeInteger(value)) return String(value);
		throw invalid(field, "must be a string, or a whole number of at most 53 bits");
	}
	if (typeof value !== "string") throw invalid(field, "must be a string or a whole number");
	if (value === "") return undefined;
	if (value.length > MAX_ID_BYTES || Buffer.byteLength(value) > MAX_ID_BYTES) {
		throw invalid(field, `must be at most ${MAX_ID_BYTES} bytes long`);
	}
	if (!value.isWellFormed()) throw invalid(field, "must be text without unpaired surrogates");
	return value;
}

function invalid(field: string, rule: string): KeryxError {
	return new KeryxError("source.invalid", `${field} ${rule}`, { field });
}
