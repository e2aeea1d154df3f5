// Reads everything for an export, page by page (transfer-format.ts defines the format). Each page is one short read, so that neither
// memory nor the writer's log grows with the store. A conversation's head (its line, sessions and hidden ranges) is one read, and names
// the last row of each session: rows are immutable, so the rest belongs to that same moment.
import {
	type ConversationId,
	conversationId,
	type EndReason,
	type SessionId,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { ConversationLine, HiddenLine, PrincipalLine, SessionLine } from "../../transfer-format.ts";
import { toLine } from "../../transfer-line.ts";
import type { ConversationState, Scope } from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";
import { assertSees, sees } from "../people/scope.ts";
import { countersOf, SESSION_COLUMNS, type SessionRow } from "../sessions/sessions.ts";
import { lastSeqOf } from "../transcript/chain.ts";

/** One session with its bases, one conversation, or everything in the scope. */
export type ExportWhat =
	| { readonly kind: "everything" }
	| { readonly kind: "conversation"; readonly id: ConversationId }
	| { readonly kind: "session"; readonly id: SessionId };

interface PrincipalRow {
	readonly id: string;
	readonly created_at: number;
	readonly merged_into: string | null;
}

const roots = sql<PrincipalRow>(
	"SELECT id, created_at, merged_into FROM principals WHERE merged_into IS NULL AND id > ? ORDER BY id LIMIT ?",
);
const merged = sql<PrincipalRow>(
	"SELECT id, created_at, merged_into FROM principals WHERE merged_into IS NOT NULL AND id > ? ORDER BY id LIMIT ?",
);
const principalById = sql<PrincipalRow>("SELECT id, created_at, merged_into FROM principals WHERE id = ?");
const aliasesBetween = sql<{ principal: string; platform: string; alias: string; created_at: number }>(
	`SELECT principal, platform, alias, created_at FROM aliases WHERE principal >= ? AND principal <= ?
	ORDER BY principal, platform, alias`,
);
const ownerOf = sql<{ principal: string | null }>("SELECT principal FROM conversations WHERE id = ?");
const conversationOf = sql<{ conversation: ConversationId }>(
	"SELECT conversation FROM sessions WHERE id = ?",
);

export interface PrincipalsPage {
	readonly lines: readonly string[];
	readonly next: { readonly merged: boolean; readonly after: string } | null;
}

/** The people an export names: all of them, or the owner of the exported data. Merge targets come first. */
export function* exportPrincipals(args: {
	readonly scope: Scope;
	readonly what: ExportWhat;
	readonly from: { readonly merged: boolean; readonly after: string };
	readonly limit: number;
}): Op<PrincipalsPage> {
	const { scope, what, from, limit } = args;
	if (what.kind !== "everything" || scope.kind !== "operator")
		return { lines: yield* principalLines(yield* ownersOf(scope, what)), next: null };
	const rows = yield* all(from.merged ? merged : roots, from.after, limit);
	const last = rows.at(-1);
	const next =
		last && rows.length === limit
			? { merged: from.merged, after: last.id }
			: from.merged
				? null
				: { merged: true, after: "" };
	return { lines: yield* principalLines(rows), next };
}

function* ownersOf(scope: Scope, what: ExportWhat): Op<PrincipalRow[]> {
	const ids =
		what.kind === "everything"
			? yield* samePrincipals(scope.kind === "principal" ? scope.principal : "")
			: yield* ownerChain(scope, what);
	const rows: PrincipalRow[] = [];
	for (const id of ids) {
		const row = yield* get(principalById, id);
		if (row) rows.push(row);
	}
	return rows.sort(
		(a, b) => Number(a.merged_into !== null) - Number(b.merged_into !== null) || (a.id < b.id ? -1 : 1),
	);
}

/** The owner, and the person they are merged into. */
function* ownerChain(scope: Scope, what: Exclude<ExportWhat, { kind: "everything" }>): Op<string[]> {
	const conversation = yield* conversationNamed(scope, what);
	const owner = (yield* get(ownerOf, conversation))?.principal ?? null;
	if (owner === null) return [];
	const into = (yield* get(principalById, owner))?.merged_into ?? null;
	return into === null ? [owner] : [owner, into];
}

function* conversationNamed(
	scope: Scope,
	what: Exclude<ExportWhat, { kind: "everything" }>,
): Op<ConversationId> {
	const id =
		what.kind === "conversation" ? what.id : ((yield* get(conversationOf, what.id))?.conversation ?? "");
	yield* assertSees(scope, id, `${what.kind} ${what.id}`);
	return conversationId(id);
}

function* principalLines(rows: readonly PrincipalRow[]): Op<string[]> {
	// A page of them is adjacent; the few of one owner need not be.
	const isTogether = rows.every((row, n) => n === 0 || row.id > (rows[n - 1] as PrincipalRow).id);
	const pages = isTogether ? [rows] : rows.map((row) => [row]);
	const aliases = new Map<string, PrincipalLine["aliases"][number][]>(rows.map(({ id }) => [id, []]));
	for (const page of pages)
		for (const row of yield* all(aliasesBetween, page[0]?.id ?? "", page.at(-1)?.id ?? ""))
			aliases
				.get(row.principal)
				?.push({ platform: row.platform, alias: row.alias, createdAt: row.created_at });
	return rows.map((row) =>
		toLine({
			type: "principal",
			id: row.id,
			createdAt: row.created_at,
			mergedInto: row.merged_into,
			aliases: aliases.get(row.id) ?? [],
		} satisfies PrincipalLine),
	);
}

const conversationsAfter = sql<{ id: ConversationId }>(
	"SELECT id FROM conversations WHERE id > ? ORDER BY id LIMIT ?",
);
const conversationsOf = sql<{ id: ConversationId }>(
	"SELECT id FROM conversations WHERE principal = ? AND profile = coalesce(?, profile) AND state <> 'deleted' AND id > ? ORDER BY id LIMIT ?",
);

/** The conversations of a scope, in order of id. */
export function* exportConversations(args: {
	readonly scope: Scope;
	readonly what: ExportWhat;
	readonly after: string;
	readonly limit: number;
}): Op<readonly ConversationId[]> {
	const { scope, what, after, limit } = args;
	if (what.kind !== "everything") {
		const id = yield* conversationNamed(scope, what);
		return id > after ? [id] : [];
	}
	if (scope.kind === "operator") return (yield* all(conversationsAfter, after, limit)).map(({ id }) => id);
	const ids = new Set<ConversationId>();
	for (const principal of yield* samePrincipals(scope.principal))
		for (const { id } of yield* all(conversationsOf, principal, scope.profile, after, limit)) ids.add(id);
	const spoken = scope.conversation;
	const row = spoken === undefined || spoken <= after ? undefined : yield* get(conversationById, spoken);
	if (row && (yield* sees(scope, row))) ids.add(row.id);
	return [...ids].sort().slice(0, limit);
}

export interface ConversationRow {
	readonly id: ConversationId;
	readonly key: string;
	readonly platform: string;
	readonly profile: string;
	readonly chat_type: ConversationLine["chatType"];
	readonly principal: string | null;
	readonly shared: number;
	readonly model_override: string | null;
	readonly busy: ConversationLine["busy"];
	readonly tool_progress: NonNullable<ConversationLine["toolProgress"]> | null;
	readonly created_at: number;
	readonly last_activity_at: number;
	readonly source_body: string;
	readonly preview_body: string;
	readonly body_key: number | null;
	readonly origin: string | null;
	readonly origin_id: string | null;
	readonly title_source: NonNullable<ConversationLine["titleSource"]> | null;
	readonly title_body: string | null;
	readonly state: ConversationState;
	readonly state_at: number | null;
	readonly pinned_at: number | null;
}

export const CONVERSATION_COLUMNS = `id, key, platform, profile, chat_type, principal, shared, model_override, busy, tool_progress,
	created_at, last_activity_at, source_body, preview_body, body_key, origin, origin_id, title_source, title_body, state, state_at,
	pinned_at`;
const conversationById = sql<ConversationRow>(
	`SELECT ${CONVERSATION_COLUMNS} FROM conversations WHERE id = ?`,
);
export type AddressRow = Omit<ConversationLine["addresses"][number], "chatType"> & {
	readonly chat_type: string;
};
const addressesOf = sql<AddressRow>(
	`SELECT profile, platform, account, scope, chat_type, chat, thread, participant FROM addresses
	WHERE conversation = ? ORDER BY digest`,
);
export type StoredSession = SessionRow & {
	readonly origin: string | null;
	readonly origin_id: string | null;
};
const sessionsOf = sql<StoredSession>(
	`SELECT ${SESSION_COLUMNS.replace("context_body", "'' AS context_body")}, origin, origin_id
	FROM sessions WHERE conversation = ? ORDER BY key`,
);
export const HIDDEN_COLUMNS =
	"h.session, s.id AS session_id, h.from_seq, h.to_seq, h.counted, h.undo, h.live, h.live_seq, h.by_whom, h.at, h.undone_at";
const hiddenOf = sql<HiddenRow>(
	`SELECT ${HIDDEN_COLUMNS}
	FROM hidden_ranges h JOIN sessions s ON s.key = h.session WHERE s.conversation = ? ORDER BY h.id`,
);

export interface HiddenRow {
	readonly session: number;
	readonly session_id: SessionId;
	readonly from_seq: number;
	readonly to_seq: number;
	readonly counted: number;
	readonly undo: string;
	readonly live: number;
	readonly live_seq: number;
	readonly by_whom: HiddenLine["by"];
	readonly at: number;
	readonly undone_at: number | null;
}

/** A session's line without its context, which never changes and may be large: contextOf reads it when it is written. */
export interface SessionHead {
	readonly key: number;
	readonly line: Omit<SessionLine, "context">;
	/** Its last row at the time of the head. */
	readonly upTo: number;
}

export interface ExportHead {
	readonly conversation: string;
	readonly sessions: readonly SessionHead[];
	readonly hidden: readonly string[];
	readonly live: SessionId | null;
}

/** A conversation at one moment; only one session with its bases if named. Null if it is gone. */
export function* exportHead(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly session?: SessionId;
}): Op<ExportHead | null> {
	const row = yield* get(conversationById, args.conversation);
	if (!row || !(yield* sees(args.scope, row))) return null;
	const everyone = yield* all(sessionsOf, row.id);
	const chosen = args.session === undefined ? everyone : withBases(everyone, args.session);
	const ids = new Map(chosen.map((session) => [session.key, session.id]));
	const ranges = (yield* all(hiddenOf, row.id)).filter((range) => ids.has(range.session));
	const sessions: SessionHead[] = [];
	for (const session of chosen)
		sessions.push({
			key: session.key,
			line: sessionLine(row.id, session, ids),
			upTo: yield* lastSeqOf(session.key),
		});
	return {
		conversation: toLine(conversationLine(row, yield* all(addressesOf, row.id))),
		sessions,
		hidden: ranges.map((range) => toLine(hiddenLine(row.id, range, ids))),
		live: chosen.find((session) => session.ended_at === null)?.id ?? null,
	};
}

