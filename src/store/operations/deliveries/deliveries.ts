// The outbox: deliveries are committed with the end of their turn (I7), claimed one at a time per destination in commit order (I19), and
// settled with a receipt. One of unknown outcome is never sent again by itself (I7).
import type { ConversationId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	Delivery,
	DeliveryBody,
	DeliveryState,
	Destination,
	NewDelivery,
	QuestionEnds,
} from "../../types.ts";
import { reachOf } from "../chats/known.ts";
import { emit } from "../events.ts";
import { NODE_LIVES } from "../nodes.ts";
import { findConversation } from "../sessions/sessions.ts";
import { addButtons, endButtons } from "./buttons.ts";
import { bringForward, laneOf, letIn } from "./lanes.ts";

export interface DeliveryRow {
	readonly n: number;
	readonly id: string;
	readonly conversation: ConversationId;
	readonly turn: string | null;
	readonly kind: Delivery["kind"];
	readonly state: DeliveryState;
	readonly destination: string;
	readonly lane: string;
	readonly receipt: string | null;
	readonly reason: string | null;
	readonly attempts: number;
	readonly created_at: number;
	readonly settled_at: number | null;
	readonly body: string;
	readonly body_key: number | null;
	readonly due_at: number | null;
	readonly claim: string | null;
}

export const DELIVERY_COLUMNS =
	"n, id, conversation, turn, kind, state, destination, lane, receipt, reason, attempts, created_at, settled_at, body, body_key, due_at, claim";

