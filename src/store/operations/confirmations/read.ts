// Reads confirmations, and the notices still to be sent.
import type { ConversationId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { all, type Context, get, type Op, run, type Statement, sql } from "../../query.ts";
import type { Confirmation, ConfirmationStatus, OperatorScope, Scope } from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";
import { seesConversation } from "../people/scope.ts";
import { CONFIRMATION_COLUMNS, type ConfirmationRow, confirmationRow, toConfirmation } from "./rows.ts";

/** The reader's reach: everything, one caller's requests, or requests in a person's own conversations. */
export type ConfirmationScope = Scope | { readonly kind: "asker"; readonly askedBy: string };

const ENDED_BY_CLOCK = `(status = 'pending' AND expires_at <= ?) OR (status IN ('approved', 'auto_approved') AND use_by <= ?)`;
const WHOSE = "asked_by = coalesce(?, asked_by)";
const page = (where: string): Statement<ConfirmationRow> =>
	sql<ConfirmationRow>(
		`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations WHERE n < ? AND ${WHOSE} AND ${where} ORDER BY n DESC LIMIT ?`,
	);
const pageOfAll = page("1 = 1");
const pageOfStatus = page(`status = ? AND NOT (${ENDED_BY_CLOCK})`);
const pageOfExpired = page(`(status = 'expired' OR ${ENDED_BY_CLOCK})`);
const OF_PERSON = "conversation IN (SELECT id FROM conversations WHERE principal = ? AND state <> 'deleted')";
const pageOfPerson = page(`${OF_PERSON}`);
const pageOfPersonStatus = page(`${OF_PERSON} AND status = ? AND NOT (${ENDED_BY_CLOCK})`);
const pageOfPersonExpired = page(`${OF_PERSON} AND (status = 'expired' OR ${ENDED_BY_CLOCK})`);
const openOf = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations
	WHERE conversation = ? AND due_at IS NOT NULL AND status = 'pending' AND expires_at > ? ORDER BY n`,
);
const pendingCount = sql<{ n: number }>(
	"SELECT count(*) AS n FROM confirmations WHERE status = 'pending' AND expires_at > ?",
);
const nextDue = sql<{ at: number | null }>(
	"SELECT min(due_at) AS at FROM confirmations WHERE due_at IS NOT NULL",
);
const nextNotice = sql<{ at: number | null }>(
	"SELECT min(due_at) AS at FROM confirmation_notices WHERE due_at IS NOT NULL",
);
const dueNotices = sql<{ confirmation: string; target: string; attempts: number }>(
	`SELECT confirmation, target, attempts FROM confirmation_notices
	WHERE due_at IS NOT NULL AND (due_at <= ? OR due_at > ?) ORDER BY due_at LIMIT ?`,
);
const settleNotice = sql(
	`UPDATE confirmation_notices SET state = ?, attempts = attempts + 1, reason = ?, due_at = ?
	WHERE confirmation = ? AND target = ?`,
);
const LAST = Number.MAX_SAFE_INTEGER;

/** Foreign ids are not_found. */
export function* confirmation(args: {
	readonly scope: ConfirmationScope;
	readonly id: string;
	readonly now: number;
}): Op<Confirmation> {
	const row = yield* confirmationRow(args.id);
	if (!row || !(yield* isSeen(args.scope, row)))
		throw new KeryxError("store.not_found", `no confirmation ${args.id}`, { field: "id" });
	return yield* toConfirmation(row, args.now);
}

function* isSeen(scope: ConfirmationScope, row: ConfirmationRow): Op<boolean> {
	if (scope.kind === "asker") return row.asked_by === scope.askedBy;
	if (scope.kind === "operator") return true;
	return row.conversation !== null && (yield* seesConversation(scope, row.conversation));
}

/** Newest first. */
export function* confirmations(args: {
	readonly scope: ConfirmationScope;
	readonly now: number;
	readonly limit: number;
	readonly status?: ConfirmationStatus;
	/** Older than this one; unknown: the newest. */
	readonly before?: string;
}): Op<readonly Confirmation[]> {
	const { scope, now, limit, status } = args;
	const before = yield* positionOf(scope, args.before);
	if (scope.kind === "principal") {
		const own: ConfirmationRow[] = [];
		for (const principal of yield* samePrincipals(scope.principal))
			own.push(
				...(status === undefined
					? yield* all(pageOfPerson, before, null, principal, limit)
					: status === "expired"
						? yield* all(pageOfPersonExpired, before, null, principal, now, now, limit)
						: yield* all(pageOfPersonStatus, before, null, principal, status, now, now, limit)),
			);
		const newest: Confirmation[] = [];
		for (const row of own.sort((a, b) => b.n - a.n).slice(0, limit))
			newest.push(yield* toConfirmation(row, now));
		return newest;
	}
	const whose = scope.kind === "asker" ? scope.askedBy : null;
	const rows =
		status === undefined
			? yield* all(pageOfAll, before, whose, limit)
			: status === "expired"
				? yield* all(pageOfExpired, before, whose, now, now, limit)
				: yield* all(pageOfStatus, before, whose, status, now, now, limit);
	const found: Confirmation[] = [];
	for (const row of rows) found.push(yield* toConfirmation(row, now));
	return found;
}

/** A foreign id is answered like an unknown one: the list begins at its newest. */
function* positionOf(scope: ConfirmationScope, id: string | undefined): Op<number> {
	const row = id === undefined ? undefined : yield* confirmationRow(id);
	return row && (yield* isSeen(scope, row)) ? row.n : LAST;
}

/** The open confirmations of a conversation, oldest first. */
export function* openConfirmations(args: {
	readonly scope: OperatorScope;
	readonly conversation: ConversationId;
	readonly now: number;
}): Op<readonly Confirmation[]> {
	const found: Confirmation[] = [];
	for (const row of yield* all(openOf, args.conversation, args.now))
		found.push(yield* toConfirmation(row, args.now));
	return found;
}

/** How many wait, and when the next action is due. */
export function* confirmationWork(args: { readonly scope: OperatorScope; readonly now: number }): Op<{
	readonly pending: number;
	readonly nextDueAt: number | null;
	readonly nextNoticeAt: number | null;
}> {
	return {
		pending: (yield* get(pendingCount, args.now))?.n ?? 0,
		nextDueAt: (yield* get(nextDue))?.at ?? null,
		nextNoticeAt: (yield* get(nextNotice))?.at ?? null,
	};
}

export interface DueNotice {
	readonly target: string;
	readonly attempts: number;
	readonly confirmation: Confirmation;
}

export function* dueConfirmationNotices(args: {
	readonly scope: OperatorScope;
	readonly now: number;
	/** No pause is longer, unless the clock was set back: one that waits longer is due, too. */
	readonly latest: number;
	readonly limit: number;
}): Op<readonly DueNotice[]> {
	const due: DueNotice[] = [];
	for (const { confirmation: id, target, attempts } of yield* all(
		dueNotices,
		args.now,
		args.latest,
		args.limit,
	)) {
		const row = (yield* confirmationRow(id)) as ConfirmationRow;
		due.push({ target, attempts, confirmation: yield* toConfirmation(row, args.now) });
	}
	return due;
}

export function* settleConfirmationNotice(
	context: Context,
	args: {
		readonly id: string;
		readonly target: string;
		readonly as: { readonly kind: "sent" } | { readonly kind: "dead" | "retry"; readonly reason: string };
		/** With retry: the earliest time. */
		readonly dueAt?: number;
	},
): Op<void> {
	const { as } = args;
	const state = as.kind === "retry" ? "pending" : as.kind;
	const dueAt = as.kind === "retry" ? (args.dueAt ?? context.now) : null;
	yield* run(settleNotice, state, as.kind === "sent" ? null : as.reason, dueAt, args.id, args.target);
}
