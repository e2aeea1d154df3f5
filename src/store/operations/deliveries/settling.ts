// How a delivery ends: its claim is given up, with the outcome. Two senders never decide about one.
import { KeryxError } from "../../../errors.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { DeliveryState, Destination } from "../../types.ts";
import { reachOf } from "../chats/known.ts";
import { emit } from "../events.ts";
import { bringForward, letIn } from "./lanes.ts";
import type { DeliveryRow } from "./row.ts";

const settle = sql(
	`UPDATE deliveries SET state = ?, receipt = coalesce(?, receipt), reason = ?, due_at = ?, first_at = NULL, settled_at = ?,
		claim = NULL, attempts = attempts - ? WHERE n = ?`,
);
/** What a sender's outcome needs: not the text. */
export type ClaimedRow = Pick<
	DeliveryRow,
	"n" | "id" | "conversation" | "turn" | "state" | "destination" | "lane" | "attempts" | "due_at" | "claim"
>;
const claimedById = sql<ClaimedRow>(
	"SELECT n, id, conversation, turn, state, destination, lane, attempts, due_at, claim FROM deliveries WHERE id = ?",
);
const forgetReceipt = sql("UPDATE deliveries SET receipt = NULL WHERE n = ?");
const setUnreported = sql(
	"UPDATE sends SET untold_to = (SELECT t.conversation FROM turns t WHERE t.id = sends.turn) WHERE id = ? AND turn IS NOT NULL",
);

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
function* unlessGone(row: ClaimedRow, settlement: Settlement): Op<Settlement> {
	if (settlement.kind !== "retry") return settlement;
	const { gone } = yield* reachOf(JSON.parse(row.destination) as Destination);
	return gone === null ? settlement : { kind: "dead", reason: gone };
}

/** The delivery held by a claim. */
export function* claimedRow({ id, claim }: { readonly id: string; readonly claim: string }): Op<ClaimedRow> {
	const row = yield* get(claimedById, id);
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
	row: ClaimedRow,
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
	if (settlement.kind === "dead") yield* markUnreported(row.id);
	yield* emit(
		context,
		`delivery.${settlement.kind}`,
		{ conversation: row.conversation, turn: row.turn, subject: row.id },
		reason === null ? undefined : { reason },
	);
}

function dueAfter(settlement: Settlement, now: number): number | null {
	if (settlement.kind === "retry") return settlement.at;
	return settlement.kind === "unknown" && settlement.unasked ? now : null;
}

/** An agent's unprompted message failed: the next turn reports it to the agent. */
function* markUnreported(id: string): Op<void> {
	const send = sendOfPart(id);
	if (send !== null) yield* run(setUnreported, send);
}

/** For a delivery that is part of a send. */
export function partId(send: string, part: number): string {
	return `send:${send}:${part}`;
}

/** The send a delivery belongs to; null: none. */
export function sendOfPart(id: string): string | null {
	return /^send:(.*):\d+$/s.exec(id)?.[1] ?? null;
}
