// How a confirmation ends (I14): by a decision or by expiry, once, with its audit entry; and how the waiting caller learns of it.
import {
	distinctSpeakers,
	leastStanding,
	lesser,
	type Speaker,
	type Standing,
	soleSpeaker,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditVia, ConfirmationStatus } from "../../types.ts";
import { endQuestion } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import { unwake, type Woken, wake } from "../inbox/wake.ts";
import { samePrincipals } from "../people/principals.ts";
import { COMPAT } from "../row-ids.ts";
import { audit } from "./audit.ts";
import type { Asker } from "./grants.ts";
import { type ConfirmationRow, confirmationRow, type DecisionBody, endsAt, TIMEOUT } from "./rows.ts";

const settleRow = sql(
	`UPDATE confirmations SET status = ?, digest = ?, resolved_at = ?, resolved_by = ?, use_by = ?, decision_body = ?, due_at = ?
	WHERE id = ? AND status = ?`,
);
const expireUse = sql(
	"UPDATE confirmations SET status = 'expired', use_by = ?, due_at = NULL WHERE id = ? AND status = ?",
);
const askingTurn = sql<{ principal: string | null; speakers: string }>(
	"SELECT principal, speakers FROM turns WHERE id = ?",
);
/** Null for callers who never report using an approval: it stays valid. */
export function useByOf({ now }: Context, askedBy: string, useWithinMs: number): number | null {
	return askedBy === COMPAT ? null : now + useWithinMs;
}

/** The people the asking turn speaks for. */
export function* askerOf(turn: string, standing: Standing = "owner"): Op<Asker> {
	const row = yield* get(askingTurn, turn);
	const speakers = row ? (JSON.parse(row.speakers) as Speaker[]) : [];
	const sole = soleSpeaker(speakers);
	const role = lesser(standing, leastStanding(speakers.map((speaker) => speaker.role)));
	return {
		persons: sole === null ? [] : yield* samePrincipals(sole),
		role: role === "none" ? "guest" : role,
	};
}

/** Null if it is not due. Silence is not consent, and an unused approval is not valid forever. */
export function* endByClock(context: Context, row: ConfirmationRow): Op<{ woken: Woken | null } | null> {
	const end = endsAt(row);
	if (end === null || end > context.now) return null;
	if (row.status !== "pending") {
		yield* lapse(context, row, { at: end, by: TIMEOUT });
		// An approval has already started its turn, which finds it expired.
		return { woken: null };
	}
	yield* settle(context, row, {
		status: "expired",
		digest: row.digest,
		at: end,
		by: TIMEOUT,
		via: "system",
		useBy: null,
		said: {},
	});
	return { woken: yield* answerTurn(context, row, "expired") };
}

/** A person takes back what they asked for before its approval is used. No turn is told: its call will not come. */
export function* withdraw(context: Context, row: ConfirmationRow, by: string): Op<void> {
	yield* lapse(context, row, { at: context.now, by });
	if (row.conversation !== null)
		yield* unwake(context, { kind: "confirmation", about: row.id, conversation: row.conversation });
}

/** An unused approval: who gave it, and when, is kept. */
function* lapse(
	context: Context,
	row: ConfirmationRow,
	{ at, by }: { readonly at: number; readonly by: string },
): Op<void> {
	yield* run(expireUse, at, row.id, row.status);
	yield* audit(context, {
		kind: "expired",
		confirmation: row.id,
		who: by,
		via: "system",
		facts: { action: row.action, digest: row.digest, was: row.status },
	});
	yield* emit(context, "confirmation.expired", idsOf(row), { action: row.action });
}

export function* settle(
	context: Context,
	row: ConfirmationRow,
	to: {
		readonly status: "approved" | "denied" | "expired" | "cancelled";
		readonly digest: string;
		readonly at: number;
		readonly by: string;
		readonly via: AuditVia;
		readonly useBy: number | null;
		readonly said: DecisionBody;
	},
): Op<void> {
	yield* run(
		settleRow,
		to.status,
		to.digest,
		to.at,
		to.by,
		to.useBy,
		seal(to.said),
		to.status === "approved" ? to.useBy : null,
		row.id,
		row.status,
	);
	yield* audit(context, {
		kind: to.status,
		confirmation: row.id,
		who: to.by,
		via: to.via,
		facts: {
			action: row.action,
			digest: to.digest,
			...(to.digest !== row.digest && { digest_before: row.digest }),
			...(to.said.label && { label: to.said.label }),
			...(to.said.reason && { reason: to.said.reason }),
		},
	});
	yield* emit(context, `confirmation.${to.status}`, idsOf(row), { action: row.action });
	yield* endQuestion(context, row.id, to.status);
}

/** The outcome as an inbox event of the waiting conversation: it starts a turn, exactly once, even after a crash. `of`: whose words it has. */
export function* answerTurn(
	context: Context,
	row: ConfirmationRow,
	status: Outcome,
	words: { readonly reason?: string | undefined; readonly of?: Speaker | undefined } = {},
): Op<Woken | null> {
	if (row.waiter !== "turn" || row.conversation === null) return null;
	const turn = row.turn === null ? undefined : yield* get(askingTurn, row.turn);
	const askers = turn === undefined ? [] : (JSON.parse(turn.speakers) as Speaker[]);
	return yield* wake(context, {
		kind: "confirmation",
		about: row.id,
		conversation: row.conversation,
		principal: turn?.principal ?? null,
		content: outcomeNote(row, status, words.reason),
		destination: JSON.parse(row.destination ?? "null") as unknown,
		confirmation: row.id,
		speakers: words.of ? distinctSpeakers([...askers, words.of]) : askers,
	});
}

type Outcome = Extract<ConfirmationStatus, "approved" | "denied" | "expired" | "cancelled">;

/** What the agent reads. Any refusal is final: the same must not be tried another way. */
export function outcomeNote(row: ConfirmationRow, status: Outcome, reason?: string): string {
	const what = `Confirmation ${row.id} (${row.tool ?? "call"}: ${row.action})`;
	const why = reason ? ` Reason given: ${JSON.stringify(reason)}.` : "";
	const leave = "It was not done. Do not try to do the same in another way.";
	switch (status) {
		case "approved":
			return `${what} was approved by a person.${why}`;
		case "denied":
			return `${what} was denied by a person.${why} ${leave}`;
		case "expired":
			return `${what} expired: nobody answered in time, which is neither yes nor no. ${leave}`;
		case "cancelled":
			return `${what} was cancelled. ${leave}`;
	}
}

export function* found(id: string): Op<ConfirmationRow> {
	const row = yield* confirmationRow(id);
	if (!row) throw notFound(id);
	return row;
}

export function notFound(id: string): KeryxError {
	return new KeryxError("store.not_found", `no confirmation ${id}`, { field: "id" });
}

export function idsOf(row: ConfirmationRow) {
	return { conversation: row.conversation, turn: row.turn, subject: row.id };
}
