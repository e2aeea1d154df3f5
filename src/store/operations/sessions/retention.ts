// Deletion by age. An unused conversation is deleted after it was archived (I6): all rows in one transaction, and only if unchanged since
// the archive was started. Old events and refused messages go in limited steps.
import type { ConversationId, SessionId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { all, type Context, get, type Op, run, type Statement, sql } from "../../query.ts";
import type { OperatorScope } from "../../types.ts";
import { emit } from "../events.ts";
import { prunePairings } from "../people/pairings.ts";
import { unindexMessages } from "../search/index-rows.ts";
import { dropBlob } from "../transcript/blobs.ts";
import { end, findConversation, findLive } from "./sessions.ts";

/** What a conversation is compared by: every change is activity or an event. */
export interface Unchanged {
	readonly lastActivityAt: number;
	/** The very last event: none of this conversation came after it. */
	readonly lastEvent: number;
}

/** Why a conversation is not deleted now. */
export type Held =
	| "turn"
	| "inbox"
	| "delivery"
	| "process"
	| "confirmation"
	| "schedule"
	| "suspended"
	| "finalising"
	| "pinned"
	| "held"
	| "live"
	| "changed";

const lastActivity = sql<{ last_activity_at: number }>(
	"SELECT last_activity_at FROM conversations WHERE id = ?",
);
const lastEvent = sql<{ id: number | null }>("SELECT max(id) AS id FROM events");
/** Checks only the few events since, not all of the conversation's. */
const eventSince = sql<{ id: number }>("SELECT id FROM events WHERE id > ? AND conversation = ? LIMIT 1");
const idle = sql<{ id: ConversationId; last_activity_at: number }>(
	`SELECT id, last_activity_at FROM conversations WHERE last_activity_at < ? AND (last_activity_at, id) > (?, ?)
	AND pinned_at IS NULL ORDER BY last_activity_at, id LIMIT ?`,
);
const HOLDS: readonly (readonly [Held, Statement<{ found: number }>])[] = [
	[
		"turn",
		sql(
			"SELECT 1 AS found FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted') LIMIT 1",
		),
	],
	["inbox", sql("SELECT 1 AS found FROM inbox WHERE conversation = ? AND due_at IS NOT NULL LIMIT 1")],
	[
		"delivery",
		sql("SELECT 1 AS found FROM deliveries WHERE conversation = ? AND due_at IS NOT NULL LIMIT 1"),
	],
	["process", sql("SELECT 1 AS found FROM processes WHERE conversation = ? AND due_at IS NOT NULL LIMIT 1")],
	[
		"confirmation",
		sql("SELECT 1 AS found FROM confirmations WHERE conversation = ? AND due_at IS NOT NULL LIMIT 1"),
	],
	["schedule", sql("SELECT 1 AS found FROM schedules WHERE conversation = ? AND state <> 'ended' LIMIT 1")],
	[
		"suspended",
		sql(
			"SELECT 1 AS found FROM sessions WHERE conversation = ? AND ended_at IS NULL AND suspended_at IS NOT NULL LIMIT 1",
		),
	],
	[
		"finalising",
		sql(
			"SELECT 1 AS found FROM sessions WHERE conversation = ? AND ended_at IS NOT NULL AND finalised = 0 LIMIT 1",
		),
	],
	["pinned", sql("SELECT 1 AS found FROM conversations WHERE id = ? AND pinned_at IS NOT NULL")],
];

function* holdOf(conversation: string): Op<Held | null> {
	for (const [held, statement] of HOLDS) if (yield* get(statement, conversation)) return held;
	return null;
}

export interface PruneCandidates {
	readonly conversations: readonly ConversationId[];
	/** Where the next page starts; null after the last. */
	readonly next: { readonly lastActivityAt: number; readonly id: ConversationId } | null;
}

/** Conversations inactive since a time that nothing in the store holds and nobody has pinned, longest idle first. */
export function* pruneCandidates(args: {
	readonly scope: OperatorScope;
	readonly before: number;
	readonly limit: number;
	readonly after?: { readonly lastActivityAt: number; readonly id: ConversationId };
}): Op<PruneCandidates> {
	const rows = yield* all(
		idle,
		args.before,
		args.after?.lastActivityAt ?? -1,
		args.after?.id ?? "",
		args.limit,
	);
	const conversations: ConversationId[] = [];
	for (const { id } of rows) if ((yield* holdOf(id)) === null) conversations.push(id);
	const last = rows.at(-1);
	return {
		conversations,
		next: last && rows.length === args.limit ? { lastActivityAt: last.last_activity_at, id: last.id } : null,
	};
}

export interface RetentionState {
	readonly unchanged: Unchanged;
	readonly held: Held | null;
	readonly live: SessionId | null;
}

/** A conversation's state before it is archived, compared when it is deleted. */
export function* retentionState(args: {
	readonly scope: OperatorScope;
	readonly conversation: ConversationId;
}): Op<RetentionState> {
	return {
		unchanged: yield* stateOf(args.conversation),
		held: yield* holdOf(args.conversation),
		live: (yield* findLive(args.conversation))?.id ?? null,
	};
}

function* stateOf(conversation: ConversationId): Op<Unchanged> {
	const row = yield* get(lastActivity, conversation);
	if (!row)
		throw new KeryxError("store.not_found", `no conversation ${conversation}`, { field: "conversation" });
	return {
		lastActivityAt: row.last_activity_at,
		lastEvent: (yield* get(lastEvent))?.id ?? 0,
	};
}

function* isUnchanged(conversation: ConversationId, before: Unchanged): Op<boolean> {
	const { lastActivityAt } = yield* stateOf(conversation);
	if (lastActivityAt !== before.lastActivityAt) return false;
	return (yield* get(eventSince, before.lastEvent, conversation)) === undefined;
}

/** Ends the live session of a conversation to be deleted, so that it is finalised normally. */
export function* retireConversation(
	context: Context,
	args: { readonly conversation: ConversationId; readonly unchanged: Unchanged },
): Op<{ ended: SessionId | null }> {
	const { id } = yield* findConversation(args.conversation);
	const live = yield* findLive(id);
	if (!live || !(yield* isUnchanged(id, args.unchanged)) || (yield* holdOf(id)) !== null)
		return { ended: null };
	yield* end(context, live, "retention");
	return { ended: live.id };
}

const sessionsOf = sql<{ key: number }>("SELECT key FROM sessions WHERE conversation = ? ORDER BY key");
const messagesOf = sql<{ id: number }>(
	"SELECT id FROM messages WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
);
const blobsOf = sql<{ id: string }>("SELECT id FROM blobs WHERE conversation = ?");

const SESSIONS = "SELECT key FROM sessions WHERE conversation = ?";
const TURNS = `SELECT id FROM turns WHERE session IN (${SESSIONS})`;
/** In an order that no reference forbids; each by an index. */
const DELETES = [
	`DELETE FROM messages WHERE session IN (${SESSIONS})`,
	`DELETE FROM hidden_ranges WHERE session IN (${SESSIONS})`,
	"DELETE FROM processes WHERE conversation = ?",
	"DELETE FROM amendments WHERE conversation = ?",
	"DELETE FROM buttons WHERE conversation = ?",
	"DELETE FROM sends WHERE conversation = ?",
	"DELETE FROM confirmation_notices WHERE confirmation IN (SELECT id FROM confirmations WHERE conversation = ?)",
	"DELETE FROM confirmations WHERE conversation = ?",
	`DELETE FROM calls WHERE turn IN (${TURNS})`,
	`DELETE FROM model_calls WHERE turn IN (${TURNS})`,
	`DELETE FROM deliveries WHERE turn IN (${TURNS})`,
	"DELETE FROM deliveries WHERE conversation = ? AND turn IS NULL",
	`DELETE FROM inbox WHERE turn IN (${TURNS})`,
	"DELETE FROM inbox WHERE conversation = ? AND turn IS NULL AND due_at IS NULL",
	`DELETE FROM turns WHERE session IN (${SESSIONS})`,
	"DELETE FROM sessions WHERE conversation = ?",
	"DELETE FROM addresses WHERE conversation = ?",
	"DELETE FROM conversations WHERE id = ?",
].map((text) => sql(text));

const PAGE = 1000;

export interface DeleteArgs {
	readonly conversation: ConversationId;
	readonly unchanged: Unchanged;
	/** Whether a process or a confirmation outside these tables still belongs to it. */
	readonly held: boolean;
	/** Where the archive is: written and verified. */
	readonly archive: { readonly name: string; readonly digest: string };
}

/** Deletes an archived conversation, unless something has changed or still holds it. */
export function* deleteConversation(
	context: Context,
	args: DeleteArgs,
): Op<{ kind: "deleted" } | { kind: "kept"; reason: Held }> {
	const { id } = yield* findConversation(args.conversation);
	const held = args.held ? "held" : yield* holdOf(id);
	if (held !== null) return { kind: "kept", reason: held };
	if (!(yield* isUnchanged(id, args.unchanged))) return { kind: "kept", reason: "changed" };
	if (yield* findLive(id)) return { kind: "kept", reason: "live" };
	for (const { key } of yield* all(sessionsOf, id)) yield* unindexSession(key);
	for (const blob of yield* all(blobsOf, id)) yield* dropBlob(blob.id);
	for (const statement of DELETES) yield* run(statement, id);
	yield* emit(context, "conversation.deleted", { conversation: id }, { archive: args.archive });
	return { kind: "deleted" };
}

function* unindexSession(session: number): Op<void> {
	// A title is stored under the session's key as a negative number.
	yield* unindexMessages([-session]);
	for (let after = 0; ; after += PAGE) {
		const rows = yield* all(messagesOf, session, after, PAGE);
		yield* unindexMessages(rows.map((row) => row.id));
		if (rows.length < PAGE) return;
	}
}

const setActivity = sql("UPDATE conversations SET last_activity_at = ? WHERE id = ?");

/** A restored conversation counts as used now: otherwise retention would remove it again at once. */
export function* touchConversation(
	context: Context,
	{ conversation }: { readonly conversation: ConversationId },
): Op<void> {
	const { id } = yield* findConversation(conversation);
	yield* run(setActivity, context.now, id);
}

const DAY_MS = 86_400_000;
const REFUSED_KEPT_DAYS = 7;

const prunedTo = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'events_pruned_to'");
const oldestEvents = sql<{ id: number; at: number }>(
	"SELECT id, at FROM events WHERE id > ? ORDER BY id LIMIT ?",
);
const deleteEvents = sql("DELETE FROM events WHERE id <= ?");
const setPrunedTo = sql(
	`INSERT INTO settings (name, value) VALUES ('events_pruned_to', ?)
	ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);

/** Deletes some of the oldest events. A follower that has not seen them must read the state again. */
export function* pruneEvents(
	context: Context,
	args: { readonly keepDays: number; readonly limit: number },
): Op<{ pruned: number; more: boolean }> {
	const cutoff = context.now - args.keepDays * DAY_MS;
	const rows = yield* all(oldestEvents, Number((yield* get(prunedTo))?.value ?? 0), args.limit);
	// By the last old one, not the first new one: a clock that was briefly ahead must not stop the pruning.
	const last = rows.findLastIndex((row) => row.at < cutoff);
	const upTo = rows[last];
	if (!upTo) return { pruned: 0, more: false };
	yield* run(deleteEvents, upTo.id);
	yield* run(setPrunedTo, String(upTo.id));
	return { pruned: last + 1, more: last + 1 === args.limit };
}

const refused = sql<{ id: number }>(
	"SELECT id FROM inbox WHERE disposition = 'refused' AND disposed_at < ? ORDER BY disposed_at LIMIT ?",
);
const deleteInbox = sql("DELETE FROM inbox WHERE id = ?");

/** Deletes messages refused a week ago or longer, some at a time, and failed pairing requests. */
export function* pruneRefused(
	context: Context,
	args: { readonly limit: number },
): Op<{ pruned: number; more: boolean }> {
	const rows = yield* all(refused, context.now - REFUSED_KEPT_DAYS * DAY_MS, args.limit);
	for (const { id } of rows) yield* run(deleteInbox, id);
	yield* prunePairings(context, args.limit);
	return { pruned: rows.length, more: rows.length === args.limit };
}
