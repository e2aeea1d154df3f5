// Boundaries: when a session ends and another one succeeds it. What holds a session open, which boundary is due, and what the successor
// is told about the session that ended.
import {
	type BoundaryCause,
	type BoundaryFacts,
	type CheckpointOutcome,
	carriesOver,
	carryOver,
	decideBoundary,
	type EndReason,
	type ResetPolicy,
} from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, get, type Op, sql } from "../../query.ts";
import { append } from "../transcript/append.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { type MessageBody, textOf } from "../transcript/content.ts";
import {
	type ConversationRow,
	type Opening,
	open,
	type SessionRow,
	sessionOfKey,
	targetOf,
	titleOf,
} from "./sessions.ts";

const heldByInternal = sql<{ id: number }>(
	"SELECT id FROM inbox WHERE conversation = ? AND due_at IS NOT NULL AND kind <> 'person' LIMIT 1",
);
const HOUR_MS = 3_600_000;
/** An old one only while it still prints or is watched. */
const heldByProcess = sql<{ n: number }>(
	`SELECT n FROM processes WHERE conversation = ? AND due_at IS NOT NULL AND background = 1
		AND (printed_at > ? OR check_ms IS NOT NULL) LIMIT 1`,
);
const openProcesses = sql<{ id: string; body: string; body_key: number | null }>(
	"SELECT id, body, body_key FROM processes WHERE conversation = ? AND due_at IS NOT NULL AND background = 1 ORDER BY n",
);
const heldByConfirmation = sql<{ n: number }>(
	"SELECT n FROM confirmations WHERE conversation = ? AND due_at IS NOT NULL AND status = 'pending' LIMIT 1",
);
const openConfirmations = sql<{ id: string; action: string }>(
	`SELECT id, action FROM confirmations WHERE conversation = ? AND due_at IS NOT NULL AND status = 'pending' ORDER BY n`,
);
const lastText = sql<{ body: string; body_key: number | null }>(
	`SELECT body, body_key FROM messages m WHERE session = ? AND role = ? AND seq <= ? AND NOT EXISTS (
		SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL AND m.seq BETWEEN h.from_seq AND h.to_seq)
	ORDER BY seq DESC LIMIT 1`,
);

const firstCarryOver = sql<{ body: string; body_key: number | null }>(
	"SELECT body, body_key FROM messages WHERE session = ? AND kind = 'carry_over' ORDER BY seq LIMIT 1",
);

/** Whether unprocessed work keeps the session open; work outside the inbox comes with `held`. */
export function* isHeld(
	conversation: string,
	held: boolean,
	now: number,
	{ processMaxAgeHours }: Pick<ResetPolicy, "processMaxAgeHours">,
): Op<boolean> {
	if (held || (yield* get(heldByInternal, conversation)) !== undefined) return true;
	if (yield* get(heldByProcess, conversation, now - processMaxAgeHours * HOUR_MS)) return true;
	return (yield* get(heldByConfirmation, conversation)) !== undefined;
}

export function decide(
	session: Pick<
		SessionRow,
		"last_activity_at" | "messages" | "cap" | "suspended_at" | "resume_pending_since"
	>,
	policy: ResetPolicy,
	rest: {
		readonly now: number;
		readonly activeProcess: boolean;
		readonly at: "arrival" | "watch" | "turn_end";
		readonly freshness: number;
	},
): ReturnType<typeof decideBoundary> {
	return decideBoundary({
		session: {
			lastActivityAt: session.last_activity_at,
			messageCount: session.messages,
			cap: session.cap,
			suspended: session.suspended_at !== null,
			resumePendingSince: session.resume_pending_since,
		},
		policy,
		autoContinueFreshness: rest.freshness,
		now: rest.now,
		activeProcess: rest.activeProcess,
		at: rest.at,
	});
}

/** The facts of the boundary for the successor's carry-over and notice. */
export interface BoundaryMaterial {
	readonly processes: BoundaryFacts["processes"];
	readonly confirmations: BoundaryFacts["confirmations"];
	readonly checkpoint: CheckpointOutcome;
}

