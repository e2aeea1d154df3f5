// A reply shown while it is written. Its delivery is marked as sending before the request leaves, so that a crash leaves it as "may have
// been sent" (I7). It is shown only when nothing else is on its way to its destination, and holds back later deliveries until its outcome
// is known (I19). A visible or refused preview holds nothing back.
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { NewDelivery } from "../../types.ts";
import { reachOf } from "../chats/known.ts";
import { emit } from "../events.ts";
import { heldTurn } from "../turns/row.ts";
import { insertRow } from "./deliveries.ts";
import { isBusy, laneOf } from "./lanes.ts";
import { type SendOutcome, settleSend } from "./outcomes.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "./row.ts";
import { claimedRow } from "./settling.ts";

const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);
const removeRow = sql("DELETE FROM deliveries WHERE n = ?");
const openOfTurn = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE turn = ? AND state = 'open'`,
);
const closeRow = sql("UPDATE deliveries SET state = ?, reason = ?, settled_at = ? WHERE n = ?");

export type Opened =
	/** Send it now and record the outcome. */
	| { readonly kind: "send" }
	/** An earlier attempt of this turn has shown it: it is edited, never sent twice. */
	| { readonly kind: "shown"; readonly receipt: string }
	/** Something is on its way to the destination, or the platform must still be asked about this one: ask again later. */
	| { readonly kind: "wait" }
	/** It may or may not be visible, and nobody can tell. */
	| { readonly kind: "uncertain" };

export interface Held {
	readonly turn: string;
	readonly token: number;
}

/** Before the first preview of a streaming reply is sent. Writes nothing unless it may be sent. */
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
	// A refused one has no place yet: it gets its place when it is shown.
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

/** The holder's own token, so that it can undo an opening it never heard of. */
function claimOf({ epoch }: Context, token: number): string {
	return `${epoch}:preview:${token}`;
}

/**
 * The outcome of a preview, even after its turn has ended: then it gets the final text, or stays unchanged. Refused (delivery.stale) if
 * the holder opened none, or already recorded it.
 */
export function* recordPreview(
	context: Context,
	{ token, id, outcome }: Held & { readonly id: string; readonly outcome: SendOutcome },
): Op<void> {
	yield* settleSend(context, yield* claimedRow({ id, claim: claimOf(context, token) }), outcome);
}

/** What a turn leaves open when it ends without a final text: a visible preview stays, an unsent one is dropped. */
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
