// A reply that is shown while it is written. Its delivery is marked as being sent before the request leaves, so that whatever happens then
// it is known that it may have been sent (I7). It is shown only when nothing is on its way to its destination any more, and holds back what
// is committed meanwhile until its outcome is known (I19). A preview that is shown, or that was not taken, holds back nothing.
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { NewDelivery } from "../../types.ts";
import { reachOf } from "../chats/known.ts";
import { emit } from "../events.ts";
import { heldTurn } from "../turns/turns.ts";
import { claimedRow, DELIVERY_COLUMNS, type DeliveryRow, insertRow } from "./deliveries.ts";
import { isBusy, laneOf } from "./lanes.ts";
import { type SendOutcome, settleSend } from "./outcomes.ts";

const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);
const removeRow = sql("DELETE FROM deliveries WHERE n = ?");
const openOfTurn = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE turn = ? AND state = 'open'`,
);
const closeRow = sql("UPDATE deliveries SET state = ?, reason = ?, settled_at = ? WHERE n = ?");

export type Opened =
	/** To be sent now; whatever comes of it is recorded. */
	| { readonly kind: "send" }
	/** An earlier attempt at this turn has shown it: it is edited, never sent a second time. */
	| { readonly kind: "shown"; readonly receipt: string }
	/** Something is on its way to the destination, or the platform is still to be asked about this one: ask again later. */
	| { readonly kind: "wait" }
	/** It may be visible or not, and nobody can say. */
	| { readonly kind: "uncertain" };

export interface Held {
	readonly turn: string;
	readonly token: number;
}

/** Before the first preview of a streaming reply is sent. Writes nothing unless it is to be sent. */
export function* openDelivery(
	context: Context,
	{ turn: held, token, delivery }: Held & { readonly delivery: NewDelivery },
): Op<Opened> {
	const turn = yield* heldTurn(context, held, token);
	const row = yield* get(deliveryById, delivery.id);
	if (row && row.receipt !== null) return { kind: "shown", receipt: row.receipt };
	if (row && row.due_at !== null) return { kind: "wait" };
	if (row && row.state !== "open") return { kind: "uncertain" };
	if (yield* isBusy(laneOf(delivery.destination))) return { kind: "wait" };
	if ((yield* reachOf(delivery.destination)).gone !== null) return { kind: "wait" };
	// One that was not taken has no place yet: it gets the one that it is shown at.
	if (row) yield* run(removeRow, row.n);
	const as = { state: "sending", dueAt: context.now, claim: claimOf(context, token) } as const;
	yield* insertRow(context, turn.conversation, turn.id, delivery, as);
	yield* emit(context, "delivery.opened", {
		conversation: turn.conversation,
		turn: turn.id,
		subject: delivery.id,
	});
	return { kind: "send" };
}

/** The holder's own, so that one who never learned that it was opened can still take it back. */
function claimOf({ epoch }: Context, token: number): string {
	return `${epoch}:preview:${token}`;
}

/**
 * What became of a preview, also after its turn has ended: then it gets the final text, or stays as it is. Refused (delivery.stale) where
 * these have opened none, or have recorded it already.
 */
export function* recordPreview(
	context: Context,
	{ token, id, outcome }: Held & { readonly id: string; readonly outcome: SendOutcome },
): Op<void> {
	yield* settleSend(context, yield* claimedRow({ id, claim: claimOf(context, token) }), outcome);
}

/** What a turn leaves open when it ends without a final text: a visible preview stays as it was, an unsent one is dropped. */
export function* closeOpen(context: Context, turn: string): Op<void> {
	for (const row of yield* all(openOfTurn, turn)) {
		const [state, reason] =
			row.receipt === null
				? (["dead", "the turn ended before anything was sent"] as const)
				: (["sent", null] as const);
		yield* run(closeRow, state, reason, context.now, row.n);
		yield* emit(context, `delivery.${state}`, { conversation: row.conversation, turn, subject: row.id });
	}
}
