// The rows of an import: turns, hidden ranges, blobs, messages. Rows are added only to sessions this import created and has not closed;
// existing or complete ones stay unchanged.
import { createHash } from "node:crypto";
import type { ConversationId } from "../../../domain/index.ts";
import { seal } from "../../codec.ts";
import { get, type Op, run, sql } from "../../query.ts";
import type { BlobLine, ChunkLine, HiddenLine, MessageLine, TurnLine } from "../../transfer-format.ts";
import { invalidLine } from "../../transfer-line.ts";
import { indexMessage } from "../search/index-rows.ts";
import { IDS_PER_MS, isCounted } from "../transcript/append.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { type MessageBody, textBlobsOf } from "../transcript/content.ts";
import { hiddenIn, isHidden } from "../transcript/rows.ts";
import { IMPORTED } from "../turns/row.ts";
import {
	conversationOf,
	derivedId,
	type Import,
	type ImportedConversation,
	type ImportedSession,
	isOwnId,
	sessionOf,
	wrote,
} from "./import-lookup.ts";

const turnById = sql<{ conversation: ConversationId; session: number }>(
	"SELECT conversation, session FROM turns WHERE id = ?",
);
const addTurn = sql(
	`INSERT INTO turns (id, conversation, session, principal, epoch, token, state, detail, attempts, destination, started_at,
		interrupted_at, ended_at)
	VALUES (?, ?, ?, ?, ${IMPORTED}, 0, ?, ?, ?, ?, ?, ?, ?)`,
);
const addModelCall = sql(
	`INSERT INTO model_calls (turn, n, principal, profile, provider, model, input_tokens, output_tokens, cached_tokens, cost_micros, currency, status, ended_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn, n) DO NOTHING`,
);

export function* importTurn(work: Import, line: TurnLine, number: number): Op<void> {
	const session = yield* sessionOf(work, line, line.session, number, "session");
	const { id, there } = yield* turnOf(work, line.conversation, session.conversation, line.id);
	if (there || !session.claimed) return;
	yield* run(
		addTurn,
		id,
		session.conversation,
		session.key,
		line.principal,
		line.state,
		line.detail,
		line.attempts,
		JSON.stringify(line.destination),
		line.startedAt,
		line.interruptedAt,
		line.endedAt,
	);
	for (const call of line.modelCalls)
		yield* run(
			addModelCall,
			id,
			call.n,
			call.principal,
			call.profile,
			call.provider,
			call.model,
			call.inputTokens,
			call.outputTokens,
			call.cachedInputTokens ?? 0,
			call.costMicros,
			call.currency,
			call.status,
			call.endedAt,
		);
	wrote(work, session.conversation);
}

/** A turn's id here, and its row if it has one: its own id unless another conversation has it. */
function* turnOf(
	work: Import,
	conversationInFile: string,
	conversation: ConversationId,
	id: string,
): Op<{ id: string; there: { session: number } | null }> {
	const own = isOwnId(id) ? yield* get(turnById, id) : undefined;
	if (own?.conversation === conversation) return { id, there: own };
	if (isOwnId(id) && !own) return { id, there: null };
	const derived = derivedId(work.origin, conversationInFile, id);
	return { id: derived, there: (yield* get(turnById, derived)) ?? null };
}

