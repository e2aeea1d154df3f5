// The rows of an export: turns, stored messages, blobs in chunks. See export.ts for the rest.
import type { ConversationId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { MessageLine, TurnLine } from "../../transfer-format.ts";
import { toLine } from "../../transfer-line.ts";
import type { Scope } from "../../types.ts";
import { assertSees } from "../people/scope.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { blobsOf, type MessageBody, textBlobsOf } from "../transcript/content.ts";
import { MESSAGE_COLUMNS, type MessageRow } from "../transcript/rows.ts";
import { originUnless, type SessionHead } from "./export.ts";

export interface TurnRow {
	readonly id: string;
	readonly principal: string | null;
	readonly state: string;
	readonly detail: string | null;
	readonly attempts: number;
	readonly destination: string;
	readonly started_at: number;
	readonly interrupted_at: number | null;
	readonly ended_at: number | null;
}

export const TURN_COLUMNS =
	"t.id, t.principal, t.state, t.detail, t.attempts, t.destination, t.started_at, t.interrupted_at, t.ended_at";
const turnsOf = sql<TurnRow>(
	`SELECT ${TURN_COLUMNS} FROM turns t WHERE session = ? AND conversation = ? AND id > ? ORDER BY id LIMIT ?`,
);
export const CALL_COLUMNS = `c.n, c.principal, c.profile, c.provider, c.model, c.input_tokens, c.output_tokens, c.cached_tokens, c.cost_micros,
	c.currency, c.status, c.ended_at`;
const modelCallsOf = sql<ModelCallRow>(`SELECT ${CALL_COLUMNS} FROM model_calls c WHERE turn = ? ORDER BY n`);

export interface ModelCallRow {
	readonly n: number;
	readonly principal: string | null;
	readonly profile: string;
	readonly provider: string;
	readonly model: string;
	readonly input_tokens: number;
	readonly output_tokens: number;
	readonly cached_tokens: number;
	readonly cost_micros: number | null;
	readonly currency: string;
	readonly status: string;
	readonly ended_at: number;
}

/** The turns of one session, with the cost of their model calls. */
export function* exportTurns(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly session: Pick<SessionHead, "key"> & { readonly line: { readonly id: string } };
	readonly after: string;
	readonly limit: number;
}): Op<{ lines: readonly string[]; last: string | null }> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const lines: string[] = [];
	const rows = yield* all(turnsOf, args.session.key, args.conversation, args.after, args.limit);
	for (const row of rows)
		lines.push(
			toLine(turnLine(args.conversation, args.session.line.id, row, yield* all(modelCallsOf, row.id))),
		);
	return { lines, last: rows.length === args.limit ? (rows.at(-1) as TurnRow).id : null };
}

/** An unfinished turn is exported as stopped: nobody continues it elsewhere. */
export function turnLine(
	conversation: ConversationId,
	session: string,
	row: TurnRow,
	calls: readonly ModelCallRow[],
): TurnLine {
	const isOpen = row.state === "running" || row.state === "interrupted";
	return {
		type: "turn",
		conversation,
		session,
		id: row.id,
		principal: row.principal,
		state: isOpen ? "stopped" : (row.state as TurnLine["state"]),
		detail: isOpen ? null : row.detail,
		attempts: row.attempts,
		destination: JSON.parse(row.destination) as Record<string, unknown>,
		startedAt: row.started_at,
		interruptedAt: row.interrupted_at,
		endedAt: row.ended_at ?? row.interrupted_at ?? row.started_at,
		modelCalls: calls.map((call) => ({
			n: call.n,
			principal: call.principal,
			profile: call.profile,
			provider: call.provider,
			model: call.model,
			inputTokens: call.input_tokens,
			outputTokens: call.output_tokens,
			cachedInputTokens: call.cached_tokens,
			costMicros: call.cost_micros,
			currency: call.currency,
			status: call.status,
			endedAt: call.ended_at,
		})),
	};
}

