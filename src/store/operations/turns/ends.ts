// How turns end: completed, failed or stopped under their token; interrupted by the death of their owner, and then resumed under the next
// token or expired. Dispositions, deliveries, counters and rotation are one transaction.
import {
	type BoundaryFacts,
	type ChatType,
	type ConversationId,
	isFreshInterruption,
	type ResetPolicy,
	type SessionId,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	DeliveryBody,
	Destination,
	Job,
	Message,
	NewDelivery,
	OperatorScope,
	TurnPurpose,
} from "../../types.ts";
import { cancelLive } from "../confirmations/calls.ts";
import { addDeliveries, haveDeliveries } from "../deliveries/deliveries.ts";
import { closeOpen } from "../deliveries/previews.ts";
import { emit } from "../events.ts";
import { NODE_LIVES } from "../nodes.ts";
import { jobOf } from "../schedules/read.ts";
import { type BoundaryMaterial, decide, SUSPEND_AFTER, succeed } from "../sessions/boundaries.ts";
import {
	type ConversationRow,
	end,
	findConversation,
	promptFacts,
	type SessionRow,
	sessionOfKey,
	touched,
} from "../sessions/sessions.ts";
import { appendTouching, haveRows, type IndexedMessage } from "../transcript/append.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { addModelCall, type ModelCall } from "./model-calls.ts";
import { assertHeld, speakersOf, TURN_COLUMNS, type TurnRow } from "./row.ts";
import { type OpenTurn, unannouncedBoundary } from "./turns.ts";

const finishTurn = sql("UPDATE turns SET state = ?, detail = ?, ended_at = ?, due_at = NULL WHERE id = ?");
const turnById = sql<TurnRow>(`SELECT ${TURN_COLUMNS} FROM turns WHERE id = ?`);
/** A turn with what its end needs of its session and its conversation: one look instead of three. */
interface EndingTurn
	extends Pick<TurnRow, "id" | "conversation" | "session" | "principal" | "epoch" | "token" | "state">,
		Pick<
			SessionRow,
			| "last_activity_at"
			| "due_at"
			| "ended_at"
			| "cap"
			| "messages"
			| "suspended_at"
			| "resume_pending_since"
		>,
		Pick<ConversationRow, "platform" | "profile" | "interruptions"> {
	readonly session_id: SessionId;
	/** Of the conversation. */
	readonly owner: string | null;
	readonly last_token: number;
	readonly used_at: number;
}
const turnToEnd = sql<EndingTurn>(
	`SELECT t.id, t.conversation, t.session, t.principal, t.epoch, t.token, t.state,
		s.id AS session_id, s.last_activity_at, s.due_at, s.ended_at, s.cap, s.messages, s.suspended_at, s.resume_pending_since,
		c.platform, c.profile, c.interruptions, c.principal AS owner, c.token AS last_token, c.last_activity_at AS used_at
	FROM turns t JOIN sessions s ON s.key = t.session JOIN conversations c ON c.id = t.conversation WHERE t.id = ?`,
);
const dispose = sql(
	"UPDATE inbox SET disposition = ?, disposition_detail = ?, disposed_at = ?, due_at = NULL WHERE turn = ? AND disposition IS NULL",
);
/** A single one by its id, which needs no list of the rows first. */
const disposeOne = sql(
	"UPDATE inbox SET disposition = ?, disposition_detail = ?, disposed_at = ?, due_at = NULL WHERE id = ? AND disposition IS NULL",
);
const leftOfTurn = sql<{ items: number; first: number | null; has_open: unknown; has_live: unknown }>(
	`SELECT count(*) AS items, min(id) AS first,
		EXISTS (SELECT 1 FROM deliveries d WHERE d.turn = ? AND d.state = 'open') AS has_open,
		EXISTS (SELECT 1 FROM confirmations c WHERE c.conversation = ? AND c.due_at IS NOT NULL AND c.status = 'pending'
			AND c.waiter = 'live' AND c.turn = ?) AS has_live
	FROM inbox WHERE turn = ? AND disposition IS NULL`,
);
const clearInterruptions = sql(
	"UPDATE conversations SET interruptions = 0 WHERE id = ? AND interruptions > 0",
);
const addInterruption = sql<{ interruptions: number }>(
	"UPDATE conversations SET interruptions = interruptions + ? WHERE id = ? RETURNING interruptions",
);
const clearPending = sql(
	"UPDATE sessions SET resume_pending_since = NULL WHERE key = ? AND resume_pending_since IS NOT NULL",
);
const clearNotice = sql("UPDATE sessions SET notice_pending = 0 WHERE key = ?");
const earlierTurns = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE due_at IS NOT NULL AND state = 'running' AND epoch <> ?
		AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.epoch = turns.epoch AND ${NODE_LIVES})`,
);
const openTurnOf = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted')`,
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

export type Outcome =
	| { readonly kind: "completed" }
	| { readonly kind: "failed"; readonly reason: string }
	| { readonly kind: "stopped" };

export interface EndTurnArgs {
	readonly turn: string;
	readonly token: number;
	readonly outcome: Outcome;
	readonly messages: readonly IndexedMessage[];
	/** Blobs stored before that the messages refer to. */
	readonly blobs?: readonly string[];
	/** Possibly not recorded yet; recorded ones stay unchanged. */
	readonly calls?: readonly ModelCall[];
	readonly deliveries: readonly NewDelivery[];
	readonly policy: ResetPolicy;
	/** The deliveries include the notice of the boundary that opened this session. */
	readonly noticeGiven?: boolean;
	/** What a rotation needs, if the caller expects the cap; without it a turn that reaches the cap is refused once. */
	readonly ifRotated?: {
		readonly context: string;
		readonly tools?: readonly string[];
		readonly material: BoundaryMaterial;
		readonly notice: readonly NewDelivery[];
	};
}