/** The first delivery in an empty lane. */
const insertDelivery = sql(
	`INSERT INTO deliveries (id, conversation, turn, kind, state, platform, account, destination, lane, created_at, body, due_at, claim, first_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
		CASE WHEN EXISTS (SELECT 1 FROM deliveries e WHERE e.lane = ? AND e.due_at IS NOT NULL) THEN NULL ELSE CAST(? AS BIGINT) END)
	ON CONFLICT (id) DO NOTHING`,
);
const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);
const fillShown = sql<{ lane: string }>(
	`UPDATE deliveries SET state = 'pending', body = ?, due_at = ?
	WHERE id = ? AND state = 'open' AND receipt IS NOT NULL RETURNING lane`,
);
const dropUnshown = sql("DELETE FROM deliveries WHERE id = ? AND state = 'open' AND receipt IS NULL");
const fillUncertain = sql(
	"UPDATE deliveries SET body = ? WHERE id = ? AND (state = 'unknown' OR (state = 'sending' AND attempts = 0))",
);
/** Condition: the text, a list of channels between bars, does not contain the delivery's. */
const NOT_NAMED = "replace(CAST(? AS TEXT), '|' || platform || ' ' || account || '|', '') = CAST(? AS TEXT)";
/** Excludes channels that can send nothing now, and those of another node. */
const due = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE first_at IS NOT NULL AND first_at <= ? AND state IN ('pending', 'unknown')
		AND (state = 'unknown' OR ${NOT_NAMED}) AND ${NOT_NAMED} ORDER BY first_at, n LIMIT ?`,
);
const claimRow = sql(
	"UPDATE deliveries SET state = 'sending', claim = ?, attempts = attempts + 1, due_at = ?, first_at = ? WHERE n = ?",
);
const claimAsking = sql("UPDATE deliveries SET claim = ?, due_at = ?, first_at = ? WHERE n = ?");
const settle = sql(
	`UPDATE deliveries SET state = ?, receipt = coalesce(?, receipt), reason = ?, due_at = ?, first_at = NULL, settled_at = ?,
		claim = NULL, attempts = attempts - ? WHERE n = ?`,
);
const forgetReceipt = sql("UPDATE deliveries SET receipt = NULL WHERE n = ?");
const OF_EARLIER = `claim NOT LIKE ?
		AND NOT EXISTS (SELECT 1 FROM nodes n WHERE ${NODE_LIVES} AND deliveries.claim LIKE n.epoch || ':%')`;
/** `+n`: finds the unfinished ones, then sorts; avoids a walk through every delivery. */
const sendingOfEarlier = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE due_at IS NOT NULL AND state = 'sending' AND ${OF_EARLIER} ORDER BY +deliveries.n`,
);
const askedByEarlier = sql(
	`UPDATE deliveries SET claim = NULL, due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE due_at IS NOT NULL AND state = 'unknown' AND ${OF_EARLIER}`,
);
const setDue = sql(
	`UPDATE deliveries SET due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE id = ? AND due_at IS NOT NULL AND state IN ('pending', 'unknown')`,
);
/** Excludes unknown ones: they would be looked up twice. */
const pullForward = sql(
	`UPDATE deliveries SET due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE due_at > ? AND state = 'pending'`,
);
/** Dated by a clock that was set back while nothing ran. */
const fromTheFuture = sql(
	`UPDATE deliveries SET due_at = ?, first_at = CASE WHEN first_at IS NULL THEN NULL ELSE CAST(? AS BIGINT) END
	WHERE due_at > ? AND created_at > ? AND state IN ('pending', 'unknown')`,
);
/** A preview is claimed by its turn, and counts no attempts. */
const claimedNow = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE first_at IS NOT NULL AND state = 'sending' AND attempts > 0 AND claim LIKE ?`,
);
/** Deliveries behind another one are not next, however long they have been due. */
const nextDueAt = sql<{ first_at: number }>(
	`SELECT first_at FROM deliveries WHERE first_at IS NOT NULL AND state IN ('pending', 'unknown') AND ${NOT_NAMED} ORDER BY first_at LIMIT 1`,
);

export function toDelivery(row: DeliveryRow): Delivery {
	return {
		n: row.n,
		id: row.id,
		conversation: row.conversation,
		turn: row.turn,
		kind: row.kind,
		state: row.state,
		destination: JSON.parse(row.destination) as Destination,
		receipt: row.receipt,
		reason: row.reason,
		attempts: row.attempts,
		createdAt: row.created_at,
		settledAt: row.settled_at,
		body: bodyOf(row),
		dueAt: row.due_at,
	};
}

/** Most texts are the same without markup: such a text is stored once. */
function sealed({ plain, ...body }: DeliveryBody): string {
	return seal(plain === body.text ? body : { ...body, plain });
}

function bodyOf({ body, body_key }: DeliveryRow): DeliveryBody {
	const stored = unseal<Omit<DeliveryBody, "plain"> & { readonly plain?: string }>(body, body_key);
	return { ...stored, plain: stored.plain ?? stored.text };
}

/**
 * Adds deliveries that are due at once, or after their pause. One with a visible preview gets its final text and keeps its place; one
 * whose preview was never shown takes its place now (I19). Other existing ones stay unchanged.
 */
export function* addDeliveries(
	context: Context,
	conversation: string,
	turn: string | null,
	deliveries: readonly NewDelivery[],
): Op<void> {
	for (const delivery of deliveries) {
		const { destination, gone } = yield* reachOf(delivery.destination);
		yield* addButtons(context, conversation, { ...delivery, destination });
		if (!(yield* add(context, conversation, turn, { ...delivery, destination }))) continue;
		const { id, kind } = delivery;
		yield* emit(context, "delivery.pending", { conversation, turn, subject: id }, { kind });
		if (gone === null) continue;
		const row = yield* get(deliveryById, id);
		if (row?.state === "pending") yield* settleRow(context, row, { kind: "dead", reason: gone });
	}
}

function* add(
	context: Context,
	conversation: string,
	turn: string | null,
	delivery: NewDelivery,
): Op<boolean> {
	const { id, notBefore = 0 } = delivery;
	const dueAt = Math.max(context.now, notBefore);
	const pending = { state: "pending", dueAt, claim: null } as const;
	if (yield* insertRow(context, conversation, turn, delivery, pending)) return true;
	const shown = yield* get(fillShown, sealed(delivery.body), dueAt, id);
	if (shown) {
		yield* letIn(shown.lane);
		return true;
	}
	if (yield* run(dropUnshown, id)) return yield* insertRow(context, conversation, turn, delivery, pending);
	// A preview being sent, or of unknown outcome, stays so; the final text is sent or edited afterwards.
	yield* run(fillUncertain, sealed(delivery.body), id);
	return false;
}

/** A question is settled: if its message can be edited, it says so. After the question itself (I19). */
export function* endQuestion(context: Context, confirmation: string, as: keyof QuestionEnds): Op<void> {
	for (const { delivery: id, body } of yield* endButtons(context, confirmation, as)) {
		const asked = yield* get(deliveryById, id);
		if (!asked) continue;
		const { replyTo: _, ...destination } = JSON.parse(asked.destination) as Destination;
		yield* addDeliveries(context, asked.conversation, null, [
			{ id: `${id}:end`, kind: "reply", destination, body },
		]);
	}
}

/** After everything on its way to its destination. False if that id exists. */
export function* insertRow(
	context: Context,
	conversation: string,
	turn: string | null,
	{ id, kind, destination, body }: NewDelivery,
	as: {
		readonly state: "pending" | "sending";
		readonly dueAt: number;
		readonly claim: string | null;
	},
): Op<boolean> {
	const { platform, account } = destination;
	const lane = laneOf(destination);
	const added = yield* run(
		insertDelivery,
		id,
		conversation,
		turn,
		kind,
		as.state,
		platform,
		account,
		JSON.stringify(destination),
		lane,
		context.now,
		sealed(body),
		as.dueAt,
		as.claim,
		lane,
		as.dueAt,
	);
	return added > 0;
}

/** A notice, at most once by its id; about a turn, if it names one. */
export function* notify(
	context: Context,
	args: {
		readonly conversation: ConversationId;
		readonly turn?: string;
		readonly deliveries: readonly NewDelivery[];
	},
): Op<void> {
	const conversation = yield* findConversation(args.conversation);
	yield* addDeliveries(context, conversation.id, args.turn ?? null, args.deliveries);
}

/** Whether each of these was already added. */
export function* haveDeliveries(deliveries: readonly NewDelivery[]): Op<boolean> {
	for (const { id } of deliveries) if (!(yield* get(deliveryById, id))) return false;
	return true;
}

/** How many messages a channel can send now. */
export interface Room {
	readonly platform: string;
	readonly account: string;
	readonly free: number;
}

/**
 * Due deliveries, only the first per destination: marked as sending, or still unknown and to be looked up (`recordLookup`). One that is
 * not looked up in time is handed out again.
 */
export function* claimDeliveries(
	context: Context,
	args: {
		readonly limit: number;
		readonly timeoutMs: number;
		/** Channels with limited capacity. Claiming more would leave unknown outcomes after a crash. */
		readonly rooms?: readonly Room[];
		/** Channels of another node, which sends their deliveries. */
		readonly elsewhere?: readonly Pick<Room, "platform" | "account">[];
	},
): Op<{ deliveries: readonly (Delivery & { readonly claim: string })[]; nextDueAt: number | null }> {
	// Short, because a row that grows splits its page. This end of an id is random.
	const claim = `${context.epoch}:${context.uuid().slice(-12)}`;
	const until = context.now + args.timeoutMs;
	const deliveries: (Delivery & { readonly claim: string })[] = [];
	const free = new Map((args.rooms ?? []).map((room) => [`${room.platform} ${room.account}`, room.free]));
	const full = [...free].map(([channel, left]) => (left > 0 ? "" : `|${channel}|`)).join("");
	const elsewhere = (args.elsewhere ?? []).map((one) => `|${one.platform} ${one.account}|`).join("");
	for (const row of yield* all(due, context.now, full, full, elsewhere, elsewhere, args.limit)) {
		const { platform, account } = JSON.parse(row.destination) as Destination;
		const left = free.get(`${platform} ${account}`);
		if (row.state === "pending" && left !== undefined) {
			if (left <= 0) continue;
			free.set(`${platform} ${account}`, left - 1);
		}
		const delivery = { ...(yield* withReceipt(toDelivery(row))), claim };
		if (row.state === "unknown") {
			yield* run(claimAsking, claim, until, until, row.n);
			deliveries.push(delivery);
			continue;
		}
		yield* run(claimRow, claim, until, until, row.n);
		deliveries.push({ ...delivery, state: "sending", attempts: row.attempts + 1 });
	}
	return { deliveries, nextDueAt: (yield* get(nextDueAt, elsewhere, elsewhere))?.first_at ?? null };
}

/** One that replaces another's message is an edit of it; one that was never shown has none. */
function* withReceipt(delivery: Delivery): Op<Delivery> {
	const { edits } = delivery.body;
	if (edits === undefined) return delivery;
	return { ...delivery, receipt: (yield* get(deliveryById, edits))?.receipt ?? null };
}

/** Undoes a claim whose answer was lost: nothing of it was sent. `holding`: what the caller knows it holds. */
export function* releaseClaims(context: Context, args: { readonly holding: readonly string[] }): Op<void> {
	const holding = new Set(args.holding);
	for (const row of yield* all(claimedNow, `${context.epoch}:%`))
		if (!holding.has(row.id))
			yield* settleRow(context, row, {
				kind: "retry",
				at: context.now,
				reason: "it was picked up and never sent",
				pause: true,
			});
}

export type Settlement =
	| { readonly kind: "sent"; readonly receipt: string }
	| {
			readonly kind: "retry";
			readonly at: number;
			readonly reason: string;
			/** Requested by the platform: does not count as an attempt. */
			readonly pause?: boolean;
			/** The message of its receipt is gone: it is sent as a new one. */
			readonly anew?: boolean;
	  }
	| {
			readonly kind: "unknown";
			readonly reason: string;
			/** The platform can be asked: claimed for that at once, and later ones wait for it. */
			readonly unasked?: boolean;
	  }
	| { readonly kind: "dead"; readonly reason: string };

/** Ends a claim. Settling another claim's delivery is refused: two senders never decide about one. */
export function* settleDelivery(
	context: Context,
	args: { readonly id: string; readonly claim: string; readonly settlement: Settlement },
): Op<void> {
	const row = yield* claimedRow(args);
	yield* settleRow(context, row, yield* unlessGone(row, args.settlement));
}

/** Nothing is retried in a chat that is gone meanwhile. */
function* unlessGone(row: DeliveryRow, settlement: Settlement): Op<Settlement> {
	if (settlement.kind !== "retry") return settlement;
	const { gone } = yield* reachOf(JSON.parse(row.destination) as Destination);
	return gone === null ? settlement : { kind: "dead", reason: gone };
}

/** The delivery held by a claim. */
export function* claimedRow({ id, claim }: { readonly id: string; readonly claim: string }): Op<DeliveryRow> {
	const row = yield* get(deliveryById, id);
	if (!row) throw new KeryxError("store.not_found", `no delivery ${id}`, { field: "id" });
	if (row.state !== "sending" || row.claim !== claim)
		throw new KeryxError("delivery.stale", `delivery ${id} is ${row.state}; this claim no longer holds it`, {
			field: "claim",
		});
	return row;
}

/** Records the outcome of a delivery; later ones move up. */
export function* settleRow(
	context: Context,
	row: DeliveryRow,
	settlement: Settlement,
	receipt = settlement.kind === "sent" ? settlement.receipt : null,
): Op<void> {
	const state: DeliveryState = settlement.kind === "retry" ? "pending" : settlement.kind;
	const reason = settlement.kind === "sent" ? null : settlement.reason;
	const dueAt = dueAfter(settlement, context.now);
	const settledAt = settlement.kind === "retry" ? null : context.now;
	const uncounted = settlement.kind === "retry" && settlement.pause ? 1 : 0;
	yield* run(settle, state, receipt, reason, dueAt, settledAt, uncounted, row.n);
	if (settlement.kind === "retry" && settlement.anew) yield* run(forgetReceipt, row.n);
	if (row.due_at !== null) yield* bringForward(row.lane);
	else if (dueAt !== null) yield* letIn(row.lane);
	if (settlement.kind === "dead") yield* markUntold(row.id);
	yield* emit(
		context,
		`delivery.${settlement.kind}`,
		{ conversation: row.conversation, turn: row.turn, subject: row.id },
		reason === null ? undefined : { reason },
	);
}

const setUntold = sql(
	"UPDATE sends SET untold_to = (SELECT t.conversation FROM turns t WHERE t.id = sends.turn) WHERE id = ? AND turn IS NOT NULL",
);

/** An agent's unprompted message: its next turn is told. */
function* markUntold(id: string): Op<void> {
	const send = sendOfPart(id);
	if (send !== null) yield* run(setUntold, send);
}

/** For a delivery that is part of a send. */
export function partId(send: string, part: number): string {
	return `send:${send}:${part}`;
}

/** The send a delivery belongs to; null: none. */
export function sendOfPart(id: string): string | null {
	return /^send:(.*):\d+$/s.exec(id)?.[1] ?? null;
}

/** The wall clock was set: waiting deliveries are due at other times now. */
export function* retimeDeliveries(
	context: Context,
	args: {
		readonly due: readonly { readonly id: string; readonly at: number }[];
		/** Others that would wait longer are due now. Absent: they stay unchanged. */
		readonly latest?: number;
	},
): Op<void> {
	if (args.latest !== undefined) yield* run(pullForward, context.now, context.now, args.latest);
	for (const { id, at } of args.due) yield* run(setDue, at, at, id);
}

function dueAfter(settlement: Settlement, now: number): number | null {
	if (settlement.kind === "retry") return settlement.at;
	return settlement.kind === "unknown" && settlement.unasked ? now : null;
}

/**
 * Deliveries an earlier owner was sending when it died: unknown, unless they edit a message with a known receipt. Later ones wait until
 * the platform was asked, if it can be. Nobody waits for the answer to what the earlier owner asked.
 */
export function* recoverDeliveries(
	context: Context,
	args: { readonly canAsk: readonly Pick<Destination, "platform" | "account">[] },
): Op<{ unknown: readonly Delivery[] }> {
	const unknown: Delivery[] = [];
	yield* run(fromTheFuture, context.now, context.now, context.now, context.now);
	yield* run(askedByEarlier, context.now, context.now, `${context.epoch}:%`);
	for (const row of yield* all(sendingOfEarlier, `${context.epoch}:%`)) {
		const delivery = toDelivery(row);
		const { platform, account } = delivery.destination;
		const unasked = args.canAsk.some((one) => one.platform === platform && one.account === account);
		const isEdit = row.receipt !== null || delivery.body.edits !== undefined;
		const settlement: Settlement = !isEdit
			? { kind: "unknown", reason: "Keryx died while sending", unasked }
			: { kind: "retry", at: context.now, reason: "Keryx died while editing" };
		yield* settleRow(context, row, settlement);
		if (settlement.kind === "unknown")
			unknown.push({ ...delivery, state: "unknown", reason: settlement.reason });
	}
	return { unknown };
}
