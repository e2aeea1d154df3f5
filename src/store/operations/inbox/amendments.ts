// Changes after a message was accepted: its sender edits or deletes it, or someone reacts. If no turn has taken it, the message is
// amended; otherwise its row stays (I6), and the agent's next turn is told.
import { createHash } from "node:crypto";
import {
	type Address,
	type Amendment,
	addressDigest,
	amendmentLine,
	type ConversationId,
	contentText,
	parseSource,
	resolveAddress,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Content, Disposition, InboxKind, NewMessage, Part } from "../../types.ts";
import { firstAddress } from "../chats/known.ts";
import { emit } from "../events.ts";
import { MESSAGE_COLUMNS, type MessageRow, toNewMessage } from "../transcript/rows.ts";
import { type Cursor, moveCursor } from "./cursors.ts";

interface ItemRow {
	readonly id: number;
	readonly kind: InboxKind;
	readonly conversation: ConversationId | null;
	readonly turn: string | null;
	readonly message: number | null;
	readonly disposition: Disposition["kind"] | null;
	readonly body: string | null;
	readonly body_key: number | null;
	readonly due_at: number | null;
}

interface ItemBody {
	readonly content: Content;
	readonly source: unknown;
	/** It was a command when it arrived. */
	readonly asCommand?: boolean;
}

