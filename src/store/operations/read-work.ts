// Reads work and its history: inbox items, turns, deliveries, cursors, events.
import type { ConversationId, SessionId, Source } from "../../domain/index.ts";
import { parseSource } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { unseal } from "../codec.ts";
import type { StoreEvent } from "../events.ts";
import { all, allWith, get, type Op, type Statement, sql } from "../query.ts";
import type {
	Content,
	Delivery,
	Destination,
	InboxItem,
	InboxKind,
	OperatorScope,
	PersonRole,
	Poster,
	Scope,
	Speaker,
	Turn,
} from "../types.ts";
import { chatIds } from "./chats/known.ts";
import { DELIVERY_COLUMNS, type DeliveryRow, toDelivery } from "./deliveries/deliveries.ts";
import { DROPPED } from "./deliveries/outcomes.ts";
import { factsOf, longSubject } from "./events.ts";
import { toDisposition } from "./inbox/inbox.ts";
import { pageRoleOf } from "./people/logins.ts";
import { pairedRoleOf } from "./people/pairings.ts";
import { findPrincipal, idsOf, samePrincipals } from "./people/principals.ts";
import { assertSees } from "./people/scope.ts";
import { speakersOf, TURN_COLUMNS, type TurnRow } from "./turns/row.ts";

interface InboxRow {
	readonly id: number;
	readonly kind: InboxKind;
	readonly conversation: ConversationId | null;
	readonly principal: string | null;
	readonly platform_message: string;
	readonly accepted_at: number;
	readonly turn: string | null;
	readonly message: number | null;
	readonly disposition: string | null;
	readonly disposition_detail: string | null;
	readonly disposed_at: number | null;
	readonly body: string | null;
	readonly body_key: number | null;
}

const INBOX = `id, kind, conversation, principal, platform_message, accepted_at, turn, message, disposition, disposition_detail,
	disposed_at, body, body_key`;
