// Unprompted messages: a send commits its deliveries and the row in its target's transcript in one transaction, once by its id. A chat
// without a conversation gets the row when someone first writes there, so that a reply always finds its context; so does a person's
// conversation in a group, and a session that a reply opens.
import type { ConversationId, SentFrom, Target } from "../../../domain/index.ts";
import { inlineUntrusted, personId, targetText } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	Content,
	Delivery,
	Destination,
	NewDelivery,
	NewMessage,
	OperatorScope,
	TurnState,
} from "../../types.ts";
import { reachOf } from "../chats/known.ts";
import { emit } from "../events.ts";
import { NO_MATERIAL, succeed } from "../sessions/boundaries.ts";
import { moveTo } from "../sessions/filing.ts";
import {
	type ConversationRow,
	findConversation,
	findLast,
	type Opening,
	open,
	type SessionRow,
	targetOf,
} from "../sessions/sessions.ts";
import { append } from "../transcript/append.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { chainOf } from "../transcript/chain.ts";
import { textOf } from "../transcript/content.ts";
import { MESSAGE_COLUMNS, type MessageRow, toNewMessage } from "../transcript/rows.ts";
import { addDeliveries } from "./deliveries.ts";
import { noticeLane } from "./destination.ts";
import { laneOf } from "./lanes.ts";
import { DELIVERY_COLUMNS, type DeliveryRow, toDelivery } from "./row.ts";
import { partId, sendOfPart } from "./settling.ts";

export interface SendArgs {
	/** Chosen by the sender: repeating it writes nothing; for another message it is refused. At most 200 characters. */
	readonly id: string;
	readonly target: Target;
	/** For the audit: `agent:<profile>`, a token, the operator. */
	readonly by: string;
	/** The turn it is sent for. */
	readonly turn?: string;
	/** The turn sends it itself: refused (turn.stale) if it is no longer running (I5). */
	readonly whileRunning?: boolean;
	readonly to:
		| {
				readonly kind: "chat";
				readonly destination: Destination;
				/** The conversation a reply reaches; null: none yet. Its opening is used if it has no live session. */
				readonly conversation: { readonly id: ConversationId; readonly opening: Opening } | null;
				readonly content: Content;
				/** Stored before; only if there is a conversation. */
				readonly blobs?: readonly string[];
				readonly from: SentFrom;
				/** Rendered for the destination; their ids start with `send:` and the send's id. */
				readonly deliveries: readonly NewDelivery[];
		  }
		/** An output file, by its name. */
		| { readonly kind: "file"; readonly file: string };
}

/** A send as it was committed. */
export interface Send {
	readonly id: string;
	readonly at: number;
	readonly target: Target;
	readonly by: string;
	readonly turn: string | null;
	/** The conversation with its row. */
	readonly conversation: ConversationId | null;
	readonly message: number | null;
	readonly file: string | null;
	/** Null for a file, and if its conversation is gone. */
	readonly content: Content | null;
	/** The state of each part; none for a file. */
	readonly deliveries: readonly Delivery[];
}

interface SendRow {
	readonly n: number;
	readonly id: string;
	readonly at: number;
	readonly target: string;
	readonly lane: string | null;
	readonly conversation: ConversationId | null;
	readonly session: number | null;
	readonly message: number | null;
	readonly turn: string | null;
	readonly sent_by: string;
	readonly parts: number;
	readonly file: string | null;
	readonly body: string | null;
	readonly body_key: number | null;
}

/** Kept until a row contains them. */
interface SendBody {
	readonly content: Content;
	readonly from: SentFrom;
}

const COLUMNS =
	"n, id, at, target, lane, conversation, session, message, turn, sent_by, parts, file, body, body_key";
const byId = sql<SendRow>(`SELECT ${COLUMNS} FROM sends WHERE id = ?`);
const ofTurn = sql<SendRow>(`SELECT ${COLUMNS} FROM sends WHERE turn = ? ORDER BY n`);
const insert = sql(
	`INSERT INTO sends (id, at, target, lane, conversation, session, message, turn, sent_by, parts, file, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const deliveryById = sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`);

