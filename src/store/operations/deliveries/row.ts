// The row of a delivery, and the delivery that it holds.
import type { ConversationId } from "../../../domain/index.ts";
import { seal, unseal } from "../../codec.ts";
import { get, type Op, sql } from "../../query.ts";
import type { Delivery, DeliveryBody, DeliveryState, Destination } from "../../types.ts";

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

const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);

export function deliveryRow(id: string): Op<DeliveryRow | undefined> {
	return get(deliveryById, id);
}

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
export function sealed({ plain, ...body }: DeliveryBody): string {
	return seal(plain === body.text ? body : { ...body, plain });
}

function bodyOf({ body, body_key }: DeliveryRow): DeliveryBody {
	const stored = unseal<Omit<DeliveryBody, "plain"> & { readonly plain?: string }>(body, body_key);
	return { ...stored, plain: stored.plain ?? stored.text };
}
