// Fills the search index in the transaction that changes its content. The index stores no text; each row has tags (conversation, owner,
// profile, platform, role), because a scope or filter applied after the match gives wrong answers.
import { unseal } from "../../codec.ts";
import { get, later, type Op, sql } from "../../query.ts";
import { searchTags, searchText } from "../../search-text.ts";
import type { NewMessage } from "../../types.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { type MessageBody, type Target, textOf } from "../transcript/content.ts";

const insert = sql(
	"INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)",
	`INSERT INTO search (rowid, tags, words, tokens)
	SELECT $1::bigint, $2::text, w.words, search_tokens(w.words, $2) FROM search_words($3) AS w (words)`,
);
const remove = sql("DELETE FROM search WHERE rowid = ?");
const rowById = sql<{ role: NewMessage["role"]; body: string; body_key: number | null }>(
	"SELECT role, body, body_key FROM messages WHERE id = ?",
);

type TagFacts = Pick<Target, "conversation" | "platform" | "profile" | "principal">;

export function* indexMessage(
	id: number,
	facts: TagFacts,
	message: Pick<NewMessage, "role" | "content">,
): Op<void> {
	if (message.role === "meta" || message.role === "system") return;
	const text = textOf(message.content);
	if (text !== "") yield* later(insert, id, searchTags({ ...facts, role: message.role }), searchText(text));
}

/** Puts back a hidden row. */
export function* indexRow(id: number, facts: TagFacts): Op<void> {
	const row = yield* get(rowById, id);
	if (!row) return;
	const content = yield* loadLargeText(
		facts.conversation,
		unseal<MessageBody>(row.body, row.body_key).content,
	);
	yield* indexMessage(id, facts, { role: row.role, content });
}

export function* unindexMessages(ids: readonly number[]): Op<void> {
	for (const id of ids) yield* later(remove, id);
}

/** A title is a row of the same index, under the session's key as a negative number. */
export function* indexTitle(
	session: number,
	facts: { readonly id: string } & Omit<TagFacts, "conversation">,
	title: string,
): Op<void> {
	yield* later(remove, -session);
	yield* later(
		insert,
		-session,
		searchTags({ ...facts, conversation: facts.id, role: "title" }),
		searchText(title),
	);
}
