// The outbox: deliveries are committed with the end of their turn (I7), behind what is on its way to the same destination (I19).
import type { ConversationId } from "../../../domain/index.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination, NewDelivery, QuestionEnds } from "../../types.ts";
import { reachOf } from "../chats/known.ts";
import { emit } from "../events.ts";
import { findConversation } from "../sessions/sessions.ts";
import { addButtons, endButtons } from "./buttons.ts";
import { laneOf, letIn } from "./lanes.ts";
import { deliveryRow, sealed } from "./row.ts";
import { settleRow } from "./settling.ts";

/** The first delivery in an empty lane. */
const insertDelivery = sql(
	`INSERT INTO deliveries (id, conversation, turn, kind, state, platform, account, destination, lane, created_at, body, due_at, claim, first_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
		CASE WHEN EXISTS (SELECT 1 FROM deliveries e WHERE e.lane = ? AND e.due_at IS NOT NULL) THEN NULL ELSE CAST(? AS BIGINT) END)
	ON CONFLICT (id) DO NOTHING`,
);
const fillShown = sql<{ lane: string }>(
	`UPDATE deliveries SET state = 'pending', body = ?, due_at = ?
	WHERE id = ? AND state = 'open' AND receipt IS NOT NULL RETURNING lane`,
);
const dropUnshown = sql("DELETE FROM deliveries WHERE id = ? AND state = 'open' AND receipt IS NULL");
const fillUncertain = sql(
	"UPDATE deliveries SET body = ? WHERE id = ? AND (state = 'unknown' OR (state = 'sending' AND attempts = 0))",
);
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
		const row = yield* deliveryRow(id);
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
		const asked = yield* deliveryRow(id);
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
	for (const { id } of deliveries) if (!(yield* deliveryRow(id))) return false;
	return true;
}
