// Turns begin here (I5): at most one per conversation, by the unique index one_turn. A begin is one transaction: the boundary, the session,
// the messages and the token.
import {
	type BoundaryFacts,
	type ConversationId,
	distinctSpeakers,
	parseSource,
	type SessionId,
	type Speaker,
} from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination, Job, Message, TurnPurpose } from "../../types.ts";
import { destinationOf } from "../deliveries/destination.ts";
import { catchUpSends, tellDeadSends } from "../deliveries/sends.ts";
import { emit } from "../events.ts";
import { takeAmendments } from "../inbox/amendments.ts";
import { isAlive } from "../nodes.ts";
import { jobOf } from "../schedules/read.ts";
import {
	type BoundaryMaterial,
	boundaryFacts,
	decide,
	isHeld,
	NO_MATERIAL,
	succeed,
} from "../sessions/boundaries.ts";
import { moveTo } from "../sessions/filing.ts";
import {
	CONVERSATION_COLUMNS,
	type ConversationRow,
	end,
	findLast,
	foundConversation,
	type Opening,
	open,
	type PromptFacts,
	previousOf,
	promptFacts,
	type SessionRow,
	touched,
	underPolicy,
} from "../sessions/sessions.ts";
import {
	appendItems,
	destinationFor,
	type InboxRow,
	inboxWaiting,
	observedBefore,
	speakersOfItem,
} from "./items.ts";
import { IMPORTED, speakersOf, TURN_COLUMNS, type TurnRow, turnById } from "./row.ts";

/** With what a turn rarely finds: one look instead of one for each. */
interface Beginning extends ConversationRow {
	readonly is_busy: unknown;
	readonly has_observed: unknown;
	readonly has_amendments: unknown;
	readonly has_dead_sends: unknown;
	/** Someone was sent something since; perhaps not here. */
	readonly has_sends: unknown;
}
const conversationToBegin = sql<Beginning>(
	`SELECT ${CONVERSATION_COLUMNS},
		EXISTS (SELECT 1 FROM turns t WHERE t.conversation = c.id AND t.state IN ('running', 'interrupted')) AS is_busy,
		EXISTS (SELECT 1 FROM inbox i WHERE i.conversation = c.id AND i.disposition = 'observed' AND i.body IS NOT NULL) AS has_observed,
		EXISTS (SELECT 1 FROM amendments a WHERE a.conversation = c.id AND a.body IS NOT NULL) AS has_amendments,
		EXISTS (SELECT 1 FROM sends s WHERE s.untold_to = c.id) AS has_dead_sends,
		sends_seen < coalesce((SELECT max(s.n) FROM sends s), 0) AS has_sends
	FROM conversations c WHERE id = ?`,
);
const openTurn = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted')`,
);
const insertTurn = sql(
	`INSERT INTO turns (id, conversation, session, principal, speakers, epoch, token, state, purpose, destination, started_at, due_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)`,
);
const setToken = sql("UPDATE conversations SET token = ? WHERE id = ?");
export const resetFailing = sql(
	"UPDATE conversations SET failing_call = NULL, failing_count = 0 WHERE id = ? AND failing_count > 0",
);

export interface BeginTurnArgs extends Pick<Opening, "policy" | "tools"> {
	readonly conversation: ConversationId;
	/** For a session that opens with this turn. Most turns need none, so it may be left out at first: see `opens`. */
	readonly context?: string;
	/** Accepted items, in order. Those a turn has already taken are skipped. */
	readonly inbox: readonly number[];
	readonly autoContinueFreshness: number;
	/** A process or a confirmation outside the inbox holds the session open. */
	readonly held?: boolean;
	readonly material?: BoundaryMaterial;
	/** The turn's deadline. */
	readonly deadlineAt: number;
}

/** A started or resumed turn, with everything needed to run it. */
export interface OpenTurn extends PromptFacts {
	readonly turn: string;
	readonly token: number;
	readonly session: SessionId;
	readonly destination: Destination;
	readonly principal: string | null;
	readonly speakers: readonly Speaker[];
	/** Counted rows of the session, and its cap. */
	readonly messages: number;
	readonly cap: number;
	readonly context: string;
	/** The position of this turn's next message. */
	readonly nextIndex: number;
}

