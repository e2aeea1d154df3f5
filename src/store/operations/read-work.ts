// Reads work: inbox items, turns, deliveries, cursors.
import type { ConversationId, SessionId, Source } from "../../domain/index.ts";
import { parseSource } from "../../domain/index.ts";
import { unseal } from "../codec.ts";
import { all, get, type Op, sql } from "../query.ts";
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
	Turn,
} from "../types.ts";
import { DROPPED } from "./deliveries/outcomes.ts";
import { DELIVERY_COLUMNS, type DeliveryRow, toDelivery } from "./deliveries/row.ts";
import { toDisposition } from "./inbox/inbox.ts";
import { assertSees } from "./people/scope.ts";
import { openTurn, speakersOf, type TurnRow, turnById } from "./turns/row.ts";

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
