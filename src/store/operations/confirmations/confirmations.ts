// Confirmations (I14): asked once (request.ts), resolved once, used once, each step with its audit entry in the same transaction. The
// schema's triggers enforce the order of steps; this file decides who, when and what follows.
import type { Speaker } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, type Op, run, sql } from "../../query.ts";
import type { AuditVia, Confirmation, ConfirmationStatus, GrantScope } from "../../types.ts";
import { emit } from "../events.ts";
import type { Woken } from "../inbox/wake.ts";
import { audit } from "./audit.ts";
import { answerTurn, askerOf, endByClock, found, idsOf, notFound, settle, useByOf } from "./ending.ts";
import { grant, type NewGrant } from "./grants.ts";
import {
	type AskedBody,
	CONFIRMATION_COLUMNS,
	type ConfirmationRow,
	confirmationRow,
	type DecisionBody,
	toConfirmation,
} from "./rows.ts";

const consumeRow = sql(
	`UPDATE confirmations SET status = 'consumed', used_at = ?, claim = ?, due_at = NULL
	WHERE id = ? AND status IN ('approved', 'auto_approved')`,
);
const dueRows = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at, n LIMIT ?`,
);

export interface ResolveArgs {
	readonly id: string;
	readonly decision: "approved" | "denied";
	/** Who was authenticated. */
	readonly by: string;
	readonly via: AuditVia;
	readonly label?: string;
	readonly reason?: string;
	/** How much longer the answer is valid; only with an approval. */
	readonly grant?: { readonly scope: GrantScope; readonly until?: number };
	/** The arguments as edited by the approver. */
	readonly edited?: { readonly details: Readonly<Record<string, unknown>>; readonly digest: string };
	readonly useWithinMs: number;
	/** Who decides, if they are not the owner. */
	readonly speaker?: Speaker;
}

export type Resolved =
	| { readonly kind: "resolved"; readonly confirmation: Confirmation; readonly woken: Woken | null }
	/** Someone else was first, or it had expired. */
	| { readonly kind: "settled"; readonly status: ConfirmationStatus; readonly woken: Woken | null };

/** One conditional update decides: of two decisions one wins, and the other learns which. */
export function* resolveConfirmation(context: Context, args: ResolveArgs): Op<Resolved> {
	const row = yield* found(args.id);
	if (row.asked_by === args.by)
		throw new KeryxError(
			"confirmation.refused",
			"a confirmation cannot be decided by the person who asked for it",
		);
	const over = yield* endByClock(context, row);
	if (over) return { kind: "settled", status: "expired", woken: over.woken };
	if (row.status !== "pending") return { kind: "settled", status: row.status, woken: null };
	const approved = args.decision === "approved";
	const useBy = approved ? useByOf(context, row.asked_by, args.useWithinMs) : null;
	const said: DecisionBody = {
		...(args.label && { label: args.label }),
		...(args.reason && { reason: args.reason }),
		...(args.edited && { details: args.edited.details }),
	};
	yield* settle(context, row, {
		status: args.decision,
		digest: args.edited?.digest ?? row.digest,
		at: context.now,
		by: args.by,
		via: args.via,
		useBy,
		said,
	});
	if (approved && args.grant) yield* grant(context, yield* grantFor(row, args.grant), args.by, args.via);
	// Their own words, in a reason or in arguments, have their rights, not the asker's (I18).
	const words = said.reason !== undefined || said.details !== undefined ? args.speaker : undefined;
	const woken = yield* answerTurn(context, row, args.decision, { reason: said.reason, of: words });
	return { kind: "resolved", confirmation: yield* readBack(context, row.id), woken };
}

/** Only for the asker (I18). */
function* grantFor(row: ConfirmationRow, { scope, until }: NonNullable<ResolveArgs["grant"]>): Op<NewGrant> {
	if (unseal<AskedBody>(row.body, row.body_key).once)
		throw new KeryxError(
			"argument.invalid",
			`the action ${row.action} must be confirmed every time, so it cannot be granted`,
			{
				field: "grant",
				hint: "approve it once",
			},
		);
	const [principal] = row.turn === null ? [] : (yield* askerOf(row.turn)).persons;
	if (row.turn !== null && principal === undefined)
		throw new KeryxError(
			"argument.invalid",
			"several people asked for this at once, and a grant is for one person",
			{
				field: "grant",
				hint: "approve it once",
			},
		);
	return {
		...(principal !== undefined && { principal }),
		scope,
		action: row.action,
		askedBy: row.asked_by,
		...(scope !== "always" && { sessionKey: row.session_key }),
		...(until !== undefined && { until }),
	};
}

export type Cancelled =
	| { readonly kind: "cancelled" }
	| { readonly kind: "settled"; readonly status: ConfirmationStatus };

/** For the asker. Another caller's confirmation is not_found. */
export function* cancelConfirmation(
	context: Context,
	args: { readonly id: string; readonly by: string; readonly via: AuditVia },
): Op<Cancelled> {
	const row = yield* found(args.id);
	if (row.asked_by !== args.by) throw notFound(args.id);
	if (yield* endByClock(context, row)) return { kind: "settled", status: "expired" };
	if (row.status !== "pending") return { kind: "settled", status: row.status };
	yield* cancel(context, row, args.by, args.via);
	return { kind: "cancelled" };
}

export function* cancel(context: Context, row: ConfirmationRow, by: string, via: AuditVia): Op<void> {
	yield* settle(context, row, {
		status: "cancelled",
		digest: row.digest,
		at: context.now,
		by,
		via,
		useBy: null,
		said: {},
	});
}

export type Consumed =
	| { readonly kind: "consumed"; readonly confirmation: Confirmation }
	| { readonly kind: "settled"; readonly status: ConfirmationStatus }
	| { readonly kind: "other_digest"; readonly status: ConfirmationStatus };

/** An approval is used once, for exactly what was approved. */
export function* consumeConfirmation(
	context: Context,
	args: { readonly id: string; readonly digest: string; readonly by: string; readonly via: AuditVia },
): Op<Consumed> {
	const row = yield* found(args.id);
	if (row.asked_by !== args.by) throw notFound(args.id);
	if (yield* endByClock(context, row)) return { kind: "settled", status: "expired" };
	if (row.status !== "approved" && row.status !== "auto_approved")
		return { kind: "settled", status: row.status };
	if (row.digest !== args.digest) return { kind: "other_digest", status: row.status };
	yield* consume(context, row, args.by, args.via);
	return { kind: "consumed", confirmation: yield* readBack(context, row.id) };
}

/** `user`: the turn and token that use it, if any. */
export function* consume(
	context: Context,
	row: ConfirmationRow,
	by: string,
	via: AuditVia,
	user: string | null = null,
): Op<void> {
	yield* run(consumeRow, context.now, user, row.id);
	yield* audit(context, {
		kind: "consumed",
		confirmation: row.id,
		who: by,
		via,
		facts: { digest: row.digest },
	});
	yield* emit(context, "confirmation.consumed", idsOf(row), { action: row.action });
}

/** Expires due ones, some at a time. */
export function* expireConfirmations(
	context: Context,
	args: { readonly limit: number },
): Op<{ readonly expired: number; readonly woken: readonly Woken[] }> {
	const rows = yield* all(dueRows, context.now, args.limit);
	const woken: Woken[] = [];
	for (const row of rows) {
		const over = yield* endByClock(context, row);
		if (over?.woken) woken.push(over.woken);
	}
	return { expired: rows.length, woken };
}

function* readBack(context: Context, id: string): Op<Confirmation> {
	return yield* toConfirmation((yield* confirmationRow(id)) as ConfirmationRow, context.now);
}