export interface BegunTurn extends OpenTurn {
	readonly kind: "begun";
	/** The job it runs. */
	readonly job: Job | null;
	readonly appended: readonly Message[];
	/** A boundary whose notice the user has not received yet. */
	readonly boundary: BoundaryFacts | null;
}

export type BeginTurnResult =
	| BegunTurn
	/** Another turn runs or waits to be resumed. Elsewhere: another node runs it, and picks up waiting messages when it ends. */
	| { readonly kind: "busy"; readonly turn: string; readonly elsewhere: boolean }
	/** No turn starts in a suspended session without a person's message. */
	| { readonly kind: "suspended" }
	/** A session would open, and `context` was left out: nothing has begun. */
	| { readonly kind: "opens" }
	/** All named items are already taken. */
	| { readonly kind: "nothing" };

export function* beginTurn(context: Context, args: BeginTurnArgs): Op<BeginTurnResult> {
	const conversation = foundConversation(
		yield* get(conversationToBegin, args.conversation),
		args.conversation,
	);
	const running = conversation.is_busy ? yield* get(openTurn, args.conversation) : undefined;
	if (running) {
		const mine = running.state !== "running" || running.epoch === context.epoch;
		return { kind: "busy", turn: running.id, elsewhere: !mine && (yield* isAlive(running.epoch)) };
	}
	const items: InboxRow[] = [];
	for (const id of args.inbox) {
		const row = yield* get(inboxWaiting, id, args.conversation);
		if (row) items.push(row);
	}
	const first = items.find((item) => item.kind === "person");
	if (items.length === 0) return { kind: "nothing" };

	const found = yield* sessionFor(context, conversation, args, first?.accepted_at ?? null);
	if (found === "suspended" || found === "opens") return { kind: found };
	const last = items.at(-1) as InboxRow;
	const destination = destinationFor(last);
	const speakers = distinctSpeakers(items.flatMap(speakersOfItem));
	const origin = { principal: last.principal, speakers, destination };
	const turn = yield* (first ? insertTurnRow : startTurn)(
		context,
		conversation,
		found,
		origin,
		args.deadlineAt,
	);
	if (conversation.has_dead_sends) yield* tellDeadSends(context, conversation, found);
	if (first && conversation.has_sends) yield* catchUpSends(context, conversation, found, destination);
	const { rows: appended, messages } = yield* appendItems(context, {
		conversation,
		session: found,
		turn: turn.id,
		items,
		earlier: {
			observed: conversation.has_observed ? yield* observedBefore(conversation.id) : [],
			amended: conversation.has_amendments ? yield* takeAmendments(conversation.id) : [],
		},
		touched: first
			? { ...touched(found, conversation, first.accepted_at, args.policy), token: turn.token }
			: null,
	});
	if (first && conversation.failing_count > 0) yield* run(resetFailing, conversation.id);
	const session = { ...found, messages };
	return {
		kind: "begun",
		turn: turn.id,
		token: turn.token,
		session: session.id,
		destination,
		principal: last.principal,
		speakers,
		messages: session.messages,
		cap: session.cap,
		context: unseal<string>(session.context_body, session.body_key),
		...promptFacts(session),
		nextIndex: appended.length,
		job: items.some(({ kind }) => kind === "schedule") ? yield* jobOf(turn.id) : null,
		appended,
		boundary: yield* unannouncedBoundary(context, session, args),
	};
}