const itemOf = sql<ItemRow>(
	`SELECT id, kind, conversation, turn, message, disposition, body, body_key, due_at FROM inbox
	WHERE platform = ? AND account = ? AND chat = ? AND platform_message = ?`,
);
const setBody = sql("UPDATE inbox SET body = ? WHERE id = ?");
const drop = sql(
	"UPDATE inbox SET disposition = 'dropped_by_user', disposed_at = ?, body = NULL, due_at = NULL WHERE id = ?",
);
const messageById = sql<MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.id = ?`);
const amendmentOf = sql<{ digest: string }>("SELECT digest FROM amendments WHERE inbox = ?");
const putAmendment = sql(
	`INSERT INTO amendments (inbox, conversation, kind, digest, at, body) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT (inbox) DO UPDATE SET kind = excluded.kind, digest = excluded.digest, at = excluded.at, body = excluded.body`,
);
const unreported = sql<{ inbox: number; body: string; body_key: number | null }>(
	"SELECT inbox, body, body_key FROM amendments WHERE conversation = ? AND body IS NOT NULL ORDER BY inbox",
);
const markReported = sql("UPDATE amendments SET body = NULL WHERE conversation = ? AND body IS NOT NULL");
const conversationAt = sql<{ conversation: ConversationId }>(
	"SELECT conversation FROM addresses WHERE digest = ?",
);

interface Happened {
	/** On the wire. */
	readonly source: Readonly<Record<string, unknown>>;
	readonly platformMessage: string;
	readonly cursor?: Cursor;
}

export interface AmendArgs extends Happened {
	/** Null: it was deleted. */
	readonly text: string | null;
	/** Whether the agent's next turn reports a change to a message that a turn has taken. */
	readonly note: boolean;
}

export type Amended =
	/** The message is unknown, or its text is unchanged. */
	| { readonly kind: "nothing" }
	| {
			/** amended: it still waits. dropped: it waited, and is gone. recorded: it was already taken, or was a command. */
			readonly kind: "amended" | "dropped" | "recorded";
			readonly conversation: ConversationId;
			readonly inbox: number;
	  };

/** A message was edited or deleted. It never becomes a command, and never starts a turn. */
export function* amend(context: Context, args: AmendArgs): Op<Amended> {
	const item = yield* itemFor(context, args);
	if (item?.kind !== "person" || item.conversation === null) return { kind: "nothing" };
	const found = { ...item, conversation: item.conversation };
	const body = item.body === null ? null : unseal<ItemBody>(item.body, item.body_key);
	const isCommand = item.disposition === "command" || body?.asCommand === true;
	const kind = isCommand
		? yield* note(context, found, args, false)
		: body !== null
			? yield* amendUntaken(context, found, body, args)
			: yield* amendTaken(context, found, args);
	return kind === null ? { kind: "nothing" } : { kind, conversation: found.conversation, inbox: item.id };
}

type Found = ItemRow & { readonly conversation: ConversationId };

/** It waits, or was observed and not shown yet. */
function* amendUntaken(
	context: Context,
	item: Found,
	body: ItemBody,
	{ text }: AmendArgs,
): Op<"amended" | "dropped" | null> {
	if (text !== null) {
		if (text === contentText(body.content)) return null;
		yield* run(setBody, seal({ ...body, content: withWords(body.content, text), amended: true }), item.id);
		yield* emitAmended(context, item, "edited", false);
		return "amended";
	}
	yield* emitAmended(context, item, "deleted", false);
	if (item.disposition !== null) {
		yield* run(setBody, null, item.id);
		return "dropped";
	}
	yield* run(drop, context.now, item.id);
	yield* emit(context, "inbound.dropped_by_user", { conversation: item.conversation, subject: item.id });
	return "dropped";
}

function* amendTaken(context: Context, item: Found, args: AmendArgs): Op<"recorded" | null> {
	const row = item.message === null ? undefined : yield* get(messageById, item.message);
	if (!row) return yield* note(context, item, args, false);
	const message = yield* toNewMessage(row, item.conversation);
	const before = contentText(message.content);
	const known = (yield* get(amendmentOf, item.id))?.digest ?? digestOf(before);
	const digest = digestOf(args.text);
	if (digest === known) return null;
	const { author } = message;
	const amendment: Amendment = { ...(author?.name && { author: author.name }), before, text: args.text };
	const kind = args.text === null ? "deleted" : "edited";
	const body = args.note ? seal(amendment) : null;
	yield* run(putAmendment, item.id, item.conversation, kind, digest, context.now, body);
	return yield* note(context, item, args, args.note);
}

function* note(context: Context, item: Found, { text }: AmendArgs, isReported: boolean): Op<"recorded"> {
	yield* emitAmended(context, item, text === null ? "deleted" : "edited", isReported);
	return "recorded";
}

function* emitAmended(
	context: Context,
	item: Found,
	what: "edited" | "deleted",
	isReported: boolean,
): Op<void> {
	const { conversation, id, turn } = item;
	const waited = item.body !== null && item.disposition !== "command";
	yield* emit(context, `inbound.${what}`, { conversation, turn, subject: id }, { waited, told: isReported });
}

export interface ReactArgs extends Happened {
	readonly emoji: string;
	readonly on: "own" | "other";
	readonly routing: {
		readonly groupSessionsPerUser: boolean;
		readonly threadSessionsPerUser: boolean;
		readonly profile: string | null;
	};
}

const LONGEST_EMOJI = 64;

/** Someone reacted to a message. Nothing is recorded if the message or its chat is unknown. */
export function* react(context: Context, args: ReactArgs): Op<void> {
	const item = yield* itemFor(context, args);
	const facts = { emoji: args.emoji.slice(0, LONGEST_EMOJI), on: args.on };
	if (args.on === "other") {
		if (!item?.conversation) return;
		const { conversation, id, turn } = item;
		yield* emit(context, "inbound.reacted", { conversation, turn, subject: id }, facts);
		return;
	}
	const address = addressOf(args);
	if (address === null) return;
	const conversation = (yield* get(conversationAt, addressDigest(yield* firstAddress(address))))
		?.conversation;
	if (conversation)
		yield* emit(context, "delivery.reacted", { conversation, subject: args.platformMessage }, facts);
}

/** Null for a source without an address. */
function addressOf({ source, routing }: ReactArgs): Address | null {
	try {
		return resolveAddress(parseSource(source), routing);
	} catch (error) {
		if (error instanceof KeryxError && error.code === "address.incomplete") return null;
		throw error;
	}
}

function* itemFor(context: Context, args: Happened): Op<ItemRow | undefined> {
	if (args.cursor) yield* moveCursor(context, args.cursor);
	const { platform, account, chatId } = parseSource(args.source);
	return yield* get(itemOf, platform, account, chatId, args.platformMessage);
}

/** The lines that the next turn of a conversation starts with, in message order. Each line is reported once. */
export function* takeAmendments(conversation: string): Op<NewMessage[]> {
	const rows = yield* all(unreported, conversation);
	if (rows.length === 0) return [];
	yield* run(markReported, conversation);
	return rows.map(({ body, body_key }) => ({
		role: "meta",
		kind: "note",
		content: amendmentLine(unseal<Amendment>(body, body_key)),
	}));
}

/** Attachments stay. */
function withWords(content: Content, text: string): Content {
	if (typeof content === "string") return text;
	const others = content.filter((part) => part.type !== "text");
	const words: Part[] = text === "" ? [] : [{ type: "text", text }];
	return [...words, ...others];
}

/** For a deleted message, the digest of no text. */
function digestOf(text: string | null): string {
	return text === null ? "" : createHash("sha256").update(text).digest("hex");
}