const inboxById = sql<InboxRow>(`SELECT ${INBOX} FROM inbox WHERE id = ?`);
const turnById = sql<TurnRow>(`SELECT ${TURN_COLUMNS} FROM turns WHERE id = ?`);
const openTurn = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted')`,
);
const sessionId = sql<{ id: SessionId }>("SELECT id FROM sessions WHERE key = ?");
const inboxOfTurn = sql<InboxRow>(`SELECT ${INBOX} FROM inbox WHERE turn = ? ORDER BY id`);
const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);
const deliveriesOfTurn = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE turn = ? ORDER BY n`,
);
const unsettled = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE state IN ('unknown', 'dead') AND due_at IS NULL
		AND reason IS DISTINCT FROM '${DROPPED}' AND n > ? ORDER BY n LIMIT ?`,
);
/** `+n` keeps SQLite from walking through every delivery: waiting ones are found by due_at, then sorted. */
const waiting = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE due_at IS NOT NULL AND +n > ? ORDER BY +n LIMIT ?`,
);
const cursorOf = sql<{ value: string }>(
	"SELECT value FROM channel_cursors WHERE platform = ? AND account = ?",
);

interface InboxBody {
	readonly source: unknown;
	readonly content: Content;
	readonly role?: PersonRole;
	readonly platformRole?: string;
	readonly poster?: Poster;
	readonly amended?: boolean;
	readonly sentAt?: number;
	readonly command?: string;
	readonly result?: unknown;
}

function toItem(row: InboxRow): InboxItem {
	const body = row.body === null ? null : unseal<InboxBody>(row.body, row.body_key);
	const source: Source | null = body ? parseSource(body.source) : null;
	return {
		id: row.id,
		kind: row.kind,
		conversation: row.conversation,
		principal: row.principal,
		source,
		platformMessage: row.platform_message,
		content: body?.content ?? null,
		role: body?.role ?? null,
		platformRole: body?.platformRole ?? null,
		poster: body?.poster ?? null,
		amended: body?.amended ?? false,
		command: body?.command === undefined ? null : { name: body.command, result: body.result },
		acceptedAt: row.accepted_at,
		sentAt: body?.sentAt ?? row.accepted_at,
		turn: row.turn,
		message: row.message,
		disposition: toDisposition(row),
		disposedAt: row.disposed_at,
	};
}

export function* inboxItem(args: { readonly scope: Scope; readonly id: number }): Op<InboxItem> {
	const row = yield* get(inboxById, args.id);
	yield* assertSees(args.scope, row ? row.conversation : "", `inbound message ${args.id}`);
	return toItem(row as InboxRow);
}

/** Waiting messages, everywhere or in one conversation, in order of acceptance: for a start to resume, or a person to drop. */
export function* waitingItems(args: {
	readonly scope: OperatorScope;
	readonly conversation?: ConversationId;
	/** Only what this node accepted or took over. */
	readonly node?: number;
	readonly after: number;
	readonly limit: number;
}): Op<readonly InboxItem[]> {
	const { conversation, node, after, limit } = args;
	if (conversation !== undefined) return (yield* all(inboxWaitingIn, conversation, after, limit)).map(toItem);
	const rows =
		node === undefined ? yield* all(inboxWaiting, after, limit) : yield* all(inboxOfNode, node, after, limit);
	return rows.map(toItem);
}
const inboxOfNode = sql<InboxRow>(
	`SELECT ${INBOX} FROM inbox WHERE due_at IS NOT NULL AND node = ? AND id > ? ORDER BY id LIMIT ?`,
);
const inboxWaiting = sql<InboxRow>(
	`SELECT ${INBOX} FROM inbox WHERE due_at IS NOT NULL AND id > ? ORDER BY id LIMIT ?`,
);
const inboxWaitingIn = sql<InboxRow>(
	`SELECT ${INBOX} FROM inbox WHERE conversation = ? AND due_at IS NOT NULL AND id > ? ORDER BY id LIMIT ?`,
);

function* toTurn(row: TurnRow): Op<Turn> {
	return {
		id: row.id,
		conversation: row.conversation,
		session: ((yield* get(sessionId, row.session)) as { id: SessionId }).id,
		principal: row.principal,
		speakers: speakersOf(row),
		token: row.token,
		state: row.state,
		detail: row.detail,
		node: row.epoch,
		attempts: row.attempts,
		destination: JSON.parse(row.destination) as Destination,
		startedAt: row.started_at,
		interruptedAt: row.interrupted_at,
		endedAt: row.ended_at,
	};
}

export function* turn(args: {
	readonly scope: Scope;
	readonly id: string;
}): Op<Turn & { inbox: readonly InboxItem[]; deliveries: readonly Delivery[] }> {
	const row = yield* get(turnById, args.id);
	yield* assertSees(args.scope, row?.conversation ?? "", `turn ${args.id}`);
	const found = yield* toTurn(row as TurnRow);
	return {
		...found,
		inbox: (yield* all(inboxOfTurn, args.id)).map(toItem),
		deliveries: (yield* all(deliveriesOfTurn, args.id)).map(toDelivery),
	};
}

/** The running or resumable turn of a conversation. */
export function* openTurnOf(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
}): Op<Turn | null> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const row = yield* get(openTurn, args.conversation);
	return row ? yield* toTurn(row) : null;
}

export function* delivery(args: { readonly scope: Scope; readonly id: string }): Op<Delivery> {
	const row = yield* get(deliveryById, args.id);
	// Only the operator sees a notice to a chat without a conversation, such as a stranger's code.
	if (!row || args.scope.kind !== "operator")
		yield* assertSees(args.scope, row?.conversation ?? "", `delivery ${args.id}`);
	return toDelivery(row as DeliveryRow);
}

/** The outbox: deliveries on their way, including unknown ones whose platform is yet to be asked; or those that ended unknown or dead. */
export function* deliveries(args: {
	readonly scope: OperatorScope;
	readonly which: "waiting" | "unsettled";
	readonly after?: number;
	readonly limit: number;
}): Op<readonly Delivery[]> {
	return (yield* all(args.which === "waiting" ? waiting : unsettled, args.after ?? 0, args.limit)).map(
		toDelivery,
	);
}

/** Deliveries of unknown outcome since then, newest first, without those the outbox has yet to look up. */
export function* unknownDeliveries(args: {
	readonly scope: OperatorScope;
	readonly since: number;
}): Op<readonly Delivery[]> {
	const found: Delivery[] = [];
	for (let before = Number.MAX_SAFE_INTEGER; ; ) {
		const page = yield* all(unsettledBefore, before, PAGE);
		for (const row of page) {
			// Rows are numbered in time: everything before an old one is old, and costs nothing.
			if (row.created_at < args.since) return found;
			if (row.state === "unknown" && row.due_at === null) found.push(toDelivery(row));
		}
		const last = page.at(-1);
		if (!last || page.length < PAGE) return found;
		before = last.n;
	}
}
const PAGE = 200;
const unsettledBefore = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE state IN ('unknown', 'dead') AND n < ? ORDER BY n DESC LIMIT ?`,
);

export function* channelCursor(args: {
	readonly scope: OperatorScope;
	readonly platform: string;
	readonly account: string;
}): Op<string | null> {
	return (yield* get(cursorOf, args.platform, args.account))?.value ?? null;
}

interface EventRow {
	readonly id: number;
	readonly at: number;
	readonly type: string;
	readonly conversation: ConversationId | null;
	readonly session: SessionId | null;
	readonly turn: string | null;
	readonly subject: string | null;
	readonly facts: string | null;
}

