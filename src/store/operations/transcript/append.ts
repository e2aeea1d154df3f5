// Appends rows to a transcript: the only place that inserts messages. Keeps seq dense and ids increasing in time, both read from the rows
// within the operation; updates counters and the search index in the same transaction.
import { firstOf } from "../../../domain/index.ts";
import { seal } from "../../codec.ts";
import { type Context, get, getReserving, type Op, run, sql } from "../../query.ts";
import type { Content, Message, NewMessage } from "../../types.ts";
import { emit } from "../events.ts";
import { indexMessage } from "../search/index-rows.ts";
import { type StoredContent, storeLargeText } from "./blobs.ts";
import { type MessageBody, type Target, textOf } from "./content.ts";
import { MESSAGE_COLUMNS, type MessageRow, toMessage, toNewMessage } from "./rows.ts";

/**
 * Ids are milliseconds times this, so that a time range is an id range; more rows in one millisecond run into the next. Exact as a number
 * until the year 2248.
 */
export const IDS_PER_MS = 1024;

const PREVIEW_LENGTH = 120;

const SESSION_NOW =
	"(SELECT max(m.seq) FROM messages m WHERE m.session = s.key) AS seq, s.messages FROM sessions s WHERE s.key = ?";
const sessionNow = sql<{ id: number | null; seq: number | null; messages: number }>(
	`SELECT (SELECT max(id) FROM messages) AS id, ${SESSION_NOW}`,
	`SELECT ${SESSION_NOW}`,
);
const byTurnIndex = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.turn = ? AND m.turn_index = ?`,
);
const insertMessage = sql(
	`INSERT INTO messages (id, session, seq, role, kind, turn, turn_index, tool_call, tool_name, is_error, counted, author, created_at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const countInSession = sql(
	"UPDATE sessions SET messages = messages + ?, tool_calls = tool_calls + ?, tool_errors = tool_errors + ? WHERE key = ?",
);
const countInConversation = sql(
	"UPDATE conversations SET message_count = message_count + ?, preview_body = ? WHERE id = ?",
);
/** Without RETURNING, which costs SQLite more than reading it back. */
const COUNT_AND_TOUCH = `UPDATE sessions SET messages = messages + ?, tool_calls = tool_calls + ?, tool_errors = tool_errors + ?,
	last_activity_at = ?, had_activity = 1`;
const touchSession = sql(`${COUNT_AND_TOUCH} WHERE key = ?`);
const touchAndDate = sql(`${COUNT_AND_TOUCH}, due_at = ? WHERE key = ?`);
const touchConversation = sql(
	`UPDATE conversations SET message_count = message_count + ?, preview_body = coalesce(?, preview_body), last_activity_at = ?, token = ?
	WHERE id = ?`,
);
const countOnly = sql("UPDATE conversations SET message_count = message_count + ? WHERE id = ?");

export interface IndexedMessage extends NewMessage {
	/** Position within its turn: a repeated write of the same position returns the existing row. */
	readonly index?: number;
	/** Its inbox item, for clients that follow their own messages. */
	readonly inbound?: number;
}

/** Appends rows in order and returns them as stored; existing rows (same turn and index) are not written again. */
export function* append(
	context: Context,
	target: Target,
	messages: readonly IndexedMessage[],
): Op<Message[]> {
	const { rows, counted, toolCalls, toolErrors, preview } = yield* insertRows(context, target, messages);
	if (counted > 0) yield* run(countInSession, counted, toolCalls, toolErrors, target.session);
	if (preview !== null) yield* run(countInConversation, counted, preview, target.conversation);
	else if (counted > 0) yield* run(countOnly, counted, target.conversation);
	return rows;
}

/** Other changes to a turn's session and conversation, as they are afterwards. */
export interface Touched {
	readonly lastActivityAt: number;
	/** Undefined: unchanged. */
	readonly dueAt: number | null | undefined;
	/** Of the conversation. */
	readonly usedAt: number;
	readonly token: number;
}

/** The same where the session and its conversation change anyway: each is written once. Answers how many messages the session has. */
export function* appendTouching(
	context: Context,
	target: Target,
	messages: readonly IndexedMessage[],
	{ lastActivityAt, dueAt, usedAt, token }: Touched,
): Op<{ rows: Message[]; messages: number }> {
	const inserted = yield* insertRows(context, target, messages);
	const { rows, before, counted, toolCalls, toolErrors, preview } = inserted;
	const counts = [counted, toolCalls, toolErrors, lastActivityAt];
	if (dueAt === undefined) yield* run(touchSession, ...counts, target.session);
	else yield* run(touchAndDate, ...counts, dueAt, target.session);
	yield* run(touchConversation, counted, preview, usedAt, token, target.conversation);
	return { rows, messages: before + counted };
}

interface Inserted {
	readonly rows: Message[];
	/** How many messages the session had. */
	readonly before: number;
	/** Of those that were not there before. */
	readonly counted: number;
	readonly toolCalls: number;
	readonly toolErrors: number;
	/** The body of the conversation's preview; null: it stays. */
	readonly preview: string | null;
}

function* insertRows(context: Context, target: Target, messages: readonly IndexedMessage[]): Op<Inserted> {
	const rows: Message[] = [];
	const from = context.now * IDS_PER_MS;
	const reserve = { from, count: messages.length };
	const session = yield* getReserving(sessionNow, reserve, target.session);
	const before = session?.messages ?? 0;
	if (messages.length === 0) return { rows, before, counted: 0, toolCalls: 0, toolErrors: 0, preview: null };
	let id = (session?.id ?? 0) + 1;
	let seq = (session?.seq ?? 0) + 1;
	let counted = 0;
	let toolCalls = 0;
	let toolErrors = 0;
	let preview: string | null = null;
	for (const message of messages) {
		if (message.index !== undefined && target.turn !== null && !target.isNew) {
			const row = yield* get(byTurnIndex, target.turn, message.index);
			if (row) {
				rows.push(yield* toMessage(row, target.conversation, target.sessionId, false));
				continue;
			}
		}
		id = Math.max(id, from);
		const { index, inbound, ...plain } = message;
		const content = yield* storeLargeText(context, target.conversation, message.content);
		const counts = isCounted(message);
		yield* run(
			insertMessage,
			id,
			target.session,
			seq,
			message.role,
			message.kind ?? null,
			target.turn,
			index ?? null,
			message.toolCallId ?? null,
			message.toolName ?? null,
			message.isError ? 1 : 0,
			counts ? 1 : 0,
			message.author?.principal ?? null,
			context.now,
			seal(bodyOf(plain, content)),
		);
		yield* indexMessage(id, target, message);
		yield* emit(
			context,
			"message.appended",
			{ conversation: target.conversation, session: target.sessionId, turn: target.turn, subject: id },
			{
				seq,
				role: message.role,
				...(index !== undefined && { index }),
				...(inbound !== undefined && { inbound }),
			},
		);
		rows.push(asMessage(plain, target, id, seq, context.now));
		if (counts) counted++;
		toolCalls += message.toolCalls?.length ?? 0;
		if (message.role === "tool" && message.isError) toolErrors++;
		if (message.role === "user" || message.role === "assistant")
			preview = previewOf(message.content) || preview;
		id++;
		seq++;
	}
	return { rows, before, counted, toolCalls, toolErrors, preview: preview === null ? null : seal(preview) };
}

/** Whether the first of these is already at its position: rows appended together are stored together. */
export function* isAppended(turn: string, [first]: readonly IndexedMessage[]): Op<boolean> {
	return first?.index !== undefined && (yield* get(byTurnIndex, turn, first.index)) !== undefined;
}

/** Whether each of these is already stored at its position with the same text. */
export function* haveRows(
	{ turn, conversation }: Pick<Target, "conversation"> & { readonly turn: string },
	messages: readonly IndexedMessage[],
): Op<boolean> {
	for (const { index, ...message } of messages) {
		const row = index === undefined ? undefined : yield* get(byTurnIndex, turn, index);
		if (!row || wordsOf(yield* toNewMessage(row, conversation)) !== wordsOf(message)) return false;
	}
	return true;
}

function wordsOf({ role, content, toolCalls = [], toolCallId = "" }: NewMessage): string {
	return JSON.stringify([role, content, toolCalls, toolCallId]);
}

/** User, assistant and tool rows count towards the limit; metadata, system and observed rows do not. */
export function isCounted(message: Pick<NewMessage, "role" | "observed">): boolean {
	return (
		(message.role === "user" || message.role === "assistant" || message.role === "tool") && !message.observed
	);
}

/** The body: everything without its own column. */
function bodyOf(message: NewMessage, content: StoredContent): MessageBody {
	const { toolCalls, reasoning, finishReason, tokens, quoted, observed } = message;
	const { covers, leavesOut, confirmation, sentFrom, author } = message;
	const authorName = author?.name;
	return {
		content,
		toolCalls,
		reasoning,
		finishReason,
		tokens,
		quoted,
		observed,
		covers,
		leavesOut,
		confirmation,
		sentFrom,
		authorName,
	};
}

function asMessage(message: NewMessage, target: Target, id: number, seq: number, createdAt: number): Message {
	return { ...message, id, session: target.sessionId, seq, turn: target.turn, createdAt, hidden: false };
}

/** Single spaces, which need no change, are no match. */
function previewOf(content: Content): string {
	const text = firstOf(textOf(content), PREVIEW_LENGTH * 4)
		.replace(/\s{2,}|[^\S ]/g, " ")
		.trim();
	if (text.length <= PREVIEW_LENGTH) return text;
	const end = afterPoints(text, 0, PREVIEW_LENGTH - 1);
	return afterPoints(text, end, 1) < text.length ? `${firstOf(text, end)}…` : text;
}

/** The end of this many code points from a position. */
function afterPoints(text: string, from: number, count: number): number {
	let at = from;
	for (let n = 0; n < count; n++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
	return at;
}
