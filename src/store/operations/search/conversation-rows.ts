// Removes a whole conversation from search, or brings it back. The cost depends only on the conversation.
import { unseal } from "../../codec.ts";
import { all, type Op, sql } from "../../query.ts";
import { indexRow, indexTitle, unindexMessages } from "./index-rows.ts";

const PAGE = 1000;

interface IndexedConversation {
	readonly id: string;
	readonly platform: string;
	readonly profile: string;
	readonly principal: string | null;
}

const sessionsOf = sql<{ key: number; title_body: string | null; body_key: number | null }>(
	"SELECT key, title_body, body_key FROM sessions WHERE conversation = ? ORDER BY key",
);
const rowsOf = sql<{ id: number; seq: number; hidden: number }>(
	`SELECT m.id, m.seq, CASE WHEN EXISTS (SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL
		AND m.seq BETWEEN h.from_seq AND h.to_seq) THEN 1 ELSE 0 END AS hidden
	FROM messages m WHERE m.session = ? AND m.seq > ? ORDER BY m.seq LIMIT ?`,
);

export function* unindexConversation({ id }: Pick<IndexedConversation, "id">): Op<void> {
	for (const { key } of yield* all(sessionsOf, id)) {
		yield* unindexMessages([-key]);
		for (let after = 0; ; ) {
			const rows = yield* all(rowsOf, key, after, PAGE);
			yield* unindexMessages(rows.map((row) => row.id));
			if (rows.length < PAGE) break;
			after = rows.at(-1)?.seq ?? after;
		}
	}
}

/** Hidden rows stay out. */
export function* indexConversation(conversation: IndexedConversation): Op<void> {
	const of = { ...conversation, conversation: conversation.id };
	for (const { key, title_body, body_key } of yield* all(sessionsOf, conversation.id)) {
		if (title_body !== null) yield* indexTitle(key, conversation, unseal<string>(title_body, body_key));
		for (let after = 0; ; ) {
			const rows = yield* all(rowsOf, key, after, PAGE);
			for (const { id, hidden } of rows) if (!hidden) yield* indexRow(id, of);
			if (rows.length < PAGE) break;
			after = rows.at(-1)?.seq ?? after;
		}
	}
}