export type StoredMessage = MessageRow & {
	readonly origin: string | null;
	readonly origin_id: string | null;
};
const messagesOf = sql<StoredMessage>(
	`SELECT ${MESSAGE_COLUMNS}, m.origin, m.origin_id FROM messages m JOIN sessions s ON s.key = m.session
	WHERE m.session = ? AND s.conversation = ? AND m.seq > ? AND m.seq <= ? ORDER BY m.seq LIMIT ?`,
);

export interface MessagesPage {
	/** Each with the blobs it refers to. */
	readonly messages: readonly { readonly line: string; readonly blobs: readonly string[] }[];
	readonly last: number | null;
}

/** One page of a session's stored rows, including hidden ones. */
export function* exportMessages(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly session: Pick<SessionHead, "key" | "upTo"> & { readonly line: { readonly id: string } };
	readonly after: number;
	readonly limit: number;
	readonly longTextInline?: boolean;
}): Op<MessagesPage> {
	const { conversation, session } = args;
	yield* assertSees(args.scope, conversation, `conversation ${conversation}`);
	const rows = yield* all(messagesOf, session.key, conversation, args.after, session.upTo, args.limit);
	const messages: { line: string; blobs: string[] }[] = [];
	for (const row of rows) {
		const stored = unseal<MessageBody>(row.body, row.body_key);
		const body = args.longTextInline
			? { ...stored, content: yield* loadLargeText(conversation, stored.content) }
			: stored;
		for (const digest of textBlobsOf(body))
			if (!(yield* get(blobOf, conversation, digest)))
				throw new KeryxError("store.corrupt", `the text of message ${row.id} is not in the store`);
		messages.push({
			line: toLine(messageLine(conversation, session.line.id, row, body)),
			blobs: blobsOf(body),
		});
	}
	return { messages, last: rows.at(-1)?.seq ?? null };
}

export function messageLine(
	conversation: ConversationId,
	session: string,
	row: StoredMessage,
	body: MessageBody,
): MessageLine {
	return {
		type: "message",
		conversation,
		session,
		seq: row.seq,
		id: row.id,
		...originUnless(`${conversation}/${session}/${row.seq}`, row),
		role: row.role,
		...(row.kind !== null && { kind: row.kind }),
		...(row.turn !== null && { turn: row.turn }),
		...(row.turn_index !== null && { turnIndex: row.turn_index }),
		...(row.tool_call !== null && { toolCallId: row.tool_call }),
		...(row.tool_name !== null && { toolName: row.tool_name }),
		...(row.is_error === 1 && { isError: true as const }),
		...(row.author !== null && { author: row.author }),
		createdAt: row.created_at,
		body: body as unknown as MessageLine["body"],
	};
}

const blobOf = sql<{ id: string; media_type: string; size: number; created_at: number }>(
	"SELECT id, media_type, size, created_at FROM blobs WHERE conversation = ? AND digest = ? AND complete = 1",
);
const chunkOf = sql<{ body: Uint8Array }>("SELECT body FROM blob_chunks WHERE blob = ? AND n = ?");

/** A blob's own line for n = -1, then each chunk; null after the last, or if there is no such blob. */
export function* exportBlob(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly digest: string;
	readonly n: number;
}): Op<string | null> {
	const { conversation, digest, n } = args;
	yield* assertSees(args.scope, conversation, `conversation ${conversation}`);
	const blob = yield* get(blobOf, conversation, digest);
	if (!blob) return null;
	if (n < 0)
		return toLine({
			type: "blob",
			conversation,
			digest,
			mediaType: blob.media_type,
			size: blob.size,
			createdAt: blob.created_at,
		});
	const chunk = yield* get(chunkOf, blob.id, n);
	if (!chunk) return null;
	const { buffer, byteOffset, byteLength } = chunk.body;
	const data = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
	return toLine({ type: "blob_chunk", conversation, digest, n, data });
}
