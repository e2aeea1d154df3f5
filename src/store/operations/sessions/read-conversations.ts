// Reads conversations, sessions and transcripts. Every operation takes a scope, without a default; a failed read is an error and never
// looks like an empty conversation (I8).
import {
	type ChatType,
	type ConversationId,
	conversationName,
	describeSource,
	type EndReason,
	type LimitInfo,
	limitInfo,
	parseSource,
	type SessionId,
	sanitizeModelOverride,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type {
	BusyMode,
	Conversation,
	ConversationState,
	Message,
	Scope,
	Session,
	ToolProgress,
} from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";
import { assertSees, isOfProfile, sees } from "../people/scope.ts";
import { readBlobBytes } from "../transcript/blobs.ts";
import { chainOf } from "../transcript/chain.ts";
import { type PackedTranscript, PackedTranscriptWriter } from "../transcript/packed.ts";
import {
	hiddenIn,
	isHidden,
	isReadAsItIs,
	MESSAGE_COLUMNS,
	type MessageRow,
	toMessage,
	withLargeText,
} from "../transcript/rows.ts";
import { countersOf, SESSION_COLUMNS, type SessionRow } from "./sessions.ts";

interface ConversationRow {
	readonly id: ConversationId;
	readonly key: string;
	readonly platform: string;
	readonly profile: string;
	readonly chat_type: ChatType;
	readonly principal: string | null;
	readonly shared: number;
	readonly model_override: string | null;
	readonly busy: BusyMode | null;
	readonly tool_progress: ToolProgress | null;
	readonly message_count: number;
	readonly created_at: number;
	readonly last_activity_at: number;
	readonly source_body: string;
	readonly preview_body: string;
	readonly body_key: number | null;
	readonly origin: string | null;
	readonly title_source: "model" | "user" | null;
	readonly title_body: string | null;
	readonly state: ConversationState;
	readonly state_at: number | null;
	readonly pinned_at: number | null;
	readonly waiting: number;
	readonly live_session: SessionId | null;
	readonly first_session: SessionId | null;
}

const COLUMNS = `c.id, c.key, c.platform, c.profile, c.chat_type, c.principal, c.shared, c.model_override, c.busy, c.tool_progress,
	c.message_count, c.created_at, c.last_activity_at, c.source_body, c.preview_body, c.body_key, c.origin,
	c.title_source, c.title_body, c.state, c.state_at, c.pinned_at,
	CASE WHEN EXISTS (SELECT 1 FROM confirmations w WHERE w.conversation = c.id AND w.due_at IS NOT NULL AND w.status = 'pending')
		THEN 1 ELSE 0 END AS waiting,
	(SELECT s.id FROM sessions s WHERE s.conversation = c.id AND s.ended_at IS NULL) AS live_session,
	(SELECT s.id FROM sessions s WHERE s.conversation = c.id ORDER BY s.key LIMIT 1) AS first_session`;

const byId = sql<ConversationRow>(`SELECT ${COLUMNS} FROM conversations c WHERE c.id = ?`);
const byKey = sql<ConversationRow>(`SELECT ${COLUMNS} FROM conversations c WHERE c.key = ?`);
const bySession = sql<{ conversation: string }>("SELECT conversation FROM sessions WHERE id = ?");
const byPlatformMessage = sql<{ conversation: string | null }>(
	"SELECT conversation FROM inbox WHERE platform = ? AND account = ? AND chat = ? AND platform_message = ?",
);
/** Each by an index: rows outside the list cost nothing, except recently archived ones among the open ones. */
const LISTS = {
	open: "c.state = 'open'",
	archived: "c.state <> 'open' AND c.state = 'archived'",
	deleted: "c.state <> 'open' AND c.state = 'deleted'",
	pinned: "c.pinned_at IS NOT NULL",
	waiting: `c.state <> 'deleted' AND c.id IN (SELECT w.conversation FROM confirmations w
		WHERE w.due_at IS NOT NULL AND w.conversation IS NOT NULL AND w.status = 'pending')`,
	with_checkpoints:
		"c.state <> 'deleted' AND c.id IN (SELECT k.conversation FROM checkpoints k WHERE k.conversation IS NOT NULL)",
} as const;
export type ConversationList = keyof typeof LISTS;

const inList = (list: ConversationList, { state, pinned_at, waiting }: ConversationRow): boolean => {
	if (list === "pinned") return pinned_at !== null;
	if (list === "waiting") return waiting === 1 && state !== "deleted";
	return state === list;
};

/** Newest first, after a position; an absent filter is the value that matches everything. */
const newestIn = (list: ConversationList) =>
	sql<ConversationRow>(
		`SELECT ${COLUMNS} FROM conversations c
	WHERE (c.last_activity_at, c.id) < (?, ?) AND c.last_activity_at >= ? AND ${LISTS[list]}
		AND (CAST(? AS TEXT) IS NULL OR c.platform = ?) AND (CAST(? AS TEXT) IS NULL OR c.profile = ?)
	ORDER BY c.last_activity_at DESC, c.id DESC LIMIT ?`,
	);
const newest: Readonly<Record<ConversationList, ReturnType<typeof newestIn>>> = {
	open: newestIn("open"),
	archived: newestIn("archived"),
	deleted: newestIn("deleted"),
	pinned: newestIn("pinned"),
	waiting: newestIn("waiting"),
	with_checkpoints: newestIn("with_checkpoints"),
};
const ofPrincipal = sql<ConversationRow>(`SELECT ${COLUMNS} FROM conversations c WHERE c.principal = ?`);
const sessionById = sql<SessionRow>(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`);
const sessionsOf = sql<SessionRow>(
	`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? AND key < ? ORDER BY key DESC LIMIT ?`,
);
const liveOf = sql<{ id: SessionId }>("SELECT id FROM sessions WHERE conversation = ? AND ended_at IS NULL");
const idOfKey = sql<{ id: SessionId; conversation: ConversationId }>(
	"SELECT id, conversation FROM sessions WHERE key = ?",
);
/** With 1, includes hidden rows; otherwise a page is filled with visible ones. */
const SHOWN = `(? = 1 OR NOT EXISTS (SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL
	AND m.seq BETWEEN h.from_seq AND h.to_seq))`;
const messagesAfter = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.session = ? AND m.seq > ? AND m.seq <= ? AND ${SHOWN} ORDER BY m.seq LIMIT ?`,
);
const messagesBefore = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.session = ? AND m.seq < ? AND ${SHOWN} ORDER BY m.seq DESC LIMIT ?`,
);
const messageById = sql<MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.id = ?`);