const rangeThere = sql<{ id: number }>(
	"SELECT id FROM hidden_ranges WHERE undo = ? AND session = ? AND from_seq = ? AND to_seq = ?",
);
const undoOwner = sql<{ conversation: ConversationId }>(
	"SELECT s.conversation FROM hidden_ranges h JOIN sessions s ON s.key = h.session WHERE h.undo = ? LIMIT 1",
);
const addRange = sql(
	`INSERT INTO hidden_ranges (session, from_seq, to_seq, counted, undo, live, live_seq, by_whom, at, undone_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

export function* importHidden(work: Import, line: HiddenLine, number: number): Op<void> {
	const session = yield* sessionOf(work, line, line.session, number, "session");
	const live = yield* sessionOf(work, line, line.live, number, "live");
	if (!session.claimed) return;
	// Ranges of one undo are lifted together, so another conversation's undo must not get a range of this one.
	const owner = isOwnId(line.undo) ? yield* get(undoOwner, line.undo) : null;
	const isFree = owner === undefined || owner?.conversation === session.conversation;
	const undo = isFree ? line.undo : derivedId(work.origin, line.conversation, line.undo);
	if (yield* get(rangeThere, undo, session.key, line.fromSeq, line.toSeq)) return;
	yield* run(
		addRange,
		session.key,
		line.fromSeq,
		line.toSeq,
		line.counted,
		undo,
		live.key,
		line.liveSeq,
		line.by,
		line.at,
		line.undoneAt,
	);
	work.hidden.delete(session.key);
	wrote(work, session.conversation);
}

/** As long as the chunks Keryx makes. */
const CHUNK = 1024 * 1024;
/** An incomplete blob is deleted after this, like one that nobody adopted. */
const UNFINISHED_MS = 3_600_000;

const completeBlob = sql<{ id: string }>(
	"SELECT id FROM blobs WHERE conversation = ? AND digest = ? AND complete = 1",
);
const stagedBlob = sql<{ media_type: string; size: number }>(
	"SELECT media_type, size FROM blobs WHERE id = ? AND complete = 0",
);
const dropChunks = sql("DELETE FROM blob_chunks WHERE blob = ?");
const dropStaged = sql("DELETE FROM blobs WHERE id = ? AND complete = 0");
const stageBlob = sql(
	"INSERT INTO blobs (id, conversation, digest, media_type, size, complete, created_at, due_at) VALUES (?, NULL, ?, ?, ?, 0, ?, ?)",
);
const finishBlob = sql("UPDATE blobs SET conversation = ?, complete = 1, due_at = NULL WHERE id = ?");
const addChunk = sql("INSERT INTO blob_chunks (blob, n, body) VALUES (?, ?, ?)");
const chunks = sql<{ n: number; bytes: number }>(
	"SELECT count(*) AS n, coalesce(sum(length(body)), 0) AS bytes FROM blob_chunks WHERE blob = ?",
);
const chunkAt = sql<{ body: Uint8Array }>("SELECT body FROM blob_chunks WHERE blob = ? AND n = ?");

/** Restarts a blob, whatever an earlier attempt left. It belongs to the conversation once its bytes match the digest. */
export function* importBlob(work: Import, line: BlobLine, number: number): Op<void> {
	const conversation = yield* conversationOf(work, line, number);
	if (yield* get(completeBlob, conversation.id, line.digest)) return;
	const id = blobId(conversation.id, line.digest);
	if (yield* get(stagedBlob, id)) {
		yield* run(dropChunks, id);
		yield* run(dropStaged, id);
	}
	yield* run(
		stageBlob,
		id,
		line.digest,
		line.mediaType,
		line.size,
		line.createdAt,
		work.context.now + UNFINISHED_MS,
	);
	if (line.size === 0) yield* finish(work, conversation.id, line, number);
}

export function* importChunk(work: Import, line: ChunkLine, number: number): Op<void> {
	const conversation = yield* conversationOf(work, line, number);
	if (yield* get(completeBlob, conversation.id, line.digest)) return;
	const id = blobId(conversation.id, line.digest);
	const staged = yield* get(stagedBlob, id);
	const bytes = Buffer.from(line.data, "base64");
	const before = (yield* get(chunks, id)) ?? { n: 0, bytes: 0 };
	if (!staged || line.n !== before.n || bytes.length > CHUNK || bytes.length + before.bytes > staged.size)
		throw invalidLine(number, "n: is not the next chunk of the blob before", { field: "n" });
	yield* run(addChunk, id, line.n, bytes);
	if (bytes.length + before.bytes === staged.size) yield* finish(work, conversation.id, line, number);
}

function* finish(
	work: Import,
	conversation: ConversationId,
	line: { readonly digest: string },
	number: number,
): Op<void> {
	const id = blobId(conversation, line.digest);
	const hash = createHash("sha256");
	for (let n = 0; ; n++) {
		const chunk = yield* get(chunkAt, id, n);
		if (!chunk) break;
		hash.update(chunk.body);
	}
	if (hash.digest("hex") !== line.digest)
		throw invalidLine(number, "digest: is not that of the blob's bytes", { field: "digest" });
	yield* run(finishBlob, conversation, id);
	work.counts.blobs++;
	wrote(work, conversation);
}

function blobId(conversation: ConversationId, digest: string): string {
	return `${conversation}/${digest}`;
}

const lastRow = sql<{ seq: number; origin: string | null }>(
	"SELECT seq, origin FROM messages WHERE session = ? ORDER BY seq DESC LIMIT 1",
);
const messageById = sql<{ id: number }>("SELECT id FROM messages WHERE id = ?");
const lastIdIn = sql<{ id: number | null }>("SELECT max(id) AS id FROM messages WHERE id >= ? AND id < ?");
const positionTaken = sql<{ id: number }>("SELECT id FROM messages WHERE turn = ? AND turn_index = ?");
const originTaken = sql<{ id: number }>("SELECT id FROM messages WHERE origin = ? AND origin_id = ?");
const addMessage = sql(
	`INSERT INTO messages (id, session, seq, role, kind, turn, turn_index, tool_call, tool_name, is_error, counted, author,
		created_at, body, origin, origin_id)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

export function* importMessage(work: Import, line: MessageLine, number: number): Op<void> {
	const conversation = yield* conversationOf(work, line, number);
	const session = yield* sessionOf(work, line, line.session, number, "session");
	const last = yield* lastSeqOf(work, session);
	if (line.seq <= last) {
		work.counts[last === Number.POSITIVE_INFINITY ? "leftOut" : "present"]++;
		return;
	}
	if (!session.claimed) {
		work.counts.leftOut++;
		return;
	}
	if (line.seq !== last + 1)
		throw invalidLine(number, `seq: must be ${last + 1}, the next of its session`, { field: "seq" });
	yield* addRow(work, line, conversation, session, number);
	work.progress.set(session.key, line.seq);
	work.counts.messages++;
	wrote(work, conversation.id);
}

/** A session that became live before the import was complete has its own rows by now: nothing is appended. */
function* lastSeqOf(work: Import, session: ImportedSession): Op<number> {
	let last = work.progress.get(session.key);
	if (last === undefined) {
		const row = yield* get(lastRow, session.key);
		last = session.claimed && row && row.origin === null ? Number.POSITIVE_INFINITY : (row?.seq ?? 0);
		work.progress.set(session.key, last);
	}
	return last;
}

function* addRow(
	work: Import,
	line: MessageLine,
	conversation: ImportedConversation,
	session: ImportedSession,
	number: number,
): Op<void> {
	const body = yield* bodyOf(work, line, conversation, number);
	const turn = yield* turnAt(work, line, session, number);
	const origin = line.origin?.name ?? work.origin;
	const originId = line.origin?.id ?? `${line.conversation}/${line.session}/${line.seq}`;
	if (yield* get(originTaken, origin, originId))
		throw invalidLine(number, "origin: another message came from there", { field: "origin" });
	const id = yield* freeId(work, line);
	const counted = isCounted({ role: line.role, observed: body.observed });
	yield* run(
		addMessage,
		id,
		session.key,
		line.seq,
		line.role,
		line.kind ?? null,
		turn,
		turn === null ? null : (line.turnIndex ?? null),
		line.toolCallId ?? null,
		line.toolName ?? null,
		line.isError ? 1 : 0,
		counted ? 1 : 0,
		line.author ?? null,
		line.createdAt,
		seal(body),
		origin,
		originId,
	);
	if (isHidden(yield* hiddenOf(work, session.key), line.seq)) return;
	if (counted) work.shown.set(conversation.id, (work.shown.get(conversation.id) ?? 0) + 1);
	const content = yield* loadLargeText(conversation.id, body.content);
	yield* indexMessage(id, { ...conversation, conversation: conversation.id }, { role: line.role, content });
}

/** The original body, except that a summary names covered sessions by their ids here. */
function* bodyOf(
	work: Import,
	line: MessageLine,
	conversation: ImportedConversation,
	number: number,
): Op<MessageBody> {
	const body = line.body as unknown as MessageBody;
	for (const digest of textBlobsOf(body))
		if (!(yield* get(completeBlob, conversation.id, digest)))
			throw invalidLine(number, `body.content: names blob ${digest}, which no line before holds`, {
				field: "body.content",
			});
	if (!body.covers) return body;
	const covers = [];
	for (const range of body.covers) {
		const covered = yield* sessionOf(work, line, range.session, number, "body.covers");
		covers.push({ ...range, session: covered.id });
	}
	return { ...body, covers };
}

function* turnAt(
	work: Import,
	line: MessageLine,
	session: ImportedSession,
	number: number,
): Op<string | null> {
	if (line.turn === undefined) return null;
	const { id, there } = yield* turnOf(work, line.conversation, session.conversation, line.turn);
	if (there?.session !== session.key)
		throw invalidLine(number, `turn: ${line.turn} is no turn of its session`, { field: "turn" });
	if (line.turnIndex !== undefined && (yield* get(positionTaken, id, line.turnIndex)))
		throw invalidLine(number, "turnIndex: another message of the turn has it", { field: "turnIndex" });
	return id;
}

function* hiddenOf(work: Import, session: number): Op<ReturnType<typeof work.hidden.get> & {}> {
	const cached = work.hidden.get(session);
	if (cached) return cached;
	const hidden = yield* hiddenIn(session);
	work.hidden.set(session, hidden);
	return hidden;
}

const DAY_MS = 86_400_000;

/** Its own id if free; else the next free one of its time, because time ranges are searched as id ranges. */
function* freeId(work: Import, line: MessageLine): Op<number> {
	const { now } = work.context;
	// An id far ahead of the clock would make all later ones precede it.
	const isSane = line.id < (now + DAY_MS) * IDS_PER_MS;
	if (isSane && !(yield* get(messageById, line.id))) return line.id;
	for (let ms = Math.max(1, Math.min(line.createdAt, now)); ; ms++) {
		const last = (yield* get(lastIdIn, ms * IDS_PER_MS, (ms + 1) * IDS_PER_MS))?.id ?? null;
		if (last === null) return ms * IDS_PER_MS;
		if (last + 1 < (ms + 1) * IDS_PER_MS) return last + 1;
	}
}
