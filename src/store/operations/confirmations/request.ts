// Asking (I14): a request becomes a row, its audit entry and its notices in one transaction, unless a grant answers it or a limit is
// reached.
import type { ConversationId, Standing } from "../../../domain/index.ts";
import { seal, unseal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditVia, Confirmation, ConfirmationStatus, Destination, NewDelivery } from "../../types.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { noticeLane } from "../deliveries/destination.ts";
import { emit } from "../events.ts";
import { audit } from "./audit.ts";
import { askerOf, useByOf } from "./ending.ts";
import { coveringGrant } from "./grants.ts";
import {
	type AskedBody,
	CONFIRMATION_COLUMNS,
	type ConfirmationRow,
	confirmationRow,
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
const slotsSince = sql<{ n: number }>("SELECT count(*) AS n FROM confirmations WHERE slot_at > ?");

export interface ConfirmationRequest {
	/** Drawn by the caller: the notices contain it. */
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
	/** Always needs approval, whatever its name: no grant follows from the answer. */
	readonly once: boolean;
	/** Whether a grant may answer: not for actions that always need approval. */
	readonly grantable: boolean;
	/** An approval expires if it is not used within this time. */
	readonly useWithinMs: number;
	/** Who is notified: chats by deliveries, webhooks by name; and those who cannot be, by name. */
	readonly notices: {
		readonly deliveries: readonly NewDelivery[];
		readonly webhooks: readonly string[];
		readonly unreachable?: readonly string[];
	};
	/** A call of Keryx's own agent. */
	readonly from?: {
		readonly waiter: "turn" | "live";
		/** The current rights of the turn's people, which may be lower than when they wrote (I18). */
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
	if (!auto && context.slots) context.slots.atMost++;
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

/** As asked: the approver's edit has another digest. */
function unchangedDigest(row: ConfirmationRow): string {
	return unseal<{ digest: string }>(row.body, row.body_key).digest;
}

/** The clocks of gateways on one store differ by less. */
const AHEAD_MS = 60_000;

function* limitOf(
	context: Context,
	{ askedBy, action, limits }: ConfirmationRequest,
): Op<Extract<Requested, { kind: "limited" }> | null> {
	// Not those far in the future: if the clock was set back, nobody has to wait until it catches up.
	const { now } = context;
	const since = now - limits.windowMs;
	const until = now + AHEAD_MS;
	const own = yield* get(slotsOf, askedBy, action, since, until);
	const every = (yield* areSlotsLeft(context, since, limits.inAll))
		? undefined
		: yield* get(slotsOfAll, since, until);
	const full = [
		own && own.n >= limits.perAction ? own.oldest : null,
		every && every.n >= limits.inAll ? every.oldest : null,
	].filter((oldest) => oldest !== null);
	if (full.length === 0) return null;
	const retryAfterMs = Math.max(...full) + limits.windowMs - now;
	return { kind: "limited", remaining: 0, windowMs: limits.windowMs, retryAfterMs };
}

/** Counting takes time with every slot in use. So the only writer of a store remembers how many there can be, and counts again at the limit. */
function* areSlotsLeft({ slots }: Context, since: number, inAll: number): Op<boolean> {
	if (!slots) return false;
	if (slots.atMost >= inAll || since < slots.since) {
		slots.atMost = (yield* get(slotsSince, since))?.n ?? 0;
		slots.since = since;
	}
	return slots.atMost < inAll;
}

/** Notices to chats are ordinary deliveries, in the order of their destination (I19); they belong to no conversation. */
function* tell(context: Context, { id, notices }: ConfirmationRequest): Op<void> {
	for (const delivery of notices.deliveries)
		yield* addDeliveries(context, noticeLane(delivery.destination), null, [delivery]);
	for (const target of notices.webhooks) yield* run(insertNotice, id, target, "pending", context.now);
	for (const target of new Set(notices.unreachable)) yield* run(insertNotice, id, target, "dead", null);
}