export interface EndedTurn {
	readonly rows: readonly Message[];
	readonly messages: number;
	readonly rotatedTo: SessionId | null;
	/** The turn already ended this way, with these rows and deliveries: nothing was written. */
	readonly repeated: boolean;
}

export function* endTurn(context: Context, args: EndTurnArgs): Op<EndedTurn> {
	const before = yield* get(turnToEnd, args.turn);
	if (before && (yield* isWritten(before, args)))
		return { rows: [], messages: before.messages, rotatedTo: null, repeated: true };
	const turn = assertHeld(context, before, args.turn, args.token);
	if (args.blobs?.length) yield* adoptBlobs(args.blobs, turn.conversation);
	// Before the rows that came of them, as their events tell it.
	for (const call of args.calls ?? []) yield* addModelCall(context, turn, call);
	const { rows, messages } = yield* appendTouching(
		context,
		{
			conversation: turn.conversation,
			session: turn.session,
			sessionId: turn.session_id,
			turn: turn.id,
			platform: turn.platform,
			profile: turn.profile,
			principal: turn.owner,
		},
		args.messages,
		touched(turn, { last_activity_at: turn.used_at, token: turn.last_token }, context.now, args.policy),
	);
	yield* addDeliveries(context, turn.conversation, turn.id, args.deliveries);
	yield* finish(context, turn, args.outcome);
	if (turn.interruptions > 0) yield* run(clearInterruptions, turn.conversation);
	if (turn.resume_pending_since !== null) yield* run(clearPending, turn.session);
	if (args.noticeGiven) yield* run(clearNotice, turn.session);

	const decision = decide({ ...turn, messages }, args.policy, {
		now: context.now,
		activeProcess: false,
		at: "turn_end",
		freshness: 0,
	});
	if (decision.kind === "continue" || turn.ended_at !== null)
		return { rows, messages, rotatedTo: null, repeated: false };
	if (!args.ifRotated)
		throw new KeryxError(
			"turn.rotates",
			`turn ${turn.id} reaches the session's cap of ${turn.cap} messages: ifRotated is needed`,
			{
				field: "ifRotated",
			},
		);
	const conversation = yield* findConversation(turn.conversation);
	const after = yield* sessionOfKey(turn.session);
	yield* end(context, after, decision.reason);
	const { session: successor } = yield* succeed(
		context,
		conversation,
		after,
		decision.reason,
		{ policy: args.policy, context: args.ifRotated.context, tools: args.ifRotated.tools ?? [] },
		args.ifRotated.material,
		context.now,
		true,
	);
	yield* addDeliveries(context, conversation.id, turn.id, args.ifRotated.notice);
	return { rows, messages, rotatedTo: successor.id, repeated: false };
}

/** The same end was already committed. An end by someone else, such as /stop, lacks this one's rows: its token is spent. */
function* isWritten(
	turn: Pick<TurnRow, "id" | "conversation" | "state" | "token">,
	{ token, outcome, messages, deliveries }: EndTurnArgs,
): Op<boolean> {
	if (turn.state !== outcome.kind || turn.token !== token) return false;
	const { id, conversation } = turn;
	return (yield* haveRows({ turn: id, conversation }, messages)) && (yield* haveDeliveries(deliveries));
}

/** The turn's state and the disposition of each of its messages. */
function* finish(
	context: Context,
	turn: Pick<TurnRow, "id" | "conversation">,
	outcome: Outcome | { readonly kind: "expired"; readonly reason: string },
): Op<void> {
	const reason = "reason" in outcome ? outcome.reason : null;
	const left = yield* get(leftOfTurn, turn.id, turn.conversation, turn.id, turn.id);
	if (left?.has_open) yield* closeOpen(context, turn.id);
	if (left?.has_live) yield* cancelLive(context, turn.conversation, turn.id);
	yield* run(finishTurn, outcome.kind, reason, context.now, turn.id);
	const n = left?.items ?? 0;
	const disposition = outcome.kind === "completed" ? (n > 1 ? "merged" : "answered") : outcome.kind;
	const how = [disposition, reason, context.now] as const;
	if (n === 1 && left?.first) yield* run(disposeOne, ...how, left.first);
	else yield* run(dispose, ...how, turn.id);
	yield* emit(
		context,
		"turn.ended",
		{ conversation: turn.conversation, turn: turn.id },
		{ outcome: outcome.kind, disposition, items: n, ...(reason !== null && { reason }) },
	);
}

/** Ends the conversation's turn, whoever holds it, before a command changes the transcript. Its token is refused from then on. */
export function* stopOpenTurn(context: Context, conversation: string): Op<string | null> {
	const turn = yield* get(openTurnOf, conversation);
	if (!turn) return null;
	yield* finish(context, turn, { kind: "stopped" });
	yield* run(clearInterruptions, conversation);
	return turn.id;
}

/** The same for only one turn. Also returns it if it is already stopped: it may have written its own end. */
export function* stopThisTurn(context: Context, conversation: string, id: string): Op<string | null> {
	const turn = yield* get(turnById, id);
	if (turn?.conversation !== conversation) return null;
	if (turn.state !== "running" && turn.state !== "interrupted") return turn.state === "stopped" ? id : null;
	return yield* stopOpenTurn(context, conversation);
}

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
	yield* finish(context, turn, { kind: "failed", reason: "interrupted" });
	yield* run(suspendSession, context.now, turn.session);
	yield* run(clearInterruptions, turn.conversation);
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
		yield* finish(context, turn, { kind: "expired", reason: "resume_expired" });
		yield* run(resumePending, since, turn.session);
		yield* run(clearInterruptions, turn.conversation);
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