/** The session a turn runs in: the live one, or a new one if this message meets a boundary. */
function* sessionFor(
	context: Context,
	conversation: ConversationRow,
	args: BeginTurnArgs,
	arrivedAt: number | null,
): Op<SessionRow | "suspended" | "opens"> {
	const found = yield* findLast(conversation.id);
	const material = args.material ?? NO_MATERIAL;
	const opening = args.context === undefined ? null : { ...args, context: args.context };
	if (!found)
		return opening
			? yield* open(context, conversation, opening, { openedBy: "first", previous: null })
			: "opens";
	if (found.ended_at !== null) {
		if (!opening) return "opens";
		return (yield* succeed(
			context,
			conversation,
			found,
			found.end_reason as NonNullable<SessionRow["end_reason"]>,
			opening,
			material,
			arrivedAt ?? context.now,
			false,
		)).session;
	}
	const last = yield* underPolicy(found, args.policy);
	// Internal events go to the live session: only a person's message can end it.
	if (arrivedAt === null) return last.suspended_at === null ? last : "suspended";
	const decideIf = (activeProcess: boolean) =>
		decide(last, args.policy, {
			now: arrivedAt,
			activeProcess,
			at: "arrival",
			freshness: args.autoContinueFreshness,
		});
	// A hold only prevents a session from ending.
	if (decideIf(false).kind === "continue") return last;
	const decision = decideIf(yield* isHeld(conversation.id, args.held ?? false, arrivedAt, args.policy));
	if (decision.kind === "continue") return last;
	if (!opening) return "opens";
	yield* end(context, last, decision.reason);
	return (yield* succeed(context, conversation, last, decision.reason, opening, material, arrivedAt, false))
		.session;
}

/** The boundary before this session, if its user has not received the notice yet. */
export function* unannouncedBoundary(
	context: Context,
	session: SessionRow,
	args: Pick<BeginTurnArgs, "policy" | "material">,
): Op<BoundaryFacts | null> {
	if (!session.notice_pending) return null;
	const previous = yield* previousOf(session);
	if (!previous?.end_reason) return null;
	const at = previous.end_reason === "idle" ? session.started_at : context.now;
	return yield* boundaryFacts(previous, previous.end_reason, args.policy, args.material ?? NO_MATERIAL, at);
}

/** Who is answered, whom the turn speaks for, and where the reply goes. */
export interface TurnOrigin {
	readonly principal: string | null;
	readonly speakers: readonly Speaker[];
	readonly destination: Destination;
}

export function* startTurn(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
	origin: TurnOrigin,
	deadlineAt: number,
	purpose: TurnPurpose = "answer",
): Op<{ id: string; token: number }> {
	const turn = yield* insertTurnRow(context, conversation, session, origin, deadlineAt, purpose);
	yield* run(setToken, turn.token, conversation.id);
	return turn;
}

/** Its token is still to be written into the conversation, in the same operation. */
function* insertTurnRow(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
	{ principal, speakers, destination }: TurnOrigin,
	deadlineAt: number,
	purpose: TurnPurpose = "answer",
): Op<{ id: string; token: number }> {
	// An archived conversation comes back when someone writes in it.
	yield* moveTo(context, conversation, "open");
	const id = context.uuid();
	const token = conversation.token + 1;
	yield* run(
		insertTurn,
		id,
		conversation.id,
		session.key,
		principal,
		JSON.stringify(speakers),
		context.epoch,
		token,
		purpose,
		JSON.stringify(destination),
		context.now,
		deadlineAt,
	);
	yield* emit(context, "turn.begun", { conversation: conversation.id, session: session.id, turn: id });
	return { id, token };
}

/**
 * Who an earlier turn answered, and where. Without such a turn: the conversation's owner, at its last message's origin; also for an imported
 * one, because a file does not choose who is written to.
 */
export function* turnOrigin(conversation: ConversationRow, turn: string | null): Op<TurnOrigin> {
	const row = turn === null ? undefined : yield* get(turnById, turn);
	if (row && row.epoch !== IMPORTED)
		return {
			destination: JSON.parse(row.destination) as Destination,
			principal: row.principal,
			speakers: speakersOf(row),
		};
	const { source_body, body_key } = (yield* get(lastSource, conversation.id)) as {
		source_body: string;
		body_key: number | null;
	};
	const destination = destinationOf(parseSource(unseal(source_body, body_key)));
	return { destination, principal: row ? row.principal : conversation.principal, speakers: [] };
}
const lastSource = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
);
