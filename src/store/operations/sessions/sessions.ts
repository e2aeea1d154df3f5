// Sessions open and end only here. I2: the old one ends before the new one opens, in one transaction, and the partial unique index
// one_live_session refuses anything else.
import {
	type ChatType,
	type ConversationId,
	type EndReason,
	nextDue,
	type ResetPolicy,
	type SessionId,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { ConversationState } from "../../types.ts";
import { emit } from "../events.ts";
import type { Touched } from "../transcript/append.ts";
import type { Target } from "../transcript/content.ts";

export interface SessionRow {
	readonly key: number;
	readonly id: SessionId;
	readonly conversation: ConversationId;
	readonly base_session: number | null;
	readonly base_seq: number | null;
	readonly base_kind: "continue" | "branch" | null;
	/** The previously live session. A switch makes an old session live, so it need not be the previous one in order. */
	readonly previous_session: number | null;
	readonly opened_by: string;
	readonly started_at: number;
	readonly last_activity_at: number;
	readonly had_activity: number;
	readonly ended_at: number | null;
	readonly end_reason: EndReason | null;
	readonly suspended_at: number | null;
	readonly resume_pending_since: number | null;
	readonly notice_pending: number;
	readonly finalised: number;
	/** The policy's limit plus extensions, as of the last turn; 0: none. */
	readonly cap: number;
	/** Null: opened before this was recorded. */
	readonly added: number | null;
	readonly messages: number;
	readonly tool_calls: number;
	readonly tool_errors: number;
	readonly input_tokens: number;
	readonly output_tokens: number;
	readonly last_prompt_tokens: number;
	readonly cost_micros: number;
	readonly cost_status: "none" | "known" | "partial" | "unknown";
	readonly title_source: "derived" | "model" | "user" | null;
	readonly title_body: string | null;
	readonly context_body: string;
	readonly body_key: number | null;
	readonly due_at: number | null;
	readonly compact_after: number | null;
}

export interface ConversationRow {
	readonly id: ConversationId;
	readonly key: string;
	readonly platform: string;
	readonly profile: string;
	readonly chat_type: ChatType;
	readonly principal: string | null;
	readonly shared: number;
	readonly token: number;
	readonly interruptions: number;
	readonly failing_count: number;
	readonly last_activity_at: number;
	readonly state: ConversationState;
}

export const SESSION_COLUMNS = `key, id, conversation, base_session, base_seq, base_kind, previous_session, opened_by, started_at, last_activity_at,
	had_activity, ended_at, end_reason, suspended_at, resume_pending_since, notice_pending, finalised, cap, added, messages, tool_calls,
	tool_errors, input_tokens, output_tokens, last_prompt_tokens, cost_micros, cost_status, title_source, title_body, context_body,
	body_key, due_at, compact_after`;

export const CONVERSATION_COLUMNS =
	"id, key, platform, profile, chat_type, principal, shared, token, interruptions, failing_count, last_activity_at, state";

const conversationById = sql<ConversationRow>(
	`SELECT ${CONVERSATION_COLUMNS} FROM conversations WHERE id = ?`,
);
const liveSession = sql<SessionRow>(
	`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? AND ended_at IS NULL`,
);
const lastEnded = sql<SessionRow>(
	`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? ORDER BY ended_at DESC, key DESC LIMIT 1`,
);
const sessionById = sql<SessionRow>(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`);
const sessionByKey = sql<SessionRow>(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE key = ?`);
const sessionBefore = sql<SessionRow>(
	`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? AND key < ? ORDER BY key DESC LIMIT 1`,
);
const insertSession = sql<{ key: number }>(
	`INSERT INTO sessions (id, conversation, base_session, base_seq, base_kind, previous_session, opened_by, started_at,
		last_activity_at, had_activity, notice_pending, cap, added, messages, context_body, due_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING key`,
);
const setCap = sql("UPDATE sessions SET cap = ?, added = ? WHERE key = ?");
const endSession = sql(
	"UPDATE sessions SET ended_at = ?, end_reason = ?, due_at = ? WHERE key = ? AND ended_at IS NULL",
);
const touchSession = sql(
	"UPDATE sessions SET last_activity_at = ?, had_activity = 1, due_at = ? WHERE key = ?",
);
const touchConversation = sql(
	"UPDATE conversations SET last_activity_at = ? WHERE id = ? AND last_activity_at < ?",
);

export function* findConversation(id: string): Op<ConversationRow> {
	return foundConversation(yield* get(conversationById, id), id);
}

export function foundConversation<Row>(row: Row | undefined, id: string): Row {
	if (!row) throw new KeryxError("store.not_found", `no conversation ${id}`, { field: "conversation" });
	return row;
}

export function findLive(conversation: string): Op<SessionRow | undefined> {
	return get(liveSession, conversation);
}

/** The live session, or else the last one that ended; a switch makes an old one live, so the newest row may be neither. */
export function* findLast(conversation: string): Op<SessionRow | undefined> {
	return (yield* findLive(conversation)) ?? (yield* get(lastEnded, conversation));
}

/** The previously live session; if the store does not say, the previous one in order. */
export function* previousOf(session: SessionRow): Op<SessionRow | undefined> {
	if (session.previous_session !== null) return yield* get(sessionByKey, session.previous_session);
	return yield* get(sessionBefore, session.conversation, session.key);
}

export function* findSession(id: string, field = "session"): Op<SessionRow> {
	const row = yield* get(sessionById, id);
	if (!row) throw new KeryxError("store.not_found", `no session ${id}`, { field });
	return row;
}

export function* sessionOfKey(key: number): Op<SessionRow> {
	return (yield* get(sessionByKey, key)) as SessionRow;
}

/** The known size of a session's prompt, in tokens. */
export interface PromptFacts {
	/** Of the last prompt counted by a model; 0: none. */
	readonly promptTokens: number;
	/** No compaction below this size; null: whenever it is due. Not exported. */
	readonly compactAfter: number | null;
}

export function promptFacts({ last_prompt_tokens, compact_after }: SessionRow): PromptFacts {
	return { promptTokens: last_prompt_tokens, compactAfter: compact_after };
}

export function targetOf(conversation: ConversationRow, session: SessionRow, turn: string | null): Target {
	return {
		conversation: conversation.id,
		session: session.key,
		sessionId: session.id,
		turn,
		platform: conversation.platform,
		profile: conversation.profile,
		principal: conversation.principal,
	};
}

/** A session's counters, by their names in the store and in an export. */
export function countersOf(row: SessionRow) {
	return {
		cap: row.cap,
		messages: row.messages,
		toolCalls: row.tool_calls,
		toolErrors: row.tool_errors,
		inputTokens: row.input_tokens,
		outputTokens: row.output_tokens,
		lastPromptTokens: row.last_prompt_tokens,
		costMicros: row.cost_micros,
		costStatus: row.cost_status,
		title: titleOf(row),
		titleSource: row.title_source,
	};
}

export function titleOf(row: Pick<SessionRow, "title_body" | "body_key">): string | null {
	return row.title_body === null ? null : unseal<string>(row.title_body, row.body_key);
}

export interface Opening {
	readonly policy: ResetPolicy;
	/** The context block, rendered by the caller; stored with the session and byte-equal for its life. */
	readonly context: string;
	/** The agent's tools in this session: the carry-over says how to read the old one with them. */
	readonly tools?: readonly string[];
}

/** Opens the live session. Fails if one is live: the caller ends that first. */
export function* open(
	context: Context,
	conversation: ConversationRow,
	opening: Opening,
	how: {
		readonly openedBy: "first" | EndReason;
		/** Null for the first. */
		readonly previous: SessionRow | null;
		readonly noticePending?: boolean;
		/** It starts with messages from elsewhere. */
		readonly hadActivity?: boolean;
		/** Added to the policy's limit. */
		readonly added?: number;
		readonly messages?: number;
		readonly base?: { readonly session: number; readonly seq: number; readonly kind: "continue" | "branch" };
	},
): Op<SessionRow> {
	const { policy } = opening;
	for (;;) {
		const id = context.sessionId();
		const row = yield* get(
			insertSession,
			id,
			conversation.id,
			how.base?.session ?? null,
			how.base?.seq ?? null,
			how.base?.kind ?? null,
			how.previous?.key ?? null,
			how.openedBy,
			context.now,
			context.now,
			how.hadActivity ? 1 : 0,
			how.noticePending ? 1 : 0,
			capOf(policy, how.added ?? 0),
			how.added ?? 0,
			how.messages ?? 0,
			seal(opening.context),
			nextDue({ lastActivityAt: context.now, policy }),
		);
		// The id is taken: the next one.
		if (!row) continue;
		yield* emit(
			context,
			"session.opened",
			{ conversation: conversation.id, session: id },
			{ by: how.openedBy },
		);
		return yield* sessionOfKey(row.key);
	}
}

/** How many messages a session may have. If the policy has no limit, there is none, whatever was added. */
export function capOf({ maxMessages }: Pick<ResetPolicy, "maxMessages">, added: number): number {
	return maxMessages === 0 ? 0 : maxMessages + added;
}

export function addedTo(session: SessionRow, { maxMessages }: Pick<ResetPolicy, "maxMessages">): number {
	return session.added ?? Math.max(0, session.cap - maxMessages);
}

/** The session with the policy's current limit. */
export function* underPolicy(session: SessionRow, policy: ResetPolicy): Op<SessionRow> {
	const added = addedTo(session, policy);
	const cap = capOf(policy, added);
	if (cap === session.cap && added === session.added) return session;
	yield* run(setCap, cap, added, session.key);
	return { ...session, cap, added };
}

/** Ends a session, which is then due for finalising. */
export function* end(context: Context, session: SessionRow, reason: EndReason): Op<void> {
	yield* run(endSession, context.now, reason, context.now, session.key);
	yield* emit(
		context,
		"session.ended",
		{ conversation: session.conversation, session: session.id },
		{ reason },
	);
}

/** Activity of a person, or the end of a turn. A clock that went back does not move it back, or daily would fire twice. */
export function* touch(session: SessionRow, at: number, policy: ResetPolicy): Op<void> {
	const lastActivityAt = Math.max(session.last_activity_at, at);
	yield* run(touchSession, lastActivityAt, nextDue({ lastActivityAt, policy }), session.key);
	yield* run(touchConversation, lastActivityAt, session.conversation, lastActivityAt);
}

/** The same values for `appendTouching`, which writes both rows anyway. */
export function touched(
	session: Pick<SessionRow, "last_activity_at" | "due_at">,
	conversation: Pick<ConversationRow, "last_activity_at" | "token">,
	at: number,
	policy: ResetPolicy,
): Touched {
	const lastActivityAt = Math.max(session.last_activity_at, at);
	const next = nextDue({ lastActivityAt, policy });
	return {
		lastActivityAt,
		dueAt: isSoonEnough(session.due_at, next) ? undefined : next,
		usedAt: Math.max(conversation.last_activity_at, lastActivityAt),
		token: conversation.token,
	};
}

/**
 * Whether due_at may stay: it may be early. The watcher then sets it again, once in the time a session may be idle, which costs less than
 * an index change with messages.
 */
function isSoonEnough(dueAt: number | null, next: number | null): boolean {
	if (dueAt === null || next === null) return dueAt === next;
	return dueAt <= next;
}
