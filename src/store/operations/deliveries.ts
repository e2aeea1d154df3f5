// The outbox (I7): deliveries are committed with the end of their turn, claimed one conversation at a time in order, and
// settled with a receipt. One whose outcome is unknown is never sent again by itself.
import type { ConversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { seal, unseal } from "../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../query.ts";
import type { Delivery, DeliveryBody, DeliveryState, Destination, NewDelivery, TurnState } from "../types.ts";
import { emit } from "./events.ts";
import { findConversation } from "./sessions.ts";
import { heldTurn } from "./turns.ts";

export interface DeliveryRow {
	readonly n: number;
	readonly id: string;
	readonly conversation: ConversationId;
	readonly turn: string | null;
	readonly kind: Delivery["kind"];
	readonly state: DeliveryState;
	readonly destination: string;
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
	"n, id, conversation, turn, kind, state, destination, receipt, reason, attempts, created_at, settled_at, body, body_key, due_at, claim";

const insertDelivery = sql<{ n: number }>(
	`INSERT INTO deliveries (id, conversation, turn, kind, state, platform, account, destination, created_at, body, due_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING n`,
);
const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);
const fillOpen = sql(
	"UPDATE deliveries SET state = 'pending', body = ?, due_at = ? WHERE id = ? AND state = 'open'",
);
const refillUnknown = sql("UPDATE deliveries SET body = ? WHERE id = ? AND state = 'unknown'");
const setPreview = sql(
	`UPDATE deliveries SET state = 'open', receipt = ?, body = ?, reason = NULL, settled_at = NULL
	WHERE id = ? AND turn = ? AND state IN ('open', 'unknown')`,
);
const reopen = sql(
	"UPDATE deliveries SET state = 'open', reason = NULL, settled_at = NULL WHERE id = ? AND turn = ? AND state = 'unknown'",
);
const openOfTurn = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE turn = ? AND state = 'open'`,
);
const due = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries d WHERE d.due_at IS NOT NULL AND d.due_at <= ? AND d.state = 'pending'
	AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.conversation = d.conversation AND e.due_at IS NOT NULL AND e.n < d.n)
	ORDER BY d.due_at, d.n LIMIT ?`,
);
const claimRow = sql(
	"UPDATE deliveries SET state = 'sending', claim = ?, attempts = attempts + 1, due_at = ? WHERE n = ?",
);
const settle = sql(
	`UPDATE deliveries SET state = ?, receipt = coalesce(?, receipt), reason = ?, due_at = ?, settled_at = ?, claim = NULL,
		attempts = attempts - ? WHERE n = ?`,
);
const turnOf = sql<{ state: TurnState; detail: string | null }>(
	"SELECT state, detail FROM turns WHERE id = ?",
);
const sendingOfEarlier = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE due_at IS NOT NULL AND state = 'sending' AND claim NOT LIKE ?`,
);
const setDue = sql("UPDATE deliveries SET due_at = ? WHERE id = ? AND state = 'pending'");
const pullForward = sql("UPDATE deliveries SET due_at = ? WHERE due_at > ? AND state = 'pending'");
/** Dated by a clock that was set back while nobody ran. */
const fromTheFuture = sql(
	"UPDATE deliveries SET due_at = ? WHERE due_at > ? AND created_at > ? AND state = 'pending'",
);
/** One that waits behind another of its conversation is not next, however long it has been due. */
const nextDueAt = sql<{ due_at: number }>(
	`SELECT d.due_at FROM deliveries d WHERE d.due_at IS NOT NULL AND d.state = 'pending'
	AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.conversation = d.conversation AND e.due_at IS NOT NULL AND e.n < d.n)
	ORDER BY d.due_at LIMIT 1`,
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
		body: unseal<DeliveryBody>(row.body, row.body_key),
		dueAt: row.due_at,
	};
}

function dueOf({ now }: Context, { notBefore }: NewDelivery): number {
	return Math.max(now, notBefore ?? 0);
}

/** Adds deliveries that are due at once, or after the pause they name. One that was opened for previews gets its final text; one that exists stays. */
export function* addDeliveries(
	context: Context,
	conversation: string,
	turn: string | null,
	deliveries: readonly NewDelivery[],
): Op<void> {
	for (const delivery of deliveries) {
		const added = yield* insert(context, conversation, turn, delivery, "pending");
		const filled = added
			? 0
			: yield* run(fillOpen, seal(delivery.body), dueOf(context, delivery), delivery.id);
		if (added || filled) {
			yield* emit(
				context,
				"delivery.pending",
				{ conversation, turn, subject: delivery.id },
				{ kind: delivery.kind },
			);
			continue;
		}
		// A preview of unknown outcome stays unknown; whoever sends it again by hand sends the final text.
		yield* run(refillUnknown, seal(delivery.body), delivery.id);
	}
}

function* insert(
	context: Context,
	conversation: string,
	turn: string | null,
	delivery: NewDelivery,
	state: "open" | "pending",
): Op<{ n: number } | undefined> {
	const { id, kind, destination, body } = delivery;
	const dueAt = state === "pending" ? dueOf(context, delivery) : null;
	const { platform, account } = destination;
	return yield* get(
		insertDelivery,
		id,
		conversation,
		turn,
		kind,
		state,
		platform,
		account,
		JSON.stringify(destination),
		context.now,
		seal(body),
		dueAt,
	);
}

/** Before the first preview of a streaming reply is sent, so that a crash finds the row. */
export function* openDelivery(
	context: Context,
	args: { readonly turn: string; readonly token: number; readonly delivery: NewDelivery },
): Op<Delivery> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const added = yield* insert(context, turn.conversation, turn.id, args.delivery, "open");
	if (added)
		yield* emit(context, "delivery.opened", {
			conversation: turn.conversation,
			turn: turn.id,
			subject: args.delivery.id,
		});
	return toDelivery((yield* get(deliveryById, args.delivery.id)) as DeliveryRow);
}

/** What became of a preview. With a receipt, later edits may be repeated freely; without certainty it is not sent again. */
export function* recordPreview(
	context: Context,
	args: {
		readonly turn: string;
		readonly token: number;
		readonly id: string;
		readonly outcome:
			| { readonly kind: "sent"; readonly receipt: string; readonly body: DeliveryBody }
			/** Looked up: the platform has not taken it, so the end of the turn may send it. */
			| { readonly kind: "absent" }
			| { readonly kind: "unknown"; readonly reason: string };
	},
): Op<void> {
	yield* heldTurn(context, args.turn, args.token);
	if (args.outcome.kind === "sent") {
		yield* run(setPreview, args.outcome.receipt, seal(args.outcome.body), args.id, args.turn);
		return;
	}
	if (args.outcome.kind === "absent") {
		yield* run(reopen, args.id, args.turn);
		return;
	}
	const row = yield* get(deliveryById, args.id);
	if (row?.state === "open") yield* settleRow(context, row, args.outcome);
}

/** A notice, at most once by its id; about a turn, where it names one. */
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

/** Whether each of these was added before. */
export function* haveDeliveries(deliveries: readonly NewDelivery[]): Op<boolean> {
	for (const { id } of deliveries) if (!(yield* get(deliveryById, id))) return false;
	return true;
}

/** What a turn leaves open when it ends without a final text: a visible preview stays as it was, an unsent one is dropped. */
export function* closeOpen(context: Context, turn: string): Op<void> {
	for (const row of yield* all(openOfTurn, turn)) {
		const [state, reason] =
			row.receipt === null
				? (["dead", "the turn ended before anything was sent"] as const)
				: (["sent", null] as const);
		yield* run(settle, state, null, reason, null, context.now, 0, row.n);
		yield* emit(context, `delivery.${state}`, { conversation: row.conversation, turn, subject: row.id });
	}
}

/** A turn is resumed: a preview whose receipt never came may be visible or not, so it is not sent again by itself. */
export function* recoverPreviews(context: Context, turn: string): Op<void> {
	for (const row of yield* all(openOfTurn, turn))
		if (row.receipt === null)
			yield* settleRow(context, row, { kind: "unknown", reason: "Keryx died while sending" });
}

/** Due deliveries, the first of each conversation only, marked as being sent. */
export function* claimDeliveries(
	context: Context,
	args: { readonly limit: number; readonly timeoutMs: number },
): Op<{ deliveries: readonly (Delivery & { readonly claim: string })[]; nextDueAt: number | null }> {
	const claim = `${context.epoch}:${context.uuid()}`;
	const deliveries: (Delivery & { readonly claim: string })[] = [];
	for (const row of yield* all(due, context.now, args.limit)) {
		yield* run(claimRow, claim, context.now + args.timeoutMs, row.n);
		deliveries.push({ ...toDelivery(row), state: "sending", attempts: row.attempts + 1, claim });
	}
	return { deliveries, nextDueAt: (yield* get(nextDueAt))?.due_at ?? null };
}

export type Settlement =
	| { readonly kind: "sent"; readonly receipt: string }
	| {
			readonly kind: "retry";
			readonly at: number;
			readonly reason: string;
			/** The platform asked for it: what was tried is not counted as an attempt. */
			readonly pause?: boolean;
	  }
	| { readonly kind: "unknown" | "dead"; readonly reason: string };

/** Ends a claim. A settlement of another claim's delivery is refused: two senders never decide about one. */
export function* settleDelivery(
	context: Context,
	args: { readonly id: string; readonly claim: string; readonly settlement: Settlement },
): Op<void> {
	const row = yield* get(deliveryById, args.id);
	if (!row) throw new KeryxError("store.not_found", `no delivery ${args.id}`, { field: "id" });
	if (row.state !== "sending" || row.claim !== args.claim)
		throw new KeryxError(
			"delivery.stale",
			`delivery ${args.id} is ${row.state}; this claim does not hold it`,
			{ field: "claim" },
		);
	yield* settleRow(context, row, args.settlement);
}

/** A person says what became of a delivery whose outcome was unknown; a dead one may be tried again. */
export function* resolveDelivery(
	context: Context,
	args: { readonly id: string; readonly settlement: Settlement },
): Op<void> {
	const row = yield* get(deliveryById, args.id);
	if (!row) throw new KeryxError("store.not_found", `no delivery ${args.id}`, { field: "id" });
	if (row.state !== "unknown" && row.state !== "dead")
		throw new KeryxError(
			"delivery.stale",
			`delivery ${args.id} is ${row.state}: there is nothing to resolve`,
			{ field: "id" },
		);
	if ((yield* finalText(row)) === "later")
		throw new KeryxError("delivery.stale", `delivery ${args.id} belongs to a turn that goes on with it`, {
			field: "id",
		});
	yield* settleRow(context, row, args.settlement);
}

/** What the platform said when it was asked about a delivery of unknown outcome. One that is no longer unknown stays as it is. */
export function* recordLookup(
	context: Context,
	args: {
		readonly id: string;
		readonly found: { readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" };
	},
): Op<void> {
	const row = yield* get(deliveryById, args.id);
	if (row?.state !== "unknown") return;
	const text = yield* finalText(row);
	if (text === "later") return;
	const again = { kind: "retry", at: context.now } as const;
	if (args.found.kind === "sent") {
		// What is visible is a preview: the outbox edits it into the final text.
		const previewed = row.attempts === 0 && text === "here";
		const reason = "looked up: the platform shows its preview";
		yield* settleRow(context, row, previewed ? { ...again, reason } : args.found, args.found.receipt);
		return;
	}
	yield* settleRow(
		context,
		row,
		text === "here"
			? { ...again, reason: "looked up: the platform has not taken it" }
			: { kind: "dead", reason: "the turn ended before anything was sent" },
	);
}

/** Whether the row holds what is to be sent: a preview's turn may still be writing it, or have ended without it. */
function* finalText(row: DeliveryRow): Op<"here" | "later" | "never"> {
	// Claimed by the outbox before: only what is final is.
	if (row.attempts > 0 || row.turn === null) return "here";
	const turn = yield* get(turnOf, row.turn);
	if (turn?.state === "running" || turn?.state === "interrupted") return "later";
	const given = turn?.state === "completed" || (turn?.state === "failed" && turn.detail !== "interrupted");
	return given ? "here" : "never";
}

function* settleRow(
	context: Context,
	row: DeliveryRow,
	settlement: Settlement,
	receipt = settlement.kind === "sent" ? settlement.receipt : null,
): Op<void> {
	const state: DeliveryState = settlement.kind === "retry" ? "pending" : settlement.kind;
	const reason = settlement.kind === "sent" ? null : settlement.reason;
	const dueAt = settlement.kind === "retry" ? settlement.at : null;
	const settledAt = settlement.kind === "retry" ? null : context.now;
	const uncounted = settlement.kind === "retry" && settlement.pause ? 1 : 0;
	yield* run(settle, state, receipt, reason, dueAt, settledAt, uncounted, row.n);
	yield* emit(
		context,
		`delivery.${settlement.kind}`,
		{ conversation: row.conversation, turn: row.turn, subject: row.id },
		reason === null ? undefined : { reason },
	);
}

/** The wall clock was set: what waits is due at other times now. */
export function* retimeDeliveries(
	context: Context,
	args: {
		readonly due: readonly { readonly id: string; readonly at: number }[];
		/** Others that would wait for longer are due now. Left out: they stay as they are. */
		readonly latest?: number;
	},
): Op<void> {
	if (args.latest !== undefined) yield* run(pullForward, context.now, args.latest);
	for (const { id, at } of args.due) yield* run(setDue, at, id);
}

/** Deliveries that an earlier owner was sending when it died: unknown, unless they edit a message whose receipt is known. */
export function* recoverDeliveries(context: Context): Op<{ unknown: readonly Delivery[] }> {
	const unknown: Delivery[] = [];
	yield* run(fromTheFuture, context.now, context.now, context.now);
	for (const row of yield* all(sendingOfEarlier, `${context.epoch}:%`)) {
		const settlement: Settlement =
			row.receipt === null
				? { kind: "unknown", reason: "Keryx died while sending" }
				: { kind: "retry", at: context.now, reason: "Keryx died while editing" };
		yield* settleRow(context, row, settlement);
		if (settlement.kind === "unknown")
			unknown.push({ ...toDelivery(row), state: "unknown", reason: settlement.reason });
	}
	return { unknown };
}