/** Writes nothing if that id exists, and returns that send. Throws send.conflict for another message. */
export function* send(context: Context, args: SendArgs): Op<Send & { readonly repeated: boolean }> {
	const before = yield* get(byId, args.id);
	if (before) {
		yield* assertSame(before, args);
		return { ...(yield* toSend(before)), repeated: true };
	}
	const { id, target, by, turn = null, to } = args;
	if (args.whileRunning) yield* assertRuns(context, turn ?? "");
	const facts = [id, context.now, JSON.stringify(target)] as const;
	if (to.kind === "file") {
		yield* run(insert, ...facts, null, null, null, null, turn, by, 0, to.file, null);
	} else {
		// A chat with a new id is written to, and heard from, under that one.
		const { destination } = yield* reachOf(to.destination);
		const row = to.conversation ? yield* addRow(context, to.conversation, to) : null;
		const conversation = row?.conversation ?? null;
		const body: SendBody = { content: to.content, from: to.from };
		yield* run(
			insert,
			...facts,
			laneOf(destination),
			conversation,
			row?.session ?? null,
			row?.message ?? null,
			turn,
			by,
			to.deliveries.length,
			null,
			row ? null : seal(body),
		);
		yield* addDeliveries(context, conversation ?? noticeLane(destination), null, to.deliveries);
	}
	const sent = yield* toSend((yield* get(byId, id)) as SendRow);
	yield* emit(
		context,
		"message.sent",
		{ conversation: sent.conversation, turn, subject: id },
		{ by, to: target.kind === "chat" ? target.platform : target.kind },
	);
	return { ...sent, repeated: false };
}

function* assertSame(before: SendRow, { id, target, to }: SendArgs): Op<void> {
	const said = to.kind === "chat" ? yield* saidBy(before) : null;
	const isSame =
		targetText(JSON.parse(before.target) as Target) === targetText(target) &&
		(before.file !== null) === (to.kind === "file") &&
		(said === null || to.kind === "file" || wordsAndFiles(said.content) === wordsAndFiles(to.content));
	if (isSame) return;
	throw new KeryxError("send.conflict", `another message was sent under the id ${id}`, { field: "id" });
}

function wordsAndFiles(content: Content): string {
	const files =
		typeof content === "string" ? [] : content.flatMap((part) => ("blob" in part ? part.blob : []));
	return JSON.stringify([textOf(content), files]);
}

function* assertRuns(context: Context, turn: string): Op<void> {
	const row = yield* get(turnState, turn);
	if (row?.state === "running" && row.epoch === context.epoch) return;
	throw new KeryxError("turn.stale", `turn ${turn} is no longer running, so nothing was sent`, {
		field: "turn",
	});
}
const turnState = sql<{ state: TurnState; epoch: number }>("SELECT state, epoch FROM turns WHERE id = ?");

function* addRow(
	context: Context,
	{ id, opening }: { readonly id: ConversationId; readonly opening: Opening },
	{ content, blobs = [], from }: Extract<SendArgs["to"], { kind: "chat" }>,
): Op<{ conversation: ConversationId; session: number; message: number }> {
	const conversation = yield* findConversation(id);
	if (conversation.state === "deleted")
		throw new KeryxError("store.not_found", `no conversation ${id}`, { field: "conversation" });
	yield* moveTo(context, conversation, "open");
	if (blobs.length > 0) yield* adoptBlobs(blobs, id);
	const session = yield* liveSession(context, conversation, opening);
	const [row] = yield* append(context, targetOf(conversation, session, null), [sentRow(content, from)]);
	return { conversation: id, session: session.key, message: (row as { id: number }).id };
}

/** As for any internal event: a live session continues, whatever its age, because only a person's message ends one. */
function* liveSession(context: Context, conversation: ConversationRow, opening: Opening): Op<SessionRow> {
	const last = yield* findLast(conversation.id);
	if (!last) return yield* open(context, conversation, opening, { openedBy: "first", previous: null });
	if (last.ended_at === null) return last;
	const reason = last.end_reason as NonNullable<SessionRow["end_reason"]>;
	return (yield* succeed(context, conversation, last, reason, opening, NO_MATERIAL, context.now, false))
		.session;
}