const LATEST = Number.MAX_SAFE_INTEGER;

function toConversation(row: ConversationRow): Conversation {
	const source = parseSource(unseal(row.source_body, row.body_key));
	const title = row.title_body === null ? null : unseal<string>(row.title_body, row.body_key);
	return {
		id: row.id,
		key: row.key,
		platform: row.platform,
		profile: row.profile,
		chatType: row.chat_type,
		principal: row.principal,
		shared: row.shared === 1,
		name: conversationName({ title, source }),
		title,
		titleSource: row.title_source,
		state: row.state,
		stateAt: row.state_at,
		pinnedAt: row.pinned_at,
		isWaiting: row.waiting === 1,
		displayName: describeSource(source),
		preview: unseal<string>(row.preview_body, row.body_key),
		source,
		messageCount: row.message_count,
		createdAt: row.created_at,
		lastActivityAt: row.last_activity_at,
		liveSession: row.live_session,
		firstSession: row.first_session,
		modelOverride: row.model_override === null ? null : sanitizeModelOverride(JSON.parse(row.model_override)),
		busy: row.busy,
		toolProgress: row.tool_progress,
		...(row.origin !== null && { isImported: true }),
	};
}

export type ConversationRef =
	| { readonly id: ConversationId }
	| { readonly key: string }
	| { readonly session: SessionId }
	| {
			readonly platform: string;
			readonly account: string;
			readonly chat: string;
			readonly platformMessage: string;
	  };

export function* conversation(args: {
	readonly scope: Scope;
	readonly ref: ConversationRef;
}): Op<Conversation> {
	const row = yield* findByRef(args.ref);
	if (!row || !(yield* sees(args.scope, row)))
		throw new KeryxError("store.not_found", "no such conversation", { field: "ref" });
	return toConversation(row);
}

