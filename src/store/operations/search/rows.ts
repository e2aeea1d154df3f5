// Reads the rows that the index found: messages and titles with their text, and a message's neighbours.
import type { ConversationId, SessionId } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, type Statement, sql } from "../../query.ts";
import { previewOf } from "../../search-snippet.ts";
import type { Role } from "../../types.ts";
import { loadLargeText, type StoredContent } from "../transcript/blobs.ts";
import { type MessageBody, textOf } from "../transcript/content.ts";

interface Row {
	readonly id: number;
	readonly session_key: number;
	readonly seq: number;
	readonly role: Role;
	readonly created_at: number;
	readonly body: string;
	readonly body_key: number | null;
	readonly session: SessionId;
	readonly conversation: ConversationId;
	readonly principal: string | null;
	readonly profile: string;
}

/** Ids as a JSON array, in each engine's syntax. */
const LISTED = {
	sqlite: "(SELECT value FROM json_each(?)) j",
	postgres: "(SELECT v.id::bigint AS value FROM json_array_elements_text(?::json) AS v (id)) j",
} as const;

function listed<Row>(text: (ids: string) => string): Statement<Row> {
	return sql<Row>(text(LISTED.sqlite), text(LISTED.postgres));
}

const messagesIn = listed<Row>(
	(ids) => `SELECT m.id, m.session AS session_key, m.seq, m.role, m.created_at, m.body, m.body_key,
		s.id AS session, s.conversation, c.principal, c.profile
	FROM ${ids} JOIN messages m ON m.id = j.value JOIN sessions s ON s.key = m.session
	JOIN conversations c ON c.id = s.conversation`,
);
const titlesIn = listed<Row>(
	(
		ids,
	) => `SELECT -s.key AS id, s.key AS session_key, 0 AS seq, 'meta' AS role, s.started_at AS created_at, s.title_body AS body,
		s.body_key, s.id AS session, s.conversation, c.principal, c.profile
	FROM ${ids} JOIN sessions s ON s.key = -j.value JOIN conversations c ON c.id = s.conversation
	WHERE s.title_body IS NOT NULL`,
);
const SAID = `m.role IN ('user', 'assistant', 'tool') AND NOT EXISTS (SELECT 1 FROM hidden_ranges h
	WHERE h.session = m.session AND h.undone_at IS NULL AND m.seq BETWEEN h.from_seq AND h.to_seq)`;
const previous = sql<NeighbourRow>(
	`SELECT m.id, m.seq, m.role, m.body, m.body_key FROM messages m
	WHERE m.session = ? AND m.seq < ? AND ${SAID} ORDER BY m.seq DESC LIMIT 1`,
);
const following = sql<NeighbourRow>(
	`SELECT m.id, m.seq, m.role, m.body, m.body_key FROM messages m
	WHERE m.session = ? AND m.seq > ? AND ${SAID} ORDER BY m.seq LIMIT 1`,
);

const bodiesIn = listed<Pick<Row, "id" | "session_key" | "body" | "body_key">>(
	(ids) =>
		`SELECT m.id, m.session AS session_key, m.body, m.body_key FROM ${ids} JOIN messages m ON m.id = j.value`,
);
/**
 * Rows that may contain a sign: a body in plain ASCII contains it as written. Any other must be read, and one whose text is
 * elsewhere; a text in the row itself comes first in the body.
 */
const holding = (ids: string, find: string) =>
	`SELECT m.id, m.session AS session_key, m.body, m.body_key FROM ${ids} JOIN messages m ON m.id = j.value
	WHERE ${find}(m.body, ?) > 0 OR m.body_key IS NOT NULL OR length(m.body) <> octet_length(m.body)
		OR (substr(m.body, 1, 12) <> '{"content":"' AND ${find}(m.body, '"text_blob"') > 0)`;
const bodiesHolding = sql<Pick<Row, "id" | "session_key" | "body" | "body_key">>(
	holding(LISTED.sqlite, "instr"),
	holding(LISTED.postgres, "strpos"),
);
const conversationOf = sql<{ conversation: ConversationId }>(
	"SELECT conversation FROM sessions WHERE key = ?",
);

type NeighbourRow = Pick<Row, "id" | "seq" | "role" | "body" | "body_key">;

/** A row named by the index, as stored. */
export interface FoundRow extends Omit<Row, "body" | "body_key"> {
	readonly content: StoredContent;
}

/** Rows deleted meanwhile are left out; the order is not kept. */
export function* readRows(ids: readonly number[]): Op<FoundRow[]> {
	const rows: FoundRow[] = [];
	const messages = ids.filter((id) => id > 0);
	const titles = ids.filter((id) => id < 0);
	for (const { body, body_key, ...row } of messages.length > 0
		? yield* all(messagesIn, JSON.stringify(messages))
		: [])
		rows.push({ ...row, content: unseal<MessageBody>(body, body_key).content });
	for (const { body, body_key, ...row } of titles.length > 0
		? yield* all(titlesIn, JSON.stringify(titles))
		: [])
		rows.push({ ...row, content: unseal<string>(body, body_key) });
	return rows;
}

/** Whole texts by id, for many rows at once. Messages that cannot hold the sign are left out; null: none is. */
export function* textsOf(ids: readonly number[], sign: string | null = null): Op<Map<number, string>> {
	const texts = new Map<number, string>();
	const messages = ids.filter((id) => id > 0);
	const titles = ids.filter((id) => id < 0);
	if (messages.length > 0)
		for (const row of sign === null
			? yield* all(bodiesIn, JSON.stringify(messages))
			: yield* all(bodiesHolding, JSON.stringify(messages), sign)) {
			const { content } = unseal<MessageBody>(row.body, row.body_key);
			texts.set(row.id, typeof content === "string" ? content : yield* textIn(row.session_key, content));
		}
	if (titles.length > 0)
		for (const row of yield* all(titlesIn, JSON.stringify(titles)))
			texts.set(row.id, unseal<string>(row.body, row.body_key));
	return texts;
}

function* textIn(session: number, content: StoredContent): Op<string> {
	const { conversation } = (yield* get(conversationOf, session)) as { conversation: ConversationId };
	return textOf(yield* loadLargeText(conversation, content));
}

/** The whole text, including large parts. */
export function* wholeText(row: FoundRow): Op<string> {
	return textOf(yield* loadLargeText(row.conversation, row.content));
}

/** The text in the row itself, without parts that were too large. */
export function rowText({ content }: Pick<FoundRow, "content">): string {
	if (typeof content === "string") return content;
	if ("digest" in content) return "";
	return textOf(content.filter((part) => part.type !== "text_blob"));
}

export interface Neighbour {
	readonly id: number;
	readonly seq: number;
	readonly role: Role;
	readonly preview: string;
}

/** The visible messages just before and after, in the same session. */
export function* neighboursOf(
	row: FoundRow,
): Op<{ readonly before: Neighbour | null; readonly after: Neighbour | null }> {
	return {
		before: toNeighbour(yield* get(previous, row.session_key, row.seq)),
		after: toNeighbour(yield* get(following, row.session_key, row.seq)),
	};
}

function toNeighbour(row: NeighbourRow | undefined): Neighbour | null {
	if (!row) return null;
	const { content } = unseal<MessageBody>(row.body, row.body_key);
	return { id: row.id, seq: row.seq, role: row.role, preview: previewOf(rowText({ content })) };
}
