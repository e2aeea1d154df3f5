// Facts about a chat, apart from its conversations: it moved to another id, it cannot be written to, how many bot messages were answered
// since a person wrote. Most chats have no row; each lookup is by key.
import type { Address, Source } from "../../../domain/index.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination } from "../../types.ts";
import { emit } from "../events.ts";

export type Chat = Pick<Destination, "platform" | "account" | "chatId">;

interface ChatRow {
	readonly moved_to: string | null;
	readonly gone_reason: string | null;
	readonly bot_turns: number;
}

const findChat = sql<ChatRow>(
	"SELECT moved_to, gone_reason, bot_turns FROM chats WHERE platform = ? AND account = ? AND chat = ?",
);
const movedFrom = sql<{ chat: string }>(
	"SELECT chat FROM chats WHERE platform = ? AND account = ? AND moved_to = ? ORDER BY chat LIMIT 1",
);
const setBack = sql(
	"UPDATE chats SET gone_reason = NULL, gone_at = NULL WHERE platform = ? AND account = ? AND chat = ?",
);
const setBotTurns = sql(
	`INSERT INTO chats (platform, account, chat, bot_turns) VALUES (?, ?, ?, ?)
	ON CONFLICT (platform, account, chat) DO UPDATE SET bot_turns = excluded.bot_turns`,
);
/** A chat moves a few times at most; a cycle would be the platform's mistake. */
const MOST_MOVES = 8;

export function chatRow({ platform, account, chatId }: Chat): Op<ChatRow | undefined> {
	return get(findChat, platform, account, chatId);
}

/**
 * A message arrived: the chat can be written to again. Returns how many bot messages were answered since a person wrote, including this
 * one if a bot wrote it.
 */
export function* heardFrom(context: Context, source: Source, by: "person" | "bot" | "stranger"): Op<number> {
	const { platform, account, chatId } = source;
	const chat = yield* chatRow(source);
	if (chat?.gone_reason != null) {
		yield* run(setBack, platform, account, chatId);
		yield* emit(context, "chat.back", { subject: chatId }, { platform, account });
	}
	const before = chat?.bot_turns ?? 0;
	const turns = by === "bot" ? before + 1 : by === "person" ? 0 : before;
	if (turns !== before) yield* run(setBotTurns, platform, account, chatId, turns);
	return turns;
}

export function* botTurns(source: Source): Op<number> {
	return (yield* chatRow(source))?.bot_turns ?? 0;
}

/** The ids a chat has had, this one first. */
export function* chatIds({ platform, account, chatId }: Chat): Op<string[]> {
	const ids = [chatId];
	for (let moves = 0; moves < MOST_MOVES; moves++) {
		const before = yield* get(movedFrom, platform, account, ids.at(-1) as string);
		if (!before || ids.includes(before.chat)) return ids;
		ids.push(before.chat);
	}
	return ids;
}

/** A conversation keeps its original address: messages from a chat's new id are addressed by its first id. */
export function* firstAddress(address: Address): Op<Address> {
	if (address.chatType === "dm") return address;
	const ids = yield* chatIds({ ...address, chatId: address.chat });
	return ids.length === 1 ? address : { ...address, chat: ids.at(-1) as string };
}

/** Where a delivery goes now, or why it cannot be sent. */
export function* reachOf(destination: Destination): Op<{ destination: Destination; gone: string | null }> {
	let now = destination;
	for (let moves = 0; moves < MOST_MOVES; moves++) {
		const chat = yield* chatRow(now);
		if (chat?.moved_to == null) return { destination: now, gone: chat?.gone_reason ?? null };
		const { replyTo: _, ...rest } = now;
		now = { ...rest, chatId: chat.moved_to };
	}
	return { destination: now, gone: null };
}