function* findByRef(ref: ConversationRef): Op<ConversationRow | undefined> {
	if ("id" in ref) return yield* get(byId, ref.id);
	if ("key" in ref) return yield* get(byKey, ref.key);
	const found =
		"session" in ref
			? yield* get(bySession, ref.session)
			: yield* get(byPlatformMessage, ref.platform, ref.account, ref.chat, ref.platformMessage);
	return found?.conversation ? yield* get(byId, found.conversation) : undefined;
}

export interface ListArgs {
	readonly scope: Scope;
	readonly limit: number;
	/** The last conversation of the previous page. */
	readonly after?: { readonly lastActivityAt: number; readonly id: ConversationId };
	readonly activeSince?: number;
	readonly platform?: string;
	readonly profile?: string;
	/** open, unless told otherwise. */
	readonly list?: ConversationList;
}

/** Newest activity first. */
export function* conversations(args: ListArgs): Op<readonly Conversation[]> {
	const { scope, list = "open" } = args;
	const after = args.after ?? { lastActivityAt: LATEST, id: "" };
	if (scope.kind === "operator") {
		const platform = args.platform ?? null;
		const profile = args.profile ?? null;
		const rows = yield* all(
			newest[list],
			after.lastActivityAt,
			after.id,
			args.activeSince ?? 0,
			platform,
			platform,
			profile,
			profile,
			args.limit,
		);
		return rows.map(toConversation);
	}
	const own = new Map<string, ConversationRow>();
	for (const principal of yield* samePrincipals(scope.principal))
		for (const row of yield* all(ofPrincipal, principal)) own.set(row.id, row);
	const here = scope.conversation && (yield* get(byId, scope.conversation));
	if (here) own.set(here.id, here);
	return [...own.values()]
		.filter((row) => isOfProfile(scope, row) && row.state !== "deleted" && inList(list, row))
		.filter((row) => args.profile === undefined || row.profile === args.profile)
		.filter((row) => args.platform === undefined || row.platform === args.platform)
		.filter((row) => row.last_activity_at >= (args.activeSince ?? 0))
		.filter(
			(row) =>
				row.last_activity_at < after.lastActivityAt ||
				(row.last_activity_at === after.lastActivityAt && row.id < after.id),
		)
		.sort((a, b) => b.last_activity_at - a.last_activity_at || (a.id < b.id ? 1 : -1))
		.slice(0, args.limit)
		.map(toConversation);
}

function* toSession(row: SessionRow): Op<Session> {
	const base = row.base_session === null ? undefined : yield* get(idOfKey, row.base_session);
	return {
		id: row.id,
		conversation: row.conversation,
		base: base ? { session: base.id, seq: row.base_seq ?? 0, kind: row.base_kind ?? "continue" } : null,
		startedAt: row.started_at,
		lastActivityAt: row.last_activity_at,
		endedAt: row.ended_at,
		endReason: row.end_reason as EndReason | null,
		suspendedAt: row.suspended_at,
		resumePendingSince: row.resume_pending_since,
		...countersOf(row),
		context: unseal<string>(row.context_body, row.body_key),
		live: (yield* get(liveOf, row.conversation))?.id ?? null,
	};
}

function* seenSession(scope: Scope, id: string): Op<SessionRow> {
	const row = yield* get(sessionById, id);
	yield* assertSees(scope, row?.conversation ?? "", `session ${id}`);
	return row as SessionRow;
}

/** Returns exactly that session, and adds the conversation's live one. */
export function* session(args: { readonly scope: Scope; readonly id: SessionId }): Op<Session> {
	return yield* toSession(yield* seenSession(args.scope, args.id));
}

/** Newest first. */
export function* sessions(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly limit: number;
	readonly before?: SessionId;
}): Op<readonly Session[]> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const before = args.before === undefined ? LATEST : (yield* seenSession(args.scope, args.before)).key;
	const result: Session[] = [];
	for (const row of yield* all(sessionsOf, args.conversation, before, args.limit))
		result.push(yield* toSession(row));
	return result;
}

export interface MessagesArgs {
	readonly scope: Scope;
	readonly session: SessionId;
	readonly limit: number;
	/** Rows after this seq, ascending; or the last ones before it, still in order. Neither: the last rows. */
	readonly after?: number;
	readonly before?: number;
	readonly hidden?: boolean;
}

