// Compaction (I6): rows are never changed. A summary is an additional row that names the ranges it covers.
import type { ConversationId, SessionId, Speaker } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination, Message, NewDelivery, Range } from "../../types.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import {
	findConversation,
	findLive,
	findSession,
	promptFacts,
	type SessionRow,
	targetOf,
} from "../sessions/sessions.ts";
import { stopOpenTurn } from "../turns/ends.ts";
import { heldTurn } from "../turns/row.ts";
import { type OpenTurn, startTurn } from "../turns/turns.ts";
import { append } from "./append.ts";
import { chainOf } from "./chain.ts";
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from "./rows.ts";

const hiddenIn = sql<{ id: number }>(
	`SELECT m.id FROM messages m WHERE m.session = ? AND m.seq BETWEEN ? AND ? AND EXISTS (
		SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL AND m.seq BETWEEN h.from_seq AND h.to_seq)
	LIMIT 1`,
);
const summaryOf = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.session = ? AND m.turn = ? AND m.kind = 'summary' ORDER BY m.seq DESC LIMIT 1`,
);
const setNext = sql("UPDATE sessions SET compact_after = ? WHERE key = ?");

export interface CoverArgs {
	readonly session: SessionId;
	readonly ranges: readonly Range[];
	readonly summary: string;
	/** Given if the compaction is part of a running turn. */
	readonly turn?: { readonly id: string; readonly token: number };
	/** The next one is not tried below this many tokens. */
	readonly compactAfter?: number;
}

/**
 * Adds a summary for the ranges it names. Covered rows stay readable and searchable. Repeated within a turn, it returns the existing row.
 */
export function* cover(context: Context, args: CoverArgs): Op<Message> {
	if (args.turn) yield* heldTurn(context, args.turn.id, args.turn.token);
	if (args.ranges.length === 0)
		throw new KeryxError("argument.invalid", "ranges must name at least one range", { field: "ranges" });
	const session = yield* findSession(args.session);
	if (session.ended_at !== null)
		throw new KeryxError("session.ended", `session ${session.id} has ended`, { field: "session" });
	const chain = yield* chainOf(session);
	for (const range of args.ranges) {
		const segment = chain.find((one) => one.sessionId === range.session);
		if (!segment || range.fromSeq < 1 || range.toSeq < range.fromSeq || range.toSeq > segment.upTo)
			throw new KeryxError("argument.invalid", "ranges must lie within the session's transcript", {
				field: "ranges",
			});
		if (yield* get(hiddenIn, segment.session, range.fromSeq, range.toSeq))
			throw new KeryxError("transcript.changed", "a row in the range has been hidden in the meantime", {
				field: "ranges",
			});
	}
	const conversation = yield* findConversation(session.conversation);
	const before = args.turn && (yield* lastSummary(conversation.id, session, args.turn.id));
	if (before && isSame(before, args)) return before;
	const [row] = yield* append(context, targetOf(conversation, session, args.turn?.id ?? null), [
		{ role: "meta", kind: "summary", content: args.summary, covers: args.ranges },
	]);
	if (args.compactAfter !== undefined) yield* run(setNext, args.compactAfter, session.key);
	yield* emit(
		context,
		"transcript.covered",
		{ conversation: conversation.id, session: session.id, subject: (row as Message).id },
		{ ranges: args.ranges.length },
	);
	return row as Message;
}

function* lastSummary(conversation: string, session: SessionRow, turn: string): Op<Message | undefined> {
	const row = yield* get(summaryOf, session.key, turn);
	return row && (yield* toMessage(row, conversation, session.id, false));
}

function isSame({ content, covers }: Message, { summary, ranges }: CoverArgs): boolean {
	const words = (of: readonly Range[] = []) =>
		JSON.stringify(of.map(({ session, fromSeq, toSeq }) => [session, fromSeq, toSeq]));
	return content === summary && words(covers) === words(ranges);
}

export interface PutOffArgs {
	readonly turn: string;
	readonly token: number;
	readonly compactAfter: number;
	/** The notice for the user: at most once, by id. */
	readonly deliveries: readonly NewDelivery[];
}

/** After a useless compaction, the next is not tried before the prompt has this many tokens. */
export function* putOffCompaction(context: Context, args: PutOffArgs): Op<void> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	yield* run(setNext, args.compactAfter, turn.session);
	yield* emit(
		context,
		"transcript.not_covered",
		{ conversation: turn.conversation, turn: turn.id },
		{ compactAfter: args.compactAfter },
	);
	yield* addDeliveries(context, turn.conversation, turn.id, args.deliveries);
}

export interface CompressArgs {
	readonly conversation: ConversationId;
	/** The requester (default: the operator), and where the answer goes. */
	readonly by?: Speaker;
	readonly destination: Destination;
	readonly deadlineAt: number;
}

export type Compressing =
	| { readonly kind: "nothing"; readonly stopped: string | null }
	| (OpenTurn & {
			readonly kind: "begun";
			readonly purpose: "compaction";
			readonly stopped: string | null;
	  });

/** For `/compress`: ends the running turn and starts one that answers no message, in the live session. */
export function* compress(context: Context, args: CompressArgs): Op<Compressing> {
	const { destination, by } = args;
	const speakers = by ? [by] : [];
	const stopped = yield* stopOpenTurn(context, args.conversation);
	const live = yield* findLive(args.conversation);
	if (!live || live.suspended_at !== null) return { kind: "nothing", stopped };
	const conversation = yield* findConversation(args.conversation);
	const principal = by ? by.principal : conversation.principal;
	const turn = yield* startTurn(
		context,
		conversation,
		live,
		{ principal, speakers, destination },
		args.deadlineAt,
		"compaction",
	);
	return {
		kind: "begun",
		purpose: "compaction",
		turn: turn.id,
		token: turn.token,
		session: live.id,
		destination,
		principal,
		speakers,
		messages: live.messages,
		cap: live.cap,
		context: unseal<string>(live.context_body, live.body_key),
		...promptFacts(live),
		nextIndex: 0,
		stopped,
	};
}
