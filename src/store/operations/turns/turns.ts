// Turns (I5): at most one per conversation, by the unique index one_turn; every write of a turn carries its token, and a
// token that is not the turn's present one is refused. Begin and end are single transactions.
import {
	type BoundaryFacts,
	type ConversationId,
	distinctSpeakers,
	mayJoin,
	type PersonRole,
	parseSource,
	type ResetPolicy,
	type SessionId,
	type Source,
	type Speaker,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	Content,
	Destination,
	InboxKind,
	Job,
	Message,
	Quote,
	TurnPurpose,
	TurnState,
} from "../../types.ts";
import { destinationOf } from "../deliveries/destination.ts";
import { catchUpSends, tellDeadSends } from "../deliveries/sends.ts";
import { emit } from "../events.ts";
import { takeAmendments } from "../inbox/amendments.ts";
import { OBSERVED_KEPT } from "../inbox/observed.ts";
import { isAlive } from "../nodes.ts";
import { jobOf } from "../schedules/read.ts";
import { moveTo } from "../sessions/filing.ts";
import {
	type BoundaryMaterial,
	boundaryFacts,
	type ConversationRow,
	decide,
	end,
	findConversation,
	findLast,
	isHeld,
	NO_MATERIAL,
	type Opening,
	open,
	type PromptFacts,
	previousOf,
	promptFacts,
	type SessionRow,
	sessionOfKey,
	succeed,
	targetOf,
	touch,
	underPolicy,
} from "../sessions/sessions.ts";
import { append, type IndexedMessage, isAppended } from "../transcript/append.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from "../transcript/rows.ts";

export interface TurnRow {
	readonly id: string;
	readonly conversation: ConversationId;
	readonly session: number;
	readonly principal: string | null;
	readonly speakers: string;
	readonly epoch: number;
	readonly token: number;
	readonly state: TurnState;
	readonly purpose: TurnPurpose;
	readonly detail: string | null;
	readonly attempts: number;
	readonly planned: number;
	readonly destination: string;
	readonly started_at: number;
	readonly interrupted_at: number | null;
	readonly ended_at: number | null;
}

export const TURN_COLUMNS = `id, conversation, session, principal, speakers, epoch, token, state, purpose, detail, attempts, planned, destination,
	started_at, interrupted_at, ended_at`;

