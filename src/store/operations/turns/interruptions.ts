// Turns whose owner died: interrupted, and then resumed under the next token, or ended where that is too late or was too often.
import {
	type BoundaryFacts,
	type ChatType,
	type ConversationId,
	isFreshInterruption,
	type ResetPolicy,
} from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { DeliveryBody, Destination, Job, OperatorScope, TurnPurpose } from "../../types.ts";
import { cancelLive } from "../confirmations/calls.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import { NODE_LIVES } from "../nodes.ts";
import { jobOf } from "../schedules/read.ts";
import { SUSPEND_AFTER } from "../sessions/boundaries.ts";
import { findConversation, promptFacts, sessionOfKey } from "../sessions/sessions.ts";
import { finishForGood } from "./ends.ts";
import { speakersOf, TURN_COLUMNS, type TurnRow, turnById } from "./row.ts";
import { type OpenTurn, unannouncedBoundary } from "./turns.ts";

const addInterruption = sql<{ interruptions: number }>(
	"UPDATE conversations SET interruptions = interruptions + ? WHERE id = ? RETURNING interruptions",
);
const earlierTurns = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE due_at IS NOT NULL AND state = 'running' AND epoch <> ?
		AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.epoch = turns.epoch AND ${NODE_LIVES})`,
);
const interruptTurn = sql(
	"UPDATE turns SET state = 'interrupted', detail = ?, interrupted_at = ?, due_at = ? WHERE id = ?",
);
const resumePending = sql("UPDATE sessions SET resume_pending_since = ? WHERE key = ?");
const planTurns = sql(
	"UPDATE turns SET planned = 1 WHERE due_at IS NOT NULL AND state = 'running' AND epoch = ?",
);
const plannedTurns = sql<{
	id: string;
	conversation: ConversationId;
	platform: string;
	chat_type: ChatType;
	destination: string;
}>(
	`SELECT t.id, t.conversation, c.platform, c.chat_type, t.destination FROM turns t JOIN conversations c ON c.id = t.conversation
	WHERE t.due_at IS NOT NULL AND t.state = 'running' AND t.epoch = ? ORDER BY t.started_at, t.id`,
);
const interruptedTurns = sql<{ id: string; conversation: ConversationId }>(
	"SELECT id, conversation FROM turns WHERE due_at IS NOT NULL AND due_at <= ? AND state = 'interrupted' ORDER BY due_at LIMIT ?",
);
const resume = sql(
	"UPDATE turns SET state = 'running', token = ?, epoch = ?, attempts = attempts + 1, planned = 0, due_at = ? WHERE id = ?",
);
const setToken = sql("UPDATE conversations SET token = ? WHERE id = ?");
const suspendSession = sql("UPDATE sessions SET suspended_at = ?, due_at = NULL WHERE key = ?");
const startedCalls = sql<{ call: string; tool: string; repeatable: number }>(
	"SELECT call, tool, repeatable FROM calls WHERE turn = ?",
);
const runningOf = sql<{ id: string; conversation: ConversationId }>(
	"SELECT id, conversation FROM turns WHERE due_at IS NOT NULL AND state = 'running' AND epoch = ? ORDER BY started_at, id",
);
const nextIndex = sql<{ n: number | null }>("SELECT max(turn_index) + 1 AS n FROM messages WHERE turn = ?");

export interface PlannedTurn {
	readonly turn: string;
	readonly conversation: ConversationId;
	readonly platform: string;
	readonly chatType: ChatType;
	readonly destination: Destination;
}

/** Before a planned shutdown: turns cut off now do not count as interruptions. Returns the affected turns. */
export function* planInterruptions(context: Context): Op<{ turns: readonly PlannedTurn[] }> {
	yield* run(planTurns, context.epoch);
	const turns = (yield* all(plannedTurns, context.epoch)).map((row) => ({
		turn: row.id,
		conversation: row.conversation,
		platform: row.platform,
		chatType: row.chat_type,
		destination: JSON.parse(row.destination) as Destination,
	}));
	return { turns };
}

export interface InterruptArgs {
	/** When the earlier owner was last seen alive; default: now. */
	readonly at?: number;
	/** For the user of a suspended session. */
	readonly suspendedNotice: DeliveryBody;
}

export interface Interrupted {
	readonly turn: string;
	readonly conversation: ConversationId;
	readonly suspended: boolean;
}

/** Turns of dead owners are interrupted at once. The third interruption in a row suspends the session instead. */
export function* interruptTurns(
	context: Context,
	args: InterruptArgs,
): Op<{ interrupted: readonly Interrupted[] }> {
	const interrupted: Interrupted[] = [];
	for (const turn of yield* all(earlierTurns, context.epoch)) {
		const reason = turn.planned ? "restart" : "crash";
		const counted = yield* get(addInterruption, turn.planned ? 0 : 1, turn.conversation);
		const suspended = (counted?.interruptions ?? 0) >= SUSPEND_AFTER;
		yield* emit(context, "turn.interrupted", { conversation: turn.conversation, turn: turn.id }, { reason });
		yield* cancelLive(context, turn.conversation, turn.id);
		if (suspended) yield* suspendFor(context, turn, args.suspendedNotice);
		else
			yield* run(
				interruptTurn,
				reason,
				Math.max(turn.started_at, args.at ?? context.now),
				context.now,
				turn.id,
			);
		interrupted.push({ turn: turn.id, conversation: turn.conversation, suspended });
	}
	return { interrupted };
}

/** No turn starts in a suspended session; the next message of a person opens its successor. */
function* suspendFor(context: Context, turn: TurnRow, notice: DeliveryBody): Op<void> {
	yield* finishForGood(context, turn, { kind: "failed", reason: "interrupted" });
	yield* run(suspendSession, context.now, turn.session);
	const session = yield* sessionOfKey(turn.session);
	yield* emit(context, "session.suspended", { conversation: turn.conversation, session: session.id });
	const destination = JSON.parse(turn.destination) as Destination;
	yield* addDeliveries(context, turn.conversation, turn.id, [
		{ id: `${turn.id}:suspended`, kind: "notice", destination, body: notice },
	]);
}

/** Interrupted turns, oldest first, for the gateway to resume. */
export function* dueTurns(args: {
	readonly scope: OperatorScope;
	readonly now: number;
	readonly limit: number;
}): Op<readonly { id: string; conversation: ConversationId }[]> {
	return yield* all(interruptedTurns, args.now, args.limit);
}

/** All turns of this node, oldest first: to check whether each is known here. */
export function* runningTurns(args: {
	readonly scope: OperatorScope;
	readonly node: number;
}): Op<readonly { id: string; conversation: ConversationId }[]> {
	return yield* all(runningOf, args.node);
}

export interface ResumeArgs {
	readonly turn: string;
	readonly autoContinueFreshness: number;
	readonly deadlineAt: number;
	readonly policy: ResetPolicy;
	/** Also a running one of this owner that nobody runs: its start or resumption was never reported. */
	readonly evenRunning?: boolean;
}

export type ResumeResult =
	| (OpenTurn & {
			readonly kind: "resumed";
			readonly purpose: TurnPurpose;
			readonly conversation: ConversationId;
			/** The job it runs. */
			readonly job: Job | null;
			readonly reason: string;
			/** When its earlier owner was last seen alive. */
			readonly interruptedAt: number;
			readonly attempts: number;
			/** A boundary whose notice the user has not received yet. */
			readonly boundary: BoundaryFacts | null;
			/** Started calls: a non-repeatable one has an unknown outcome. */
			readonly started: readonly {
				readonly call: string;
				readonly tool: string;
				readonly repeatable: boolean;
			}[];
	  })
	| { readonly kind: "expired" | "gone" };

/** Resumes an interrupted turn: the same row, the next token. One that is too old ends as expired. */
export function* resumeTurn(context: Context, args: ResumeArgs): Op<ResumeResult> {
	const turn = yield* get(turnById, args.turn);
	const unheard = args.evenRunning && turn?.state === "running" && turn.epoch === context.epoch;
	if (!turn || (turn.state !== "interrupted" && !unheard)) return { kind: "gone" };
	const since = (unheard ? null : turn.interrupted_at) ?? context.now;
	const reason = unheard ? "a fault of the store" : (turn.detail ?? "crash");
	if (!isFreshInterruption(since, args.autoContinueFreshness, context.now)) {
		yield* finishForGood(context, turn, { kind: "expired", reason: "resume_expired" });
		yield* run(resumePending, since, turn.session);
		return { kind: "expired" };
	}
	const conversation = yield* findConversation(turn.conversation);
	const token = conversation.token + 1;
	yield* run(setToken, token, conversation.id);
	yield* run(resume, token, context.epoch, args.deadlineAt, turn.id);
	const session = yield* sessionOfKey(turn.session);
	yield* emit(
		context,
		"turn.resumed",
		{ conversation: conversation.id, session: session.id, turn: turn.id },
		{ reason },
	);
	const calls = yield* all(startedCalls, turn.id);
	return {
		kind: "resumed",
		purpose: turn.purpose,
		turn: turn.id,
		token,
		conversation: conversation.id,
		session: session.id,
		destination: JSON.parse(turn.destination) as Destination,
		principal: turn.principal,
		speakers: speakersOf(turn),
		messages: session.messages,
		cap: session.cap,
		context: unseal<string>(session.context_body, session.body_key),
		...promptFacts(session),
		nextIndex: (yield* get(nextIndex, turn.id))?.n ?? 0,
		job: yield* jobOf(turn.id),
		reason,
		interruptedAt: since,
		attempts: turn.attempts + 1,
		boundary: yield* unannouncedBoundary(context, session, args),
		started: calls.map(({ call, tool, repeatable }) => ({ call, tool, repeatable: repeatable === 1 })),
	};
}