function withBases(sessions: readonly StoredSession[], id: SessionId): StoredSession[] {
	const chosen: StoredSession[] = [];
	let at = sessions.find((session) => session.id === id);
	while (at) {
		chosen.unshift(at);
		const base = at.base_session;
		at = sessions.find((session) => session.key === base);
	}
	return chosen;
}

export function conversationLine(row: ConversationRow, addresses: readonly AddressRow[]): ConversationLine {
	return {
		type: "conversation",
		id: row.id,
		...originUnless(row.id, row),
		key: row.key,
		platform: row.platform,
		profile: row.profile,
		chatType: row.chat_type,
		principal: row.principal,
		shared: row.shared === 1,
		modelOverride:
			row.model_override === null ? null : (JSON.parse(row.model_override) as Record<string, string>),
		busy: row.busy,
		...(row.tool_progress !== null && { toolProgress: row.tool_progress }),
		...(row.title_body !== null && { title: unseal<string>(row.title_body, row.body_key) }),
		...(row.title_source !== null && { titleSource: row.title_source }),
		...(row.state !== "open" && { state: row.state }),
		...(row.state_at !== null && { stateAt: row.state_at }),
		...(row.pinned_at !== null && { pinnedAt: row.pinned_at }),
		createdAt: row.created_at,
		lastActivityAt: row.last_activity_at,
		source: unseal(row.source_body, row.body_key),
		preview: unseal(row.preview_body, row.body_key),
		addresses: addresses.map(({ chat_type, ...address }) => ({
			profile: address.profile,
			platform: address.platform,
			account: address.account,
			scope: address.scope,
			chatType: chat_type as ConversationLine["chatType"],
			chat: address.chat,
			thread: address.thread,
			participant: address.participant,
		})),
	};
}

