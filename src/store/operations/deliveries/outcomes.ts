// The outcome of a delivery that may have been sent (I7): learned by its sender, from the platform, or from a person. Previews differ in
// one thing: their final text may still come, or never come.
import { KeryxError } from "../../../errors.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { TurnState } from "../../types.ts";
import { bringForward } from "./lanes.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "./row.ts";
import { type ClaimedRow, type Settlement, settleRow } from "./settling.ts";

const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);
const turnOf = sql<{ state: TurnState; detail: string | null }>(
	"SELECT state, detail FROM turns WHERE id = ?",
);
const leaveOpen = sql(
	`UPDATE deliveries SET state = 'open', receipt = ?, reason = NULL, due_at = NULL, first_at = NULL, settled_at = NULL, claim = NULL
	WHERE n = ?`,
);
const askAt = sql("UPDATE deliveries SET due_at = ?, first_at = NULL, claim = NULL WHERE n = ?");

/** What is known about a message that may have been sent. */
export type SendOutcome =
	| { readonly kind: "sent"; readonly receipt: string }
	/** The platform has certainly not accepted it. */
	| { readonly kind: "absent"; readonly reason: string; readonly notBefore?: number }
	| Extract<Settlement, { kind: "unknown" }>;

/** A visible preview is edited from now on; one that is not visible is sent with its final text, if it has one. */
export function* settleSend(context: Context, row: ClaimedRow, outcome: SendOutcome): Op<void> {
	if (outcome.kind === "unknown") return yield* settleRow(context, row, outcome);
	const text = yield* finalText(row);
	if (text === "later") {
		yield* run(leaveOpen, outcome.kind === "sent" ? outcome.receipt : null, row.n);
		if (row.due_at !== null) yield* bringForward(row.lane);
		return;
	}
	if (outcome.kind === "sent") {
		const isPreview = row.attempts === 0 && text === "here";
		const edit = { kind: "retry", at: context.now, reason: "the platform shows its preview" } as const;
		return yield* settleRow(context, row, isPreview ? edit : outcome, outcome.receipt);
	}
	const at = Math.max(context.now, outcome.notBefore ?? 0);
	const settlement: Settlement =
		text === "here"
			? { kind: "retry", at, reason: outcome.reason }
			: { kind: "dead", reason: "the turn ended before anything was sent" };
	yield* settleRow(context, row, settlement);
}

/** Whether the row contains the final text: a preview's turn may still be writing it, or have ended without it. */
function* finalText(row: ClaimedRow): Op<"here" | "later" | "never"> {
	// Claimed by the outbox before: it claims only final texts.
	if (row.attempts > 0 || row.turn === null) return "here";
	const turn = yield* get(turnOf, row.turn);
	if (turn?.state === "running" || turn?.state === "interrupted") return "later";
	const given = turn?.state === "completed" || (turn?.state === "failed" && turn.detail !== "interrupted");
	return given ? "here" : "never";
}

/**
 * The platform's answer about a delivery of unknown outcome. One that is no longer unknown stays unchanged. If the platform cannot tell,
 * the delivery stays unknown, and later ones no longer wait (I19).
 */
export function* recordLookup(
	context: Context,
	args: {
		readonly id: string;
		readonly found:
			| { readonly kind: "sent"; readonly receipt: string }
			| { readonly kind: "absent" | "unknown" }
			/** It is not connected; when to try again. */
			| { readonly kind: "unreached"; readonly at: number };
	},
): Op<void> {
	const row = yield* get(deliveryById, args.id);
	if (row?.state !== "unknown") return;
	const { found } = args;
	if (found.kind === "sent") return yield* settleSend(context, row, found);
	if (found.kind === "absent") {
		const reason = "looked up: the platform did not receive it";
		return yield* settleSend(context, row, { kind: "absent", reason });
	}
	if (row.due_at === null) return;
	yield* run(askAt, found.kind === "unreached" ? found.at : null, row.n);
	yield* bringForward(row.lane);
}

/** A person decides about a delivery of unknown outcome; a dead one may be tried again. */
export function* resolveDelivery(
	context: Context,
	args: { readonly id: string; readonly settlement: Settlement },
): Op<void> {
	yield* settleRow(context, yield* decidable(args.id, ["unknown", "dead"]), args.settlement);
}

/** Why a delivery is dead that a person gave up: no longer listed. */
export const DROPPED = "dropped by a person";

/** A person gives up a delivery that waits or ended without success. One being sent cannot be dropped: it may arrive. */
export function* dropDelivery(context: Context, { id }: { readonly id: string }): Op<void> {
	const row = yield* decidable(id, ["pending", "unknown", "dead"]);
	yield* settleRow(context, row, { kind: "dead", reason: DROPPED });
}

function* decidable(id: string, states: readonly DeliveryRow["state"][]): Op<DeliveryRow> {
	const row = yield* get(deliveryById, id);
	if (!row) throw new KeryxError("store.not_found", `no delivery ${id}`, { field: "id" });
	if (!states.includes(row.state))
		throw new KeryxError("delivery.stale", `delivery ${id} is ${row.state}: there is nothing to decide`, {
			field: "id",
		});
	if ((yield* finalText(row)) === "later")
		throw new KeryxError("delivery.stale", `delivery ${id} belongs to a turn that still uses it`, {
			field: "id",
		});
	return row;
}
