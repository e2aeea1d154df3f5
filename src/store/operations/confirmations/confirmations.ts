// Confirmations (I14): asked once, resolved once, used once, each step with its audit entry in the same transaction. The
// schema's triggers hold the order of steps; what is decided here is who, when and what follows.
import {
	type ConversationId,
	leastStanding,
	lesser,
	type Speaker,
	type Standing,
	soleSpeaker,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	AuditVia,
	Confirmation,
	ConfirmationStatus,
	Destination,
	GrantScope,
	NewDelivery,
} from "../../types.ts";
import { addDeliveries, endQuestion } from "../deliveries/deliveries.ts";
import { noticeLane } from "../deliveries/destination.ts";
import { emit } from "../events.ts";
import { samePrincipals } from "../people/principals.ts";
import { audit } from "./audit.ts";
import { type Asker, coveringGrant, grant, type NewGrant } from "./grants.ts";
import {
	type AskedBody,
	COMPAT,
	CONFIRMATION_COLUMNS,
	type ConfirmationRow,
	confirmationRow,
	type DecisionBody,
	endsAt,
	TIMEOUT,
	toConfirmation,
} from "./rows.ts";

const asked = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations WHERE asked_by = ? AND idempotency_key = ?`,
);
const insertConfirmation = sql(
	`INSERT INTO confirmations (id, action, status, digest, asked_by, session_key, waiter, conversation, turn, call, tool, destination,
		idempotency_key, timeout_seconds, created_at, expires_at, slot_at, resolved_at, resolved_by, use_by, used_at, body, due_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)`,
);
const insertNotice = sql(
	"INSERT INTO confirmation_notices (confirmation, target, state, due_at) VALUES (?, ?, ?, ?)",
);
const slotsOf = sql<{ n: number; oldest: number | null }>(
	"SELECT count(*) AS n, min(slot_at) AS oldest FROM confirmations WHERE asked_by = ? AND action = ? AND slot_at > ? AND slot_at <= ?",
);
const slotsOfAll = sql<{ n: number; oldest: number | null }>(
	"SELECT count(*) AS n, min(slot_at) AS oldest FROM confirmations WHERE slot_at > ? AND slot_at <= ?",
);
const settleRow = sql(
	`UPDATE confirmations SET status = ?, digest = ?, resolved_at = ?, resolved_by = ?, use_by = ?, decision_body = ?, due_at = ?
	WHERE id = ? AND status = ?`,
);
const expireUse = sql(
	"UPDATE confirmations SET status = 'expired', due_at = NULL WHERE id = ? AND status = ?",
);
const consumeRow = sql(
	`UPDATE confirmations SET status = 'consumed', used_at = ?, claim = ?, due_at = NULL
	WHERE id = ? AND status IN ('approved', 'auto_approved')`,
);
const dueRows = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at, n LIMIT ?`,
);
const insertInbox = sql<{ id: number }>(
	`INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at, body, due_at)
	VALUES ('confirmation', 'keryx', '', ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
);
const askingTurn = sql<{ principal: string | null; speakers: string }>(
	"SELECT principal, speakers FROM turns WHERE id = ?",
);
const sourceOf = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
);

export interface ConfirmationRequest {
	/** Drawn by the caller: it stands in the notices. */
	readonly id: string;
	readonly action: string;
	readonly description: string;
	readonly details: Readonly<Record<string, unknown>>;
	readonly digest: string;
	readonly requester: string;
	readonly sessionKey: string;
	readonly timeoutSeconds: number;
	readonly idempotencyKey?: string;
	readonly askedBy: string;
	readonly via: AuditVia;
	readonly limits: { readonly perAction: number; readonly inAll: number; readonly windowMs: number };
	/** Of a kind that is asked about every time, whatever it is called: no grant comes of the answer. */
	readonly once: boolean;
	/** Whether a grant may answer: not for what must always be asked about. */
	readonly grantable: boolean;
	/** An approval that is not used within this expires. */
	readonly useWithinMs: number;
	/** Who is told: chats by deliveries, webhooks by name; and those who cannot be, by name. */
	readonly notices: {
		readonly deliveries: readonly NewDelivery[];
		readonly webhooks: readonly string[];
		readonly unreachable?: readonly string[];
	};
	/** A call of Keryx's own agent. */
	readonly from?: {
		readonly waiter: "turn" | "live";
		/** What the people that the turn speaks for may do now, which may be less than when they wrote (I18). */
		readonly standing: Standing;
		readonly conversation: ConversationId;
		readonly turn: string;
		readonly call: string;
		readonly tool: string;
		readonly destination: Destination;
	};
}

export type Requested =
	| { readonly kind: "pending" | "auto_approved" | "repeated"; readonly confirmation: Confirmation }
	/** The idempotency key was used for another request. */
	| { readonly kind: "conflict"; readonly status: ConfirmationStatus }
	| {
			readonly kind: "limited";
			readonly remaining: 0;
			readonly windowMs: number;
			readonly retryAfterMs: number;
	  };

export function* requestConfirmation(context: Context, args: ConfirmationRequest): Op<Requested> {
	if (args.idempotencyKey !== undefined) {
		const before = yield* get(asked, args.askedBy, args.idempotencyKey);
		if (before) {
			const confirmation = yield* toConfirmation(before, context.now);
			if (unchangedDigest(before) !== args.digest) return { kind: "conflict", status: confirmation.status };
			return { kind: "repeated", confirmation };
		}
	}
	const asker = args.from ? yield* askerOf(args.from.turn, args.from.standing) : null;
	const covering = args.grantable ? yield* coveringGrant(context, { ...args, asker }) : undefined;
	if (covering === undefined) {
		const limited = yield* limitOf(context, args);
		if (limited) return limited;
	}
	const { from } = args;
	const auto = covering !== undefined;
	const expiresAt = context.now + args.timeoutSeconds * 1000;
	const useBy = auto ? useByOf(context, args.askedBy, args.useWithinMs) : null;
	const body: AskedBody & { digest: string } = {
		description: args.description,
		details: args.details,
		requester: args.requester,
		digest: args.digest,
		...(args.once && { once: true }),
	};
	yield* run(
		insertConfirmation,
		args.id,
		args.action,
		auto ? "auto_approved" : "pending",
		args.digest,
		args.askedBy,
		args.sessionKey,
		from?.waiter ?? "program",
		from?.conversation ?? null,
		from?.turn ?? null,
		from?.call ?? null,
		from?.tool ?? null,
		from ? JSON.stringify(from.destination) : null,
		args.idempotencyKey ?? null,
		args.timeoutSeconds,
		context.now,
		expiresAt,
		auto ? null : context.now,
		auto ? context.now : null,
		auto ? `grant:${covering}` : null,
		useBy,
		seal(body),
		auto ? useBy : expiresAt,
	);
	const kind = auto ? "auto_approved" : "requested";
	yield* audit(context, {
		kind,
		confirmation: args.id,
		who: args.askedBy,
		via: args.via,
		facts: { action: args.action, digest: args.digest, ...(auto && { grant: covering }) },
	});
	yield* emit(
		context,
		`confirmation.${kind}`,
		{ conversation: from?.conversation ?? null, turn: from?.turn ?? null, subject: args.id },
		{ action: args.action },
	);
	if (!auto) yield* tell(context, args);
	const row = (yield* confirmationRow(args.id)) as ConfirmationRow;
	return { kind: auto ? "auto_approved" : "pending", confirmation: yield* toConfirmation(row, context.now) };
}

/** As it was asked: the approver's edit has a digest of its own. */
function unchangedDigest(row: ConfirmationRow): string {
	return unseal<{ digest: string }>(row.body, row.body_key).digest;
}

function* limitOf(
	context: Context,
	{ askedBy, action, limits }: ConfirmationRequest,
): Op<Extract<Requested, { kind: "limited" }> | null> {
	// Not those in the future: where the clock was set back, nobody has to wait until it has caught up.
	const { now } = context;
	const since = now - limits.windowMs;
	const own = yield* get(slotsOf, askedBy, action, since, now);
	const every = yield* get(slotsOfAll, since, now);
	const full = [
		own && own.n >= limits.perAction ? own.oldest : null,
		every && every.n >= limits.inAll ? every.oldest : null,
	].filter((oldest) => oldest !== null);
	if (full.length === 0) return null;
	const retryAfterMs = Math.max(...full) + limits.windowMs - now;
	return { kind: "limited", remaining: 0, windowMs: limits.windowMs, retryAfterMs };
}

/** Notices to chats are deliveries as any other, in the order of their destination (I19); they belong to no conversation. */
function* tell(context: Context, { id, notices }: ConfirmationRequest): Op<void> {
	for (const delivery of notices.deliveries)
		yield* addDeliveries(context, noticeLane(delivery.destination), null, [delivery]);
	for (const target of notices.webhooks) yield* run(insertNotice, id, target, "pending", context.now);
	for (const target of new Set(notices.unreachable)) yield* run(insertNotice, id, target, "dead", null);
}

/** Null for those who never say that they used an approval: it stays one. */
function useByOf({ now }: Context, askedBy: string, useWithinMs: number): number | null {
	return askedBy === COMPAT ? null : now + useWithinMs;
}

/** A conversation that has something new to look at. */
export interface Woken {
	readonly conversation: ConversationId;
	readonly inbox: number;
}

export interface ResolveArgs {
	readonly id: string;
	readonly decision: "approved" | "denied";
	/** Who was authenticated. */
	readonly by: string;
	readonly via: AuditVia;
	readonly label?: string;
	readonly reason?: string;
	/** For how long else the answer holds; only with an approval. */
	readonly grant?: { readonly scope: GrantScope; readonly until?: number };
	/** The arguments as the approver wants them. */
	readonly edited?: { readonly details: Readonly<Record<string, unknown>>; readonly digest: string };
	readonly useWithinMs: number;
}

export type Resolved =
	| { readonly kind: "resolved"; readonly confirmation: Confirmation; readonly woken: Woken | null }
	/** Somebody else was first, or its time had passed. */
	| { readonly kind: "settled"; readonly status: ConfirmationStatus; readonly woken: Woken | null };

/** One conditional update decides: of two decisions one wins, and the other learns which. */
export function* resolveConfirmation(context: Context, args: ResolveArgs): Op<Resolved> {
	const row = yield* found(args.id);
	if (row.asked_by === args.by)
		throw new KeryxError("confirmation.refused", "a confirmation cannot be decided by whoever asked for it");
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
	const woken = yield* answerTurn(context, row, args.decision, said.reason);
	return { kind: "resolved", confirmation: yield* readBack(context, row.id), woken };
}

/** Whom the asking turn speaks for. */
function* askerOf(turn: string, standing: Standing = "owner"): Op<Asker> {
	const row = yield* get(askingTurn, turn);
	const speakers = row ? (JSON.parse(row.speakers) as Speaker[]) : [];
	const sole = soleSpeaker(speakers);
	const role = lesser(standing, leastStanding(speakers.map((speaker) => speaker.role)));
	return {
		persons: sole === null ? [] : yield* samePrincipals(sole),
		role: role === "none" ? "guest" : role,
	};
}

/** For the one who asked, and for nobody else (I18). */
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

/** By the one who asked. Of another's nothing is said but that it is not there. */
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

/** `user`: the turn and the token that use it, where one does. */
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

/** Ends what the clock has ended, some at a time. */
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

/** Null where its time has not come. Silence is no consent, and an approval that was not used is none either. */
export function* endByClock(context: Context, row: ConfirmationRow): Op<{ woken: Woken | null } | null> {
	const end = endsAt(row);
	if (end === null || end > context.now) return null;
	if (row.status !== "pending") {
		yield* lapse(context, row);
		// An approval has begun its turn already; that finds it expired.
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

/** An approval that nobody used: who gave it, and when, stays. */
function* lapse(context: Context, row: ConfirmationRow): Op<void> {
	yield* run(expireUse, row.id, row.status);
	yield* audit(context, {
		kind: "expired",
		confirmation: row.id,
		who: TIMEOUT,
		via: "system",
		facts: { action: row.action, digest: row.digest, was: row.status },
	});
	yield* emit(context, "confirmation.expired", idsOf(row), { action: row.action });
}

function* settle(
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

/** The outcome as an inbox event of the conversation that waits for it: it begins a turn, exactly once, also after a crash. */
function* answerTurn(
	context: Context,
	row: ConfirmationRow,
	status: Outcome,
	reason?: string,
): Op<Woken | null> {
	if (row.waiter !== "turn" || row.conversation === null) return null;
	const source = yield* get(sourceOf, row.conversation);
	if (!source) return null;
	const turn = row.turn === null ? undefined : yield* get(askingTurn, row.turn);
	const body = seal({
		source: unseal(source.source_body, source.body_key),
		content: outcomeNote(row, status, reason),
		destination: JSON.parse(row.destination ?? "null") as unknown,
		confirmation: row.id,
		speakers: turn === undefined ? [] : (JSON.parse(turn.speakers) as Speaker[]),
	});
	const inserted = yield* get(
		insertInbox,
		row.conversation,
		`confirmation:${row.id}`,
		row.conversation,
		turn?.principal ?? null,
		context.now,
		body,
		context.now,
	);
	const { id } = inserted as { id: number };
	yield* emit(
		context,
		"inbound.accepted",
		{ conversation: row.conversation, subject: id },
		{ kind: "confirmation" },
	);
	return { conversation: row.conversation, inbox: id };
}

type Outcome = Extract<ConfirmationStatus, "approved" | "denied" | "expired" | "cancelled">;

/** What the agent reads. A refusal of any kind is final: the same must not be tried another way. */
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

function notFound(id: string): KeryxError {
	return new KeryxError("store.not_found", `no confirmation ${id}`, { field: "id" });
}

function* readBack(context: Context, id: string): Op<Confirmation> {
	return yield* toConfirmation((yield* confirmationRow(id)) as ConfirmationRow, context.now);
}

export function idsOf(row: ConfirmationRow) {
	return { conversation: row.conversation, turn: row.turn, subject: row.id };
}