/** One page of a session's own rows, in order of seq, without hidden rows unless requested. */
export function* messages(args: MessagesArgs): Op<readonly Message[]> {
	const row = yield* seenSession(args.scope, args.session);
	const hidden = args.hidden ? 1 : 0;
	const rows =
		args.after === undefined
			? (yield* all(messagesBefore, row.key, args.before ?? LATEST, hidden, args.limit)).reverse()
			: yield* all(
					messagesAfter,
					row.key,
					args.after,
					args.before === undefined ? LATEST : args.before - 1,
					hidden,
					args.limit,
				);
	return yield* toMessages(rows, row);
}

function* toMessages(
	rows: readonly MessageRow[],
	of: Pick<SessionRow, "key" | "id" | "conversation">,
): Op<Message[]> {
	const hidden = yield* hiddenIn(of.key);
	const result: Message[] = [];
	for (const row of rows)
		result.push(yield* toMessage(row, of.conversation, of.id, isHidden(hidden, row.seq)));
	return result;
}

/** The whole transcript a session shows, its bases' rows first; hidden rows are marked for the projection to skip. */
export function* transcript(args: {
	readonly scope: Scope;
	readonly session: SessionId;
}): Op<readonly Message[]> {
	const row = yield* seenSession(args.scope, args.session);
	const result: Message[] = [];
	for (const segment of yield* chainOf(row)) {
		const rows = yield* all(messagesAfter, segment.session, 0, segment.upTo, 1, LATEST);
		const of = { key: segment.session, id: segment.sessionId, conversation: row.conversation };
		result.push(...(yield* toMessages(rows, of)));
	}
	return result;
}

/** The same, for a turn. */
export function* packedTranscript(args: {
	readonly scope: Scope;
	readonly session: SessionId;
}): Op<PackedTranscript> {
	const row = yield* seenSession(args.scope, args.session);
	const writer = new PackedTranscriptWriter();
	for (const { session, sessionId, upTo } of yield* chainOf(row)) {
		const hidden = yield* hiddenIn(session);
		for (const stored of yield* all(messagesAfter, session, 0, upTo, 1, LATEST))
			writer.add(
				isReadAsItIs(stored) ? stored : yield* withLargeText(stored, row.conversation),
				sessionId,
				isHidden(hidden, stored.seq),
			);
	}
	return writer.end();
}

/** The last visible rows of that transcript, and whether there are more before. Reads no more than it returns. */
export function* transcriptEnd(args: {
	readonly scope: Scope;
	readonly session: SessionId;
	readonly limit: number;
}): Op<{ readonly messages: readonly Message[]; readonly more: boolean }> {
	const row = yield* seenSession(args.scope, args.session);
	let messages: Message[] = [];
	for (const { session, sessionId, upTo } of (yield* chainOf(row)).reverse()) {
		const wanted = args.limit + 1 - messages.length;
		if (wanted === 0) break;
		const rows = (yield* all(messagesBefore, session, upTo + 1, 0, wanted)).reverse();
		const of = { key: session, id: sessionId, conversation: row.conversation };
		messages = [...(yield* toMessages(rows, of)), ...messages];
	}
	return { messages: messages.slice(-args.limit), more: messages.length > args.limit };
}

export function* message(args: { readonly scope: Scope; readonly id: number }): Op<Message> {
	const row = yield* get(messageById, args.id);
	const of = row && (yield* get(idOfKey, row.session));
	yield* assertSees(args.scope, of?.conversation ?? "", `message ${args.id}`);
	const found = row as MessageRow;
	const at = of as { id: SessionId; conversation: ConversationId };
	return yield* toMessage(found, at.conversation, at.id, isHidden(yield* hiddenIn(found.session), found.seq));
}

/** How full the live session is; null count for a conversation that is unknown or has none. */
export function* limits(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
}): Op<LimitInfo> {
	const row = yield* get(byId, args.conversation);
	if (!row || !(yield* sees(args.scope, row)) || row.live_session === null) return limitInfo(null, 0);
	const live = (yield* get(sessionById, row.live_session)) as SessionRow;
	return limitInfo(live.messages, live.cap);
}

export function* blob(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly digest: string;
}): Op<Uint8Array> {
	yield* assertSees(args.scope, args.conversation, `blob ${args.digest}`);
	return yield* readBlobBytes(args.conversation, args.digest);
}