const eventsAfter = sql<EventRow>("SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?");
/** Of the index events_stretch: so many events each. */
const STRETCH = 1024;
/** So many events are looked through by one statement. */
const LOOKED_THROUGH = 256 * STRETCH;
/** For both engines: SQLite's index is by stretch, then by the end of the conversation's id. Without the `+` it would not be used. */
const ofConversation = (condition: string) =>
	sql<EventRow>(
		`WITH RECURSIVE stretches (s) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT s + 1 FROM stretches WHERE s < ?)
		SELECT e.* FROM stretches CROSS JOIN events e
		WHERE e.id >> 10 = +s AND substr(e.conversation, -4) = substr(?, -4) AND e.conversation = ? AND e.id > ? AND e.id <= ? ${condition}
		ORDER BY e.id LIMIT ?`,
		`SELECT * FROM events WHERE conversation = ? AND id > ? AND id <= ? ${condition} ORDER BY id LIMIT ?`,
	);
const eventsOf = ofConversation("");
const eventsAbout = ofConversation("AND (turn = ? OR (subject = ? AND type LIKE 'inbound.%'))");
const lastEvent = sql<{ id: number | null }>("SELECT max(id) AS id FROM events");
const prunedTo = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'events_pruned_to'");

export type EventsResult =
	| { readonly kind: "events"; readonly events: readonly StoreEvent[]; readonly cursor: string }
	/** The cursor is too old or invalid: read the state again and continue from `cursor`. */
	| { readonly kind: "resync"; readonly cursor: string };

/** Events after a cursor, in order; `""` is the start of what is kept, `"now"` the end. */
export function* events(args: {
	readonly scope: Scope;
	readonly after: string;
	readonly limit: number;
	readonly conversation?: ConversationId;
}): Op<EventsResult> {
	if (args.conversation !== undefined)
		yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	else if (args.scope.kind !== "operator")
		throw new KeryxError("argument.invalid", "conversation must be named in this scope", {
			field: "conversation",
		});
	const kept = Number((yield* get(prunedTo))?.value ?? 0);
	// If all of them were pruned, the end is where they were pruned to.
	const end = Math.max((yield* get(lastEvent))?.id ?? 0, kept);
	const after = args.after === "" ? kept : args.after === "now" ? end : fromCursor(args.after);
	if (after === null || after < kept || after > end) return { kind: "resync", cursor: toCursor(end) };
	const rows =
		args.conversation === undefined
			? yield* all(eventsAfter, after, args.limit)
			: yield* eventsBetween(eventsOf, args.conversation, [after, end], [], args.limit);
	return { kind: "events", events: rows.map(toEvent), cursor: toCursor(rows.at(-1)?.id ?? after) };
}

/** Events of a conversation after one id, up to another. */
function* eventsBetween(
	statement: Statement<EventRow>,
	conversation: ConversationId,
	[after, end]: readonly [number, number],
	values: readonly string[],
	limit: number,
): Op<EventRow[]> {
	const rows: EventRow[] = [];
	for (let from = after; from < end && rows.length < limit; ) {
		const to = Math.min(end, (Math.floor(from / LOOKED_THROUGH) + 1) * LOOKED_THROUGH);
		const asked = [conversation, from, to, ...values, limit - rows.length];
		const stretches = [Math.floor((from + 1) / STRETCH), Math.floor(to / STRETCH)];
		rows.push(...(yield* allWith(statement, [...stretches, conversation, ...asked], asked)));
		from = to;
	}
	return rows;
}

/** All events of one inbound message and its turn, in order. */
export function* story(args: {
	readonly scope: Scope;
	readonly id: number;
}): Op<{ item: InboxItem; events: readonly StoreEvent[] }> {
	const item = yield* inboxItem(args);
	if (item.conversation === null) return { item, events: [] };
	const kept = Number((yield* get(prunedTo))?.value ?? 0);
	const end = (yield* get(lastEvent))?.id ?? 0;
	const about = [item.turn ?? "", String(item.id)];
	const rows = yield* eventsBetween(eventsAbout, item.conversation, [kept, end], about, 1000);
	return { item, events: rows.map(toEvent) };
}