/** A row's origin is included only if its own ids do not imply it. */
export function originUnless(
	implied: string,
	row: { readonly origin: string | null; readonly origin_id: string | null },
): { origin?: { name: string; id: string } } {
	if (row.origin === null || row.origin_id === null || row.origin_id === implied) return {};
	return { origin: { name: row.origin, id: row.origin_id } };
}

export function sessionLine(
	conversation: ConversationId,
	row: StoredSession,
	ids: ReadonlyMap<number, SessionId>,
): SessionHead["line"] {
	const base = row.base_session === null ? undefined : ids.get(row.base_session);
	const previous = row.previous_session === null ? undefined : ids.get(row.previous_session);
	return {
		type: "session",
		conversation,
		id: row.id,
		...originUnless(`${conversation}/${row.id}`, row),
		base:
			base === undefined
				? null
				: { session: base, seq: row.base_seq ?? 0, kind: row.base_kind ?? "continue" },
		previous: previous ?? null,
		openedBy: row.opened_by,
		startedAt: row.started_at,
		lastActivityAt: row.last_activity_at,
		hadActivity: row.had_activity === 1,
		endedAt: row.ended_at,
		endReason: row.end_reason as EndReason | null,
		suspendedAt: row.suspended_at,
		resumePendingSince: row.resume_pending_since,
		noticePending: row.notice_pending === 1,
		...countersOf(row),
	};
}

export function hiddenLine(
	conversation: ConversationId,
	row: HiddenRow,
	ids: ReadonlyMap<number, SessionId>,
): HiddenLine {
	const live = ids.get(row.live);
	return {
		type: "hidden",
		conversation,
		session: row.session_id,
		fromSeq: row.from_seq,
		toSeq: row.to_seq,
		counted: row.counted,
		undo: row.undo,
		live: live ?? row.session_id,
		liveSeq: live === undefined ? -1 : row.live_seq,
		by: row.by_whom,
		at: row.at,
		undoneAt: row.undone_at,
	};
}

const contextOf = sql<{ context_body: string; body_key: number | null }>(
	"SELECT context_body, body_key FROM sessions WHERE key = ? AND conversation = ?",
);

/** The lines of some sessions of a head, with their contexts. */
export function* exportSessions(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly heads: readonly SessionHead[];
}): Op<readonly string[]> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const lines: string[] = [];
	for (const { key, line } of args.heads) {
		const row = yield* get(contextOf, key, args.conversation);
		if (!row) throw new KeryxError("store.not_found", `no session ${line.id}`, { field: "session" });
		lines.push(toLine({ ...line, context: unseal<string>(row.context_body, row.body_key) }));
	}
	return lines;
}