export const NO_MATERIAL: BoundaryMaterial = {
	processes: [],
	confirmations: [],
	checkpoint: { kind: "none" },
};

/** Opens the successor of an ended session, with the carry-over as its first row if policy has one. */
export function* succeed(
	context: Context,
	conversation: ConversationRow,
	ended: SessionRow,
	reason: EndReason,
	opening: Opening,
	material: BoundaryMaterial,
	at: number,
	/** The user is notified at once, in the same transaction; the agent learns it from the carry-over or a note. */
	userNotified: boolean,
): Op<{ session: SessionRow; facts: BoundaryFacts }> {
	const facts = yield* boundaryFacts(ended, reason, opening.policy, material, at);
	const session = yield* open(context, conversation, opening, {
		openedBy: reason,
		previous: ended,
		noticePending: facts.ended.hadActivity && !(userNotified && facts.carriedOver),
	});
	const carried = facts.carriedOver
		? carryOver(facts, opening.tools)
		: yield* unusedCarryOver(ended, reason, opening.policy);
	if (carried !== null)
		yield* append(context, targetOf(conversation, session, null), [
			{ role: "meta", kind: "carry_over", content: carried },
		]);
	return { session, facts };
}

/** A session without messages passes on its own carry-over. */
function* unusedCarryOver(ended: SessionRow, reason: EndReason, policy: ResetPolicy): Op<string | null> {
	if (ended.had_activity === 1 || !carriesOver(policy, reason)) return null;
	const row = yield* get(firstCarryOver, ended.key);
	if (!row) return null;
	return textOf(
		yield* loadLargeText(ended.conversation, unseal<MessageBody>(row.body, row.body_key).content),
	);
}

/** The facts of a boundary from the store; read again for a notice not yet sent. */
export function* boundaryFacts(
	ended: SessionRow,
	reason: EndReason,
	policy: ResetPolicy,
	material: BoundaryMaterial,
	at: number,
): Op<BoundaryFacts> {
	const hadActivity = ended.had_activity === 1;
	return {
		cause: causeOf(ended, reason, policy, at),
		ended: { id: ended.id, title: titleOf(ended), hadActivity },
		carriedOver: hadActivity && carriesOver(policy, reason),
		lastExchange: {
			user: yield* lastTextOf(ended, "user"),
			assistant: yield* lastTextOf(ended, "assistant"),
		},
		...material,
		processes: (yield* all(openProcesses, ended.conversation)).map(({ id, body, body_key }) => ({
			id,
			command: unseal<{ command: string }>(body, body_key).command,
		})),
		confirmations: yield* all(openConfirmations, ended.conversation),
	};
}

function causeOf(ended: SessionRow, reason: EndReason, policy: ResetPolicy, at: number): BoundaryCause {
	switch (reason) {
		case "idle":
			return { reason, idleMs: Math.max(0, at - ended.last_activity_at) };
		case "daily":
			return { reason, atHour: policy.atHour, timezone: policy.timezone };
		case "message_limit":
			return { reason, cap: ended.cap };
		case "suspended":
			return { reason, interruptions: SUSPEND_AFTER };
		case "resume_expired":
			return { reason, interruptedMs: Math.max(0, at - (ended.resume_pending_since ?? at)) };
		case "user_new":
		case "user_switch":
		case "retention":
			return { reason };
	}
}

/** How many unplanned interruptions in a row suspend a session. */
export const SUSPEND_AFTER = 3;

/** Its own, or else that of its base. */
function* lastTextOf(session: SessionRow, role: "user" | "assistant"): Op<string | null> {
	for (let at = session, upTo = Number.MAX_SAFE_INTEGER; ; ) {
		const row = yield* get(lastText, at.key, role, upTo);
		if (row) {
			const { content } = unseal<MessageBody>(row.body, row.body_key);
			return textOf(yield* loadLargeText(at.conversation, content));
		}
		if (at.base_session === null) return null;
		upTo = at.base_seq ?? 0;
		at = yield* sessionOfKey(at.base_session);
	}
}