const turnById = sql<TurnRow>(`SELECT ${TURN_COLUMNS} FROM turns WHERE id = ?`);
const openTurn = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted')`,
);
const insertTurn = sql(
	`INSERT INTO turns (id, conversation, session, principal, speakers, epoch, token, state, purpose, destination, started_at, due_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)`,
);
const setToken = sql("UPDATE conversations SET token = ? WHERE id = ?");
const inboxWaiting = sql<InboxRow>(
	`SELECT id, kind, principal, accepted_at, body, body_key FROM inbox WHERE id = ? AND conversation = ? AND due_at IS NOT NULL AND disposition IS NULL`,
);
const takeInbox = sql("UPDATE inbox SET turn = ?, message = ?, body = NULL, due_at = NULL WHERE id = ?");
const unseen = sql<InboxRow>(
	`SELECT id, kind, principal, accepted_at, body, body_key FROM inbox
	WHERE conversation = ? AND disposition = 'observed' AND body IS NOT NULL ORDER BY id DESC`,
);
const showUnseen = sql("UPDATE inbox SET message = ?, body = NULL WHERE id = ?");
const joinedBefore = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM inbox i JOIN messages m ON m.id = i.message
	WHERE i.id = ? AND i.turn = ? AND m.turn_index >= ?`,
);
const resetFailing = sql(
	"UPDATE conversations SET failing_call = NULL, failing_count = 0 WHERE id = ? AND failing_count > 0",
);
const countFailing = sql(
	`UPDATE conversations SET failing_count = CASE WHEN failing_call = ? THEN failing_count + 1 ELSE 1 END, failing_call = ?
	WHERE id = ?`,
);
const failingCount = sql<{ failing_count: number }>("SELECT failing_count FROM conversations WHERE id = ?");
const nextIndexOf = sql<{ n: number | null }>("SELECT max(turn_index) + 1 AS n FROM messages WHERE turn = ?");
const insertCall = sql(
	"INSERT INTO calls (turn, call, tool, repeatable, started_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (turn, call) DO NOTHING",
);

interface InboxRow {
	readonly id: number;
	readonly kind: InboxKind;
	readonly principal: string | null;
	readonly accepted_at: number;
	readonly body: string;
	readonly body_key: number | null;
}

export interface BeginTurnArgs extends Opening {
	readonly conversation: ConversationId;
	/** Accepted items, in order. Those that a turn has already taken are passed over. */
	readonly inbox: readonly number[];
	readonly autoContinueFreshness: number;
	/** Whether a process or a confirmation outside the inbox holds the session open. */
	readonly held?: boolean;
	readonly material?: BoundaryMaterial;
	/** After this the turn is overdue. */
	readonly deadlineAt: number;
}

/** A turn that has begun or goes on: what running it needs, however it came about. */
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
	/** The position that the next message of this turn takes. */
	readonly nextIndex: number;
}

export interface BegunTurn extends OpenTurn {
	readonly kind: "begun";
	/** The job that it is a run of. */
	readonly job: Job | null;
	readonly appended: readonly Message[];
	/** A boundary that the user has not been told of yet. */
	readonly boundary: BoundaryFacts | null;
}

export type BeginTurnResult =
	| BegunTurn
	/** Another turn runs or waits to be resumed. Elsewhere: another node runs it, which takes up what waits when it ends. */
	| { readonly kind: "busy"; readonly turn: string; readonly elsewhere: boolean }
	/** No turn begins in a suspended session without a person's message. */
	| { readonly kind: "suspended" }
	/** Every item named has been taken already. */
	| { readonly kind: "nothing" };

export function* beginTurn(context: Context, args: BeginTurnArgs): Op<BeginTurnResult> {
	const conversation = yield* findConversation(args.conversation);
	const running = yield* get(openTurn, args.conversation);
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
	if (found === "suspended") return { kind: "suspended" };
	const last = items.at(-1) as InboxRow;
	const destination = destinationFor(last);
	const speakers = distinctSpeakers(items.flatMap(speakersOfItem));
	const turn = yield* startTurn(
		context,
		conversation,
		found,
		{ principal: last.principal, speakers, destination },
		args.deadlineAt,
	);
	yield* tellDeadSends(context, conversation, found);
	if (first) yield* catchUpSends(context, conversation, found, destination);
	const appended = yield* appendItems(context, conversation, found, turn.id, items);
	if (first) {
		yield* touch(found, first.accepted_at, args.policy);
		yield* run(resetFailing, conversation.id);
	}
	const session = yield* sessionOfKey(found.key);
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
		boundary: yield* untold(context, session, args),
	};
}

/** The live session a turn runs in: the one there is, or a new one where this message meets a boundary. */
function* sessionFor(
	context: Context,
	conversation: ConversationRow,
	args: BeginTurnArgs,
	arrivedAt: number | null,
): Op<SessionRow | "suspended"> {
	const found = yield* findLast(conversation.id);
	const material = args.material ?? NO_MATERIAL;
	if (!found) return yield* open(context, conversation, args, { openedBy: "first", previous: null });
	if (found.ended_at !== null)
		return (yield* succeed(
			context,
			conversation,
			found,
			found.end_reason as NonNullable<SessionRow["end_reason"]>,
			args,
			material,
			arrivedAt ?? context.now,
			false,
		)).session;
	const last = yield* underPolicy(found, args.policy);
	// Internal events go to the live session: only a person's message can end it.
	if (arrivedAt === null) return last.suspended_at === null ? last : "suspended";
	const decision = decide(last, args.policy, {
		now: arrivedAt,
		activeProcess: yield* isHeld(conversation.id, args.held ?? false, arrivedAt, args.policy),
		at: "arrival",
		freshness: args.autoContinueFreshness,
	});
	if (decision.kind === "continue") return last;
	yield* end(context, last, decision.reason);
	return (yield* succeed(context, conversation, last, decision.reason, args, material, arrivedAt, false))
		.session;
}

/** The boundary before this session, while its user has not been told. */
export function* untold(
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

/** Who is answered, whom the turn speaks for, and where its reply goes. */
export interface TurnOrigin {
	readonly principal: string | null;
	readonly speakers: readonly Speaker[];
	readonly destination: Destination;
}

export function* startTurn(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
	{ principal, speakers, destination }: TurnOrigin,
	deadlineAt: number,
	purpose: TurnPurpose = "answer",
): Op<{ id: string; token: number }> {
	// Whatever is said in a conversation that was put away is seen: it comes back.
	yield* moveTo(context, conversation, "open");
	const id = context.uuid();
	const token = conversation.token + 1;
	yield* run(setToken, token, conversation.id);
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

/** The rows of a turn's items: what was observed and what was changed before, then each item as its own row; bodies leave the inbox. */
function* appendItems(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
	turn: string,
	items: readonly InboxRow[],
): Op<Message[]> {
	const seen = yield* all(unseen, conversation.id);
	const shown = seen.slice(0, OBSERVED_KEPT).reverse();
	const amended = yield* takeAmendments(conversation.id);
	const messages: IndexedMessage[] = [
		...shown.map((item) => messageOf(item, true)),
		...amended,
		...items.map((item) => messageOf(item, false)),
	];
	const rows = yield* append(
		context,
		targetOf(conversation, session, turn),
		messages.map((message, index) => ({ ...message, index })),
	);
	for (const [index, item] of shown.entries()) yield* run(showUnseen, (rows[index] as Message).id, item.id);
	for (const item of seen.slice(OBSERVED_KEPT)) yield* run(showUnseen, null, item.id);
	for (const [index, item] of items.entries())
		yield* run(takeInbox, turn, (rows[shown.length + amended.length + index] as Message).id, item.id);
	return rows;
}

function messageOf(item: InboxRow, observed: boolean): IndexedMessage {
	const { source, content, quoted, confirmation } = bodyOf(item);
	const author =
		item.principal === null
			? undefined
			: { principal: item.principal, ...(source.userName && { name: source.userName }) };
	if (confirmation !== undefined)
		return { role: "meta", kind: "note", content, confirmation: { id: confirmation, as: "outcome" } };
	if (item.kind !== "person") return { role: "meta", kind: "note", content };
	return {
		role: "user",
		content,
		...(quoted && { quoted }),
		...(author && { author }),
		...(observed && { observed }),
		inbound: item.id,
	};
}

interface ItemBody {
	readonly source: Source;
	readonly content: Content;
	readonly quoted?: Quote;
	/** Of an internal event that answers an earlier turn: where that one's reply went. */
	readonly destination?: Destination | null;
	/** The confirmation that it is about. */
	readonly confirmation?: string;
	/** What its writer was let in as. */
	readonly role?: PersonRole;
	readonly platformRole?: string;
	/** Of an internal event: whom the turn that caused it spoke for. */
	readonly speakers?: readonly Speaker[];
}

/** Whom a turn over this item speaks for. An internal event carries the rights of those who caused it. */
function speakersOfItem(item: InboxRow): readonly Speaker[] {
	const { speakers, source, role = "guest", platformRole } = bodyOf(item);
	if (item.kind !== "person") return speakers ?? [];
	const { principal } = item;
	return [
		{ principal, role, platform: source.platform, ...(platformRole !== undefined && { platformRole }) },
	];
}

export function speakersOf({ speakers }: Pick<TurnRow, "speakers">): readonly Speaker[] {
	return JSON.parse(speakers) as Speaker[];
}

function bodyOf(item: InboxRow): ItemBody {
	const body = unseal<ItemBody & { source: unknown }>(item.body, item.body_key);
	return { ...body, source: parseSource(body.source) };
}

function destinationFor(item: InboxRow): Destination {
	const { destination, source } = bodyOf(item);
	return destination ?? destinationOf(source);
}

/** Who an earlier turn answered, and where; without one, the conversation's owner, where its last message came from. */
export function* turnOrigin(conversation: ConversationRow, turn: string | null): Op<TurnOrigin> {
	const row = turn === null ? undefined : yield* get(turnById, turn);
	if (row)
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
	return { destination, principal: conversation.principal, speakers: [] };
}
const lastSource = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
);

/** The turn that a token holds. A token that is not its present one, or a turn of an earlier owner, is refused. */
export function* heldTurn(context: Context, turn: string, token: number): Op<TurnRow> {
	return assertHeld(context, yield* get(turnById, turn), turn, token);
}

/** The same for a row that the operation has read already. */
export function assertHeld(context: Context, row: TurnRow | undefined, turn: string, token: number): TurnRow {
	if (!row) throw new KeryxError("store.not_found", `no turn ${turn}`, { field: "turn" });
	if (row.state !== "running" || row.token !== token || row.epoch !== context.epoch)
		throw new KeryxError("turn.stale", `turn ${turn} is ${row.state}; token ${token} does not hold it`, {
			field: "token",
		});
	return row;
}

export interface AppendArgs {
	readonly turn: string;
	readonly token: number;
	readonly messages: readonly IndexedMessage[];
	/** Blobs put beforehand that the messages refer to. */
	readonly blobs?: readonly string[];
	/** For tool results, the digest of each call (name and arguments), so that the same failing call is counted. */
	readonly outcomes?: readonly { readonly digest: string; readonly failed: boolean }[];
}

/** Adds finished messages to a running turn. Positions that exist are answered with the rows that exist. */
export function* appendMessages(
	context: Context,
	args: AppendArgs,
): Op<{ rows: readonly Message[]; messages: number; cap: number; failingCount: number }> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const conversation = yield* findConversation(turn.conversation);
	const before = yield* sessionOfKey(turn.session);
	// Counted with its rows, so that what is written again is not counted again.
	const isNew = !(yield* isAppended(turn.id, args.messages));
	if (isNew && args.blobs?.length) yield* adoptBlobs(args.blobs, conversation.id);
	const rows = yield* append(context, targetOf(conversation, before, turn.id), args.messages);
	for (const { digest, failed } of isNew ? (args.outcomes ?? []) : [])
		yield* failed ? run(countFailing, digest, digest, conversation.id) : run(resetFailing, conversation.id);
	const session = yield* sessionOfKey(turn.session);
	const { failing_count } = (yield* get(failingCount, conversation.id)) ?? { failing_count: 0 };
	return { rows, messages: session.messages, cap: session.cap, failingCount: failing_count };
}

export interface JoinArgs {
	readonly turn: string;
	readonly token: number;
	readonly inbox: readonly number[];
	readonly nextIndex: number;
	readonly policy: ResetPolicy;
}

/**
 * Busy mode steer: messages accepted meanwhile become part of the running turn, as far as they give it no other rights (I18). Those
 * that have already are answered again.
 */
export function* joinTurn(
	context: Context,
	args: JoinArgs,
): Op<{ rows: readonly Message[]; joined: readonly number[]; nextIndex: number }> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const conversation = yield* findConversation(turn.conversation);
	const session = yield* sessionOfKey(turn.session);
	const rows: Message[] = [];
	const joined: number[] = [];
	const speakers = speakersOf(turn);
	// A position that exists would be answered with its row, and the message that joins would be lost.
	let index = Math.max(args.nextIndex, (yield* get(nextIndexOf, turn.id))?.n ?? 0);
	for (const id of args.inbox) {
		const item = yield* get(inboxWaiting, id, conversation.id);
		if (!item) {
			const before = yield* get(joinedBefore, id, turn.id, args.nextIndex);
			if (before) rows.push(yield* toMessage(before, conversation.id, session.id, false));
			joined.push(id);
			continue;
		}
		if (item.kind !== "person" || !speakersOfItem(item).every((speaker) => mayJoin(speakers, speaker)))
			continue;
		joined.push(id);
		const message = { ...messageOf(item, false), index: index++ };
		const [row] = yield* append(context, targetOf(conversation, session, turn.id), [message]);
		rows.push(row as Message);
		yield* run(takeInbox, turn.id, (row as Message).id, item.id);
		yield* touch(session, item.accepted_at, args.policy);
		yield* run(resetFailing, conversation.id);
	}
	return { rows, joined, nextIndex: index };
}

/** Committed before a call that may not be repeated: after a crash its outcome is unknown, and it is not made again. */
export function* startCall(
	context: Context,
	args: {
		readonly turn: string;
		readonly token: number;
		readonly call: string;
		readonly tool: string;
		readonly repeatable: boolean;
	},
): Op<void> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const added = yield* run(insertCall, turn.id, args.call, args.tool, args.repeatable ? 1 : 0, context.now);
	if (added === 0) return;
	yield* emit(
		context,
		"call.started",
		{ conversation: turn.conversation, turn: turn.id, subject: args.call },
		{ tool: args.tool },
	);
}
