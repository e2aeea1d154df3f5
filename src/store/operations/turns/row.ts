// The row of a turn, and its fence (I5): only the turn's current token is accepted.
import type { ConversationId, Speaker } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { type Context, get, type Op, sql } from "../../query.ts";
import type { TurnPurpose, TurnState } from "../../types.ts";

export interface TurnRow {
	readonly id: string;
	readonly conversation: ConversationId;
	readonly session: number;
	readonly principal: string | null;
	readonly speakers: string;
	readonly epoch: number;
	readonly token: number;
	readonly state: TurnState;
	readonly purpose: TurnPurpose;
	readonly detail: string | null;
	readonly attempts: number;
	readonly planned: number;
	readonly destination: string;
	readonly started_at: number;
	readonly interrupted_at: number | null;
	readonly ended_at: number | null;
}

/** The epoch of imported turns: no owner of this store ran them. */
export const IMPORTED = 0;

export const TURN_COLUMNS = `id, conversation, session, principal, speakers, epoch, token, state, purpose, detail, attempts, planned, destination,
	started_at, interrupted_at, ended_at`;

export const turnById = sql<TurnRow>(`SELECT ${TURN_COLUMNS} FROM turns WHERE id = ?`);
/** A conversation has at most one. */
export const openTurn = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted')`,
);

/** The turn that a token holds. Refuses an outdated token, and a turn of an earlier owner. */
export function* heldTurn(context: Context, turn: string, token: number): Op<TurnRow> {
	return assertHeld(context, yield* get(turnById, turn), turn, token);
}

/** The same for a row that the operation has read already. */
export function assertHeld<Row extends Pick<TurnRow, "state" | "token" | "epoch">>(
	context: Context,
	row: Row | undefined,
	turn: string,
	token: number,
): Row {
	if (!row) throw new KeryxError("store.not_found", `no turn ${turn}`, { field: "turn" });
	if (row.state !== "running" || row.token !== token || row.epoch !== context.epoch)
		throw new KeryxError("turn.stale", `turn ${turn} is ${row.state}; token ${token} does not hold it`, {
			field: "token",
		});
	return row;
}

export function speakersOf({ speakers }: Pick<TurnRow, "speakers">): readonly Speaker[] {
	return JSON.parse(speakers) as Speaker[];
}
