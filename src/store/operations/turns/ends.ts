// How turns end: completed, failed or stopped under their token, or expired. Dispositions, deliveries, counters and rotation are one
// transaction.
import type { ResetPolicy, SessionId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Message, NewDelivery } from "../../types.ts";
import { cancelLive, endOutcomes } from "../confirmations/calls.ts";
import { addDeliveries, haveDeliveries } from "../deliveries/deliveries.ts";
import { closeOpen } from "../deliveries/previews.ts";
import { emit } from "../events.ts";
import { type BoundaryMaterial, decide, succeed } from "../sessions/boundaries.ts";
import {
	type ConversationRow,
	end,
	findConversation,
	type SessionRow,
	sessionOfKey,
	touched,
} from "../sessions/sessions.ts";
import { appendTouching, haveRows, type IndexedMessage } from "../transcript/append.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { addModelCall, type ModelCall } from "./model-calls.ts";
import { assertHeld, openTurn, type TurnRow, turnById } from "./row.ts";

const finishTurn = sql("UPDATE turns SET state = ?, detail = ?, ended_at = ?, due_at = NULL WHERE id = ?");
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
const clearPending = sql(
	"UPDATE sessions SET resume_pending_since = NULL WHERE key = ? AND resume_pending_since IS NOT NULL",
);
const clearNotice = sql("UPDATE sessions SET notice_pending = 0 WHERE key = ?");

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
	turn: Pick<TurnRow, "id" | "conversation" | "session">,
	outcome: Outcome | { readonly kind: "expired"; readonly reason: string },
): Op<void> {
	const reason = "reason" in outcome ? outcome.reason : null;
	if (outcome.kind !== "completed") yield* endOutcomes(context, turn);
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

/** The same for a turn that nobody goes on with: the conversation's interruptions are counted anew. */
export function* finishForGood(...[context, turn, outcome]: Parameters<typeof finish>): Op<void> {
	yield* finish(context, turn, outcome);
	yield* run(clearInterruptions, turn.conversation);
}

/** Ends the conversation's turn, whoever holds it, before a command changes the transcript. Its token is refused from then on. */
export function* stopOpenTurn(context: Context, conversation: string): Op<string | null> {
	const turn = yield* get(openTurn, conversation);
	if (!turn) return null;
	yield* finishForGood(context, turn, { kind: "stopped" });
	return turn.id;
}

/** The same for only one turn. Also returns it if it is already stopped: it may have written its own end. */
export function* stopThisTurn(context: Context, conversation: string, id: string): Op<string | null> {
	const turn = yield* get(turnById, id);
	if (turn?.conversation !== conversation) return null;
	if (turn.state !== "running" && turn.state !== "interrupted") return turn.state === "stopped" ? id : null;
	return yield* stopOpenTurn(context, conversation);
}
