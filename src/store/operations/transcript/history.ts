// Undo, redo and retry (I6): rows are never changed. They add ranges that hide them.
import { type ConversationId, distinctSpeakers, type Speaker } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { OPERATOR } from "../../operator.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { OperatorScope } from "../../types.ts";
import { cancelOpen, takenBackWith } from "../confirmations/calls.ts";
import { emit } from "../events.ts";
import { indexRow, unindexMessages } from "../search/index-rows.ts";
import {
	type ConversationRow,
	findConversation,
	findLive,
	promptFacts,
	type SessionRow,
	sessionOfKey,
	targetOf,
} from "../sessions/sessions.ts";
import { stopOpenTurn } from "../turns/ends.ts";
import { type OpenTurn, startTurn, turnOrigin } from "../turns/turns.ts";
import { loadLargeText } from "./blobs.ts";
import { chainOf, type Segment, sinceBranch } from "./chain.ts";
import { type MessageBody, textOf } from "./content.ts";

const HIDDEN = `EXISTS (SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL
	AND m.seq BETWEEN h.from_seq AND h.to_seq)`;

const userRows = sql<UserRow>(
	`SELECT m.id, m.seq, m.turn FROM messages m
	WHERE m.session = ? AND m.seq <= ? AND m.role = 'user' AND m.counted = 1 AND NOT ${HIDDEN} ORDER BY m.seq DESC`,
);
const visibleIn = sql<VisibleRow>(
	`SELECT m.id, m.seq, m.counted, m.role, m.kind FROM messages m
	WHERE m.session = ? AND m.seq BETWEEN ? AND ? AND NOT ${HIDDEN} ORDER BY m.seq`,
);
const bodyById = sql<{ body: string; body_key: number | null }>(
	"SELECT body, body_key FROM messages WHERE id = ?",
);
const insertRange = sql(
	`INSERT INTO hidden_ranges (session, from_seq, to_seq, counted, undo, live, live_seq, by_whom, at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const addCount = sql("UPDATE sessions SET messages = messages + ? WHERE key = ?");
const addConversationCount = sql("UPDATE conversations SET message_count = message_count + ? WHERE id = ?");
const lastCounted = sql<{ seq: number | null }>(
	"SELECT max(seq) AS seq FROM messages WHERE session = ? AND counted = 1",
);
const lastUndo = sql<{ undo: string; live_seq: number }>(
	"SELECT undo, live_seq FROM hidden_ranges WHERE live = ? AND by_whom = 'undo' AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
);
const rangesOf = sql<{ session: number; from_seq: number; to_seq: number }>(
	"SELECT session, from_seq, to_seq FROM hidden_ranges WHERE undo = ?",
);
const lift = sql("UPDATE hidden_ranges SET undone_at = ? WHERE undo = ?");

interface UserRow {
	readonly id: number;
	readonly seq: number;
	readonly turn: string | null;
}
interface VisibleRow {
	readonly id: number;
	readonly seq: number;
	readonly counted: number;
	readonly role: string;
	readonly kind: string | null;
}
/** Where a person's turn starts in a chain. */
interface TurnStart {
	readonly segment: number;
	readonly row: UserRow;
}

export interface Undone {
	readonly rows: number;
	/** The number of messages as a person counts them: written by and said to them. */
	readonly messages: number;
	readonly turns: number;
	/** The person's first text, so that a client can put it back into the input box. */
	readonly text: string | null;
	readonly stopped: string | null;
	/** How many open questions of these turns were cancelled. */
	readonly cancelled: number;
}

/**
 * Hides everything from the person's nth last turn on. Less than 1 is 1; too large means all. With `from`, a message id, everything from
 * its turn on; nothing if that can no longer be undone.
 */
export function* undo(
	context: Context,
	args: { readonly conversation: ConversationId; readonly turns: number; readonly from?: number },
): Op<Undone> {
	const conversation = yield* findConversation(args.conversation);
	const stopped = yield* stopOpenTurn(context, conversation.id);
	const live = yield* findLive(conversation.id);
	if (!live) return { ...NOTHING, stopped };
	let chain = sinceBranch(yield* chainOf(live));
	const starts =
		args.from === undefined
			? yield* turnStarts(chain, Math.max(1, Math.trunc(args.turns) || 1))
			: yield* turnsFrom(chain, args.from);
	const target = starts.at(-1);
	if (!target) return { ...NOTHING, stopped };
	const worked = yield* turnsSince(chain, target);
	// What they asked is not to be approved any more. A note of it is hidden with them.
	const open = yield* cancelOpen(context, conversation.id, "undo", worked);
	const cancelled = open.length + (yield* takenBackWith(stopped)).length;
	if (open.length > 0) chain = sinceBranch(yield* chainOf(live));

	const ranges: { readonly segment: Segment; readonly from: number; readonly to: number }[] = [];
	for (const [index, segment] of chain.slice(target.segment).entries())
		ranges.push(...(yield* withoutSent(segment, index === 0 ? target.row.seq : 1)));
	const messages = yield* messagesIn(conversation.id, ranges);
	const rows = yield* hide(context, conversation, live, ranges, "undo");
	const text = yield* textOfRow(conversation.id, target.row.id);
	yield* emit(
		context,
		"transcript.undone",
		{ conversation: conversation.id, session: live.id },
		{ rows, turns: starts.length },
	);
	return { rows, messages, turns: starts.length, text, stopped, cancelled };
}
const NOTHING = { rows: 0, messages: 0, turns: 0, text: null, cancelled: 0 };

/** The ranges of a segment between messages sent there from elsewhere: those answer nothing, and stay. */
function* withoutSent(
	segment: Segment,
	first: number,
): Op<{ readonly segment: Segment; readonly from: number; readonly to: number }[]> {
	const ranges = [];
	let from = first;
	for (const { seq } of yield* all(sentIn, segment.session, first, segment.upTo)) {
		if (seq > from) ranges.push({ segment, from, to: seq - 1 });
		from = seq + 1;
	}
	if (from <= segment.upTo) ranges.push({ segment, from, to: segment.upTo });
	return ranges;
}
const sentIn = sql<{ seq: number }>(
	"SELECT seq FROM messages WHERE session = ? AND seq BETWEEN ? AND ? AND kind = 'sent' ORDER BY seq",
);

/** The same, as decided earlier: null, and nothing is hidden, if the conversation has continued since. */
export function* undoAsDecided(
	context: Context,
	{ row, ...args }: { readonly conversation: ConversationId; readonly turns: number; readonly row: number },
): Op<Undone | null> {
	const target = yield* undoTarget({ scope: OPERATOR, ...args });
	return target?.row === row ? yield* undo(context, args) : null;
}

/** What an undo would start with, and the turns it would hide; null if there is nothing to undo. */
export interface UndoTarget {
	readonly row: number;
	/** Oldest first, including retried answers. */
	readonly worked: readonly string[];
	/** Non-repeatable calls that these turns started. */
	readonly started: readonly { readonly turn: string; readonly call: string; readonly tool: string }[];
}

export function* undoTarget(args: {
	readonly scope: OperatorScope;
	readonly conversation: ConversationId;
	readonly turns: number;
}): Op<UndoTarget | null> {
	const live = yield* findLive((yield* findConversation(args.conversation)).id);
	if (!live) return null;
	const chain = sinceBranch(yield* chainOf(live));
	const target = (yield* turnStarts(chain, Math.max(1, Math.trunc(args.turns) || 1))).at(-1);
	if (!target) return null;
	const worked = yield* turnsSince(chain, target);
	const started: UndoTarget["started"][number][] = [];
	for (const turn of worked) for (const row of yield* all(callsOf, turn)) started.push({ turn, ...row });
	return { row: target.row.id, worked: [...worked], started };
}

/** Oldest first. */
function* turnsSince(chain: readonly Segment[], start: TurnStart): Op<Set<string>> {
	const turns = new Set<string>();
	for (const [index, { session, upTo }] of chain.slice(start.segment).entries())
		for (const { turn } of yield* all(turnsIn, session, index === 0 ? start.row.seq : 1, upTo))
			turns.add(turn);
	return turns;
}
const turnsIn = sql<{ turn: string }>(
	`SELECT turn FROM messages WHERE session = ? AND seq BETWEEN ? AND ? AND turn IS NOT NULL
	GROUP BY turn ORDER BY min(seq)`,
);
const callsOf = sql<{ call: string; tool: string }>(
	"SELECT call, tool FROM calls WHERE turn = ? ORDER BY started_at, call",
);

/** The person's turns back to that of a message; none if it is not among them. */
function* turnsFrom(chain: readonly Segment[], message: number): Op<TurnStart[]> {
	const turn = (yield* get(turnOfRow, message))?.turn ?? null;
	const all = yield* turnStarts(chain, Number.MAX_SAFE_INTEGER);
	const end = all.findIndex(({ row }) => row.id === message || (turn !== null && row.turn === turn));
	return all.slice(0, end + 1);
}
const turnOfRow = sql<{ turn: string | null }>("SELECT turn FROM messages WHERE id = ?");

/** The person's last turns, newest first, as the first visible user row of each. */
function* turnStarts(chain: readonly Segment[], limit: number): Op<TurnStart[]> {
	const starts: TurnStart[] = [];
	for (let segment = chain.length - 1; segment >= 0; segment--) {
		const { session, upTo } = chain[segment] as Segment;
		for (const row of yield* all(userRows, session, upTo)) {
			const last = starts.at(-1);
			const same = last !== undefined && row.turn !== null && last.row.turn === row.turn;
			if (same) starts[starts.length - 1] = { segment, row };
			else if (starts.length === limit) return starts;
			else starts.push({ segment, row });
		}
	}
	return starts;
}

/** Visible rows that a person would call a message: no calls, results or metadata, and no step without text. */
function* messagesIn(
	conversation: ConversationId,
	ranges: readonly {
		readonly segment: Pick<Segment, "session">;
		readonly from: number;
		readonly to: number;
	}[],
): Op<number> {
	let messages = 0;
	for (const { segment, from, to } of ranges)
		for (const { id, role, counted } of yield* all(visibleIn, segment.session, from, to)) {
			if (counted === 0 || (role !== "user" && role !== "assistant")) continue;
			if (role === "user" || (yield* textOfRow(conversation, id)) !== "") messages++;
		}
	return messages;
}

function* hide(
	context: Context,
	conversation: ConversationRow,
	live: SessionRow,
	ranges: readonly { readonly segment: Segment; readonly from: number; readonly to: number }[],
	by: "undo" | "retry",
): Op<number> {
	const undoId = context.uuid();
	const liveSeq = (yield* get(lastCounted, live.key))?.seq ?? 0;
	let rows = 0;
	let counted = 0;
	for (const { segment, from, to } of ranges) {
		const visible = yield* all(visibleIn, segment.session, from, to);
		if (visible.length === 0) continue;
		const own = visible.filter((row) => row.counted === 1).length;
		yield* run(insertRange, segment.session, from, to, own, undoId, live.key, liveSeq, by, context.now);
		yield* unindexMessages(visible.map((row) => row.id));
		rows += visible.length;
		counted += own;
	}
	yield* run(addCount, -counted, live.key);
	yield* run(addConversationCount, -counted, conversation.id);
	return rows;
}

/** Lifts the last undo, as long as nothing was said since. */
export function* redo(
	context: Context,
	args: { readonly conversation: ConversationId },
): Op<Pick<Undone, "rows" | "messages" | "stopped">> {
	const conversation = yield* findConversation(args.conversation);
	const live = yield* findLive(conversation.id);
	const last = live && (yield* get(lastUndo, live.key));
	if (!live || !last || last.live_seq !== ((yield* get(lastCounted, live.key))?.seq ?? 0))
		return { rows: 0, messages: 0, stopped: null };
	const stopped = yield* stopOpenTurn(context, conversation.id);
	yield* run(lift, context.now, last.undo);
	let rows = 0;
	let counted = 0;
	const ranges = yield* all(rangesOf, last.undo);
	for (const range of ranges)
		for (const row of yield* all(visibleIn, range.session, range.from_seq, range.to_seq)) {
			if (conversation.state !== "deleted") yield* indexRow(row.id, targetOf(conversation, live, null));
			counted += row.counted;
			rows++;
		}
	yield* run(addCount, counted, live.key);
	yield* run(addConversationCount, counted, conversation.id);
	yield* emit(context, "transcript.redone", { conversation: conversation.id, session: live.id }, { rows });
	const lifted = ranges.map(({ session, from_seq: from, to_seq: to }) => ({
		segment: { session },
		from,
		to,
	}));
	return { rows, messages: yield* messagesIn(conversation.id, lifted), stopped };
}

export type Retried =
	| { readonly kind: "nothing"; readonly stopped: string | null }
	| (OpenTurn & {
			readonly kind: "begun";
			readonly hidden: number;
			readonly stopped: string | null;
	  });

/** Hides the answer to the person's last turn and starts a new turn over the same messages. Dispositions stay. */
export function* retry(
	context: Context,
	args: {
		readonly conversation: ConversationId;
		/** The requester, whom the turn also speaks for. Default: the operator, who changes nothing. */
		readonly by?: Speaker;
		readonly deadlineAt: number;
	},
): Op<Retried> {
	const conversation = yield* findConversation(args.conversation);
	const stopped = yield* stopOpenTurn(context, conversation.id);
	const live = yield* findLive(conversation.id);
	if (!live || live.suspended_at !== null) return { kind: "nothing", stopped };
	const chain = sinceBranch(yield* chainOf(live));
	const [start] = yield* turnStarts(chain, 1);
	if (!start) return { kind: "nothing", stopped };

	yield* cancelOpen(context, conversation.id, "retry", yield* turnsSince(chain, start));
	const answers = [];
	for (const [index, segment] of chain.slice(start.segment).entries()) {
		const from = index === 0 ? start.row.seq : 1;
		const said = (yield* all(visibleIn, segment.session, from, segment.upTo)).filter(
			// Messages sent from elsewhere answer nothing, and stay.
			(row) => (row.role === "assistant" && row.kind !== "sent") || row.role === "tool",
		);
		answers.push(...said.map(({ seq }) => ({ segment, from: seq, to: seq })));
	}
	const hidden = answers.length > 0 ? yield* hide(context, conversation, live, joined(answers), "retry") : 0;
	const origin = yield* turnOrigin(conversation, start.row.turn);
	const { destination, principal } = origin;
	const speakers = distinctSpeakers([...origin.speakers, ...(args.by ? [args.by] : [])]);
	const turn = yield* startTurn(
		context,
		yield* findConversation(conversation.id),
		live,
		{ principal, speakers, destination },
		args.deadlineAt,
	);
	yield* emit(
		context,
		"transcript.retried",
		{ conversation: conversation.id, session: live.id, turn: turn.id },
		{ hidden },
	);
	const session = yield* sessionOfKey(live.key);
	return {
		kind: "begun",
		turn: turn.id,
		token: turn.token,
		session: session.id,
		destination,
		principal,
		speakers,
		messages: session.messages,
		cap: session.cap,
		context: unseal<string>(session.context_body, session.body_key),
		...promptFacts(session),
		nextIndex: 0,
		hidden,
		stopped,
	};
}

interface HideRange {
	readonly segment: Segment;
	readonly from: number;
	readonly to: number;
}

/** Adjacent rows of one segment become one range. */
function joined(ranges: readonly HideRange[]): HideRange[] {
	const result: HideRange[] = [];
	for (const range of ranges) {
		const last = result.at(-1);
		if (last && last.segment === range.segment && last.to + 1 === range.from)
			result[result.length - 1] = { ...last, to: range.to };
		else result.push(range);
	}
	return result;
}

function* textOfRow(conversation: string, id: number): Op<string> {
	const row = (yield* get(bodyById, id)) as { body: string; body_key: number | null };
	return textOf(yield* loadLargeText(conversation, unseal<MessageBody>(row.body, row.body_key).content));
}