/** A person's nth newest message that is not a command: waiting, taken by a turn, or given up. */
export function* lastInbound(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	/** 1 (default) is the newest. */
	readonly back?: number;
	/** Only messages accepted before this one. */
	readonly before?: number;
}): Op<number | null> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const { back = 1, before = Number.MAX_SAFE_INTEGER } = args;
	const found: number[] = [];
	for (const statement of [newestWaiting, newestTaken, newestGivenUp])
		found.push(...(yield* all(statement, args.conversation, before, back)).map(({ id }) => id));
	return found.sort((a, b) => b - a)[back - 1] ?? null;
}
const newestWaiting = sql<{ id: number }>(
	`SELECT id FROM inbox WHERE conversation = ? AND due_at IS NOT NULL AND disposition IS NULL AND kind = 'person' AND id < ?
	ORDER BY id DESC LIMIT ?`,
);
const newestTaken = sql<{ id: number }>(
	`SELECT i.id FROM sessions s JOIN turns t ON t.session = s.key JOIN inbox i ON i.turn = t.id
	WHERE s.conversation = ? AND i.kind = 'person' AND i.id < ? ORDER BY i.id DESC LIMIT ?`,
);
const newestGivenUp = sql<{ id: number }>(
	`SELECT id FROM inbox WHERE conversation = ? AND turn IS NULL AND due_at IS NULL AND kind = 'person'
		AND disposition IN ('expired', 'dropped_by_user', 'failed') AND id < ?
	ORDER BY id DESC LIMIT ?`,
);

/** When anything last happened: tells a start how long Keryx was away. */
export function* lastEventAt(_: { readonly scope: OperatorScope }): Op<number | null> {
	return (yield* get(newestEvent))?.at ?? null;
}
const newestEvent = sql<{ at: number }>("SELECT at FROM events ORDER BY id DESC LIMIT 1");

export interface SpeakerFacts {
	/** All their ids on the platform they wrote from. */
	readonly ids: readonly string[];
	/** Whether the conversation is only theirs. */
	readonly isOwn: boolean;
	/** For a program on the API: whether its token is still valid; null: not a program. */
	readonly token: "live" | "ended" | null;
	/** The role given by pairing. */
	readonly paired: PersonRole | null;
	/** For someone with a login to the page: their role, or none once revoked; null: no login. */
	readonly page: PersonRole | "none" | null;
}

/** Facts about a turn's people, needed to decide their current rights. */
export function* speakerFacts(args: {
	readonly scope: OperatorScope;
	readonly conversation: ConversationId;
	readonly speakers: readonly Pick<Speaker, "principal" | "platform">[];
	readonly now: number;
}): Op<{
	readonly facts: readonly SpeakerFacts[];
	/** The ids the conversation's chat has had, its current one first. */
	readonly chats: readonly string[];
}> {
	const found = yield* get(ownerOf, args.conversation);
	const owner = found?.principal ?? null;
	const chats = found ? yield* chatIds(parseSource(unseal(found.source_body, found.body_key))) : [];
	const owners = owner === null ? [] : yield* samePrincipals(owner);
	const facts: SpeakerFacts[] = [];
	for (const { principal, platform } of args.speakers) {
		if (principal === null) {
			facts.push({ ids: [], isOwn: false, token: null, paired: null, page: null });
			continue;
		}
		const tokens = platform === "api_server" ? yield* all(tokensOf, principal) : [];
		const live = tokens.some(
			({ revoked_at, expires_at }) => revoked_at === null && (expires_at === null || expires_at > args.now),
		);
		facts.push({
			ids: yield* idsOf(platform, principal),
			isOwn: owners.includes(principal),
			token: tokens.length === 0 ? null : live ? "live" : "ended",
			paired: yield* pairedRoleOf(platform, principal),
			page: platform === "web" ? yield* pageRoleOf(principal) : null,
		});
	}
	return { facts, chats };
}
const ownerOf = sql<{ principal: string | null; source_body: string; body_key: number | null }>(
	"SELECT principal, source_body, body_key FROM conversations WHERE id = ?",
);
const tokensOf = sql<{ revoked_at: number | null; expires_at: number | null }>(
	"SELECT revoked_at, expires_at FROM tokens WHERE principal = ?",
);

/** All ids of a person known by one of these, for allow-lists. */
export function* knownIds(args: {
	readonly scope: OperatorScope;
	readonly platform: string;
	readonly ids: readonly string[];
}): Op<readonly string[]> {
	const principal = yield* findPrincipal(args.platform, args.ids);
	return principal === undefined ? [] : yield* idsOf(args.platform, principal);
}

/** Written by emit: type and facts match. */
function toEvent(row: EventRow): StoreEvent {
	return {
		cursor: toCursor(row.id),
		at: row.at,
		type: row.type,
		conversation: row.conversation,
		session: row.session,
		turn: row.turn,
		subject: row.subject === null ? null : longSubject(row.turn, row.subject),
		facts: factsOf(row),
	} as StoreEvent;
}

function toCursor(id: number): string {
	return `e${id.toString(36)}`;
}

function fromCursor(cursor: string): number | null {
	if (!/^e[0-9a-z]{1,11}$/.test(cursor)) return null;
	const id = Number.parseInt(cursor.slice(1), 36);
	return Number.isSafeInteger(id) ? id : null;
}