function sentRow(content: Content, sentFrom: SentFrom): NewMessage {
	return { role: "assistant", kind: "sent", content, sentFrom };
}

/** How many earlier sends to its chat are put before a person's turn that lacks them. */
const MOST_CAUGHT_UP = 5;
const OLDEST_MS = 7 * 86_400_000;

const unseen = sql<SendRow>(
	`SELECT ${COLUMNS} FROM sends WHERE lane = ? AND n > (SELECT sends_seen FROM conversations WHERE id = ?) AND at > ?
	ORDER BY n DESC LIMIT ?`,
);
const setSeen = sql("UPDATE conversations SET sends_seen = ? WHERE id = ?");
const give = sql(
	"UPDATE sends SET conversation = ?, session = ?, message = ?, body = NULL WHERE n = ? AND conversation IS NULL",
);
const rowById = sql<MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.id = ?`);

/**
 * Before a person's turn: what was sent to their chat since the last one and is in no session the turn sees. The first reader's
 * conversation gets its row.
 */
export function* catchUpSends(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
	destination: Destination,
): Op<void> {
	const since = context.now - OLDEST_MS;
	const here = yield* all(unseen, laneOf(destination), conversation.id, since, MOST_CAUGHT_UP);
	const rows = [...(yield* threadedUnder(destination, conversation)), ...here.reverse()];
	const newest = rows.at(-1);
	if (!newest) return;
	yield* run(setSeen, newest.n, conversation.id);
	const visible = new Set((yield* chainOf(session)).map((segment) => segment.session));
	for (const row of rows) {
		const isOwn = row.conversation === conversation.id;
		if (isOwn && row.session !== null && visible.has(row.session)) continue;
		const said = yield* saidBy(row);
		if (!said) continue;
		const { content, from } = said;
		const message: NewMessage = isOwn
			? { role: "meta", kind: "note", content: earlierNote(content, from) }
			: sentRow(row.conversation === null ? content : textOf(content), from);
		const [added] = yield* append(context, targetOf(conversation, session, null), [message]);
		if (row.conversation === null)
			yield* run(give, conversation.id, session.key, (added as { id: number }).id, row.n);
	}
}

const byReceipt = sql<{ id: string; lane: string }>(
	"SELECT id, lane FROM deliveries WHERE receipt = ? AND kind = 'reply' AND turn IS NULL AND id LIKE 'send:%'",
);
const unseenById = sql<SendRow>(
	`SELECT ${COLUMNS} FROM sends WHERE id = ? AND n > (SELECT sends_seen FROM conversations WHERE id = ?)`,
);

/** A thread on a message of Keryx has that message's id: the sent message is its topic. */
function* threadedUnder(destination: Destination, { id }: ConversationRow): Op<SendRow[]> {
	const { threadId, ...chat } = destination;
	if (threadId === undefined) return [];
	for (const delivery of yield* all(byReceipt, threadId)) {
		if (delivery.lane !== laneOf(chat)) continue;
		const row = yield* get(unseenById, sendOfPart(delivery.id) ?? "", id);
		if (row) return [row];
	}
	return [];
}

const unreported = sql<SendRow>(`SELECT ${COLUMNS} FROM sends WHERE untold_to = ? ORDER BY n LIMIT ?`);
const setReported = sql("UPDATE sends SET untold_to = NULL WHERE n = ?");

/** Before a turn: which unprompted messages of this conversation's agent did not arrive. */
export function* tellDeadSends(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
): Op<void> {
	for (const row of yield* all(unreported, conversation.id, MOST_CAUGHT_UP)) {
		yield* run(setReported, row.n);
		const dead = (yield* toSend(row)).deliveries.find(({ state }) => state === "dead");
		if (!dead) continue;
		const said = yield* saidBy(row);
		const content = deadNote(row, said && textOf(said.content), dead.reason);
		yield* append(context, targetOf(conversation, session, null), [{ role: "meta", kind: "note", content }]);
	}
}

const QUOTED = 200;

/** No ids, which a prompt may have to hide. */
function deadNote(row: SendRow, text: string | null, reason: string | null): string {
	const target = JSON.parse(row.target) as Target;
	const where = target.kind === "chat" ? `a chat on ${target.platform}` : "another conversation";
	const begins = text === null ? "" : ` It began: ${inlineUntrusted(text.slice(0, QUOTED))}`;
	const why = reason === null ? "" : ` (${inlineUntrusted(reason)})`;
	return `A message that you sent to ${where} was not delivered${why}.${begins}`;
}

/** Null if its conversation, and with it the text, is gone. */
function* saidBy(row: SendRow): Op<SendBody | null> {
	if (row.body !== null) return unseal<SendBody>(row.body, row.body_key);
	const message = row.message === null ? undefined : yield* get(rowById, row.message);
	if (!message || row.conversation === null) return null;
	const { content, sentFrom } = yield* toNewMessage(message, row.conversation);
	return sentFrom ? { content, from: sentFrom } : null;
}

function earlierNote(content: Content, { where }: SentFrom): string {
	return `Before this session began, you sent this here, from ${inlineUntrusted(where)}:\n${textOf(content)}`;
}

function* toSend(row: SendRow): Op<Send> {
	const deliveries: Delivery[] = [];
	for (let part = 1; part <= row.parts; part++) {
		const delivery = yield* get(deliveryById, partId(row.id, part));
		if (delivery) deliveries.push(toDelivery(delivery));
	}
	const { id, at, turn, conversation, message, file } = row;
	const target = JSON.parse(row.target) as Target;
	const content = (yield* saidBy(row))?.content ?? null;
	return { id, at, target, by: row.sent_by, turn, conversation, message, file, content, deliveries };
}

/** Null if nothing was sent under this id. */
export function* sent(args: { readonly scope: OperatorScope; readonly id: string }): Op<Send | null> {
	const row = yield* get(byId, args.id);
	return row ? yield* toSend(row) : null;
}

/** A turn's unprompted messages, in order. */
export function* sentByTurn(args: {
	readonly scope: OperatorScope;
	readonly turn: string;
}): Op<readonly Send[]> {
	const sends: Send[] = [];
	for (const row of yield* all(ofTurn, args.turn)) sends.push(yield* toSend(row));
	return sends;
}

const atChat = sql<{ id: ConversationId; profile: string; source_body: string; body_key: number | null }>(
	`SELECT c.id, c.profile, c.source_body, c.body_key FROM addresses a JOIN conversations c ON c.id = a.conversation
	WHERE a.platform = ? AND a.account = ? AND a.chat = ? AND a.thread = ? AND a.participant = '' AND c.state <> 'deleted'
	ORDER BY c.last_activity_at DESC, c.id`,
);
const someAtChat = sql<{ conversation: string }>(
	"SELECT conversation FROM addresses WHERE platform = ? AND account = ? AND chat = ? LIMIT 1",
);

/**
 * The conversations of a chat as a whole, newest first: one person's, or shared. Not those of single people in a group. `known`: someone
 * has written there before.
 */
export function* chatConversations(args: {
	readonly scope: OperatorScope;
	readonly destination: Pick<Destination, "platform" | "account" | "chatId" | "threadId">;
}): Op<{ readonly conversations: readonly ConversationId[]; readonly known: boolean }> {
	const { platform, account, chatId, threadId = "" } = args.destination;
	const found: ConversationId[] = [];
	let known = false;
	for (const chat of new Set([chatId, personId(platform, chatId, [])])) {
		for (const { id } of yield* all(atChat, platform, account, chat, threadId)) found.push(id);
		known ||= (yield* get(someAtChat, platform, account, chat)) !== undefined;
	}
	return { conversations: [...new Set(found)], known };
}
