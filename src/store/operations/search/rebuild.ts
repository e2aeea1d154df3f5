// Rebuilds the search index from messages and titles, in steps: each is one short write, and search keeps working in between. A step
// replaces everything in its range, so stale entries go too, and an interrupted rebuild can continue or restart.
import type { ConversationId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, later, type Op, sql } from "../../query.ts";
import type { Role } from "../../types.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { type MessageBody, textOf } from "../transcript/content.ts";
import { indexMessage, indexTitle } from "./index-rows.ts";

const STEP_ROWS = 200;
const MAX_ROWS = 1000;
/** A step ends early after this much text. */
const STEP_TEXT = 512 * 1024;
const LATEST = Number.MAX_SAFE_INTEGER;

interface RowFacts {
	readonly conversation: ConversationId;
	readonly platform: string;
	readonly profile: string;
	readonly principal: string | null;
	readonly body: string;
	readonly body_key: number | null;
}

const messagesAfter = sql<RowFacts & { id: number; role: Role; hidden: number }>(
	`SELECT m.id, m.role, m.body, m.body_key, s.conversation, c.platform, c.profile, c.principal,
		CASE WHEN c.state = 'deleted' OR EXISTS (SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL
			AND m.seq BETWEEN h.from_seq AND h.to_seq) THEN 1 ELSE 0 END AS hidden
	FROM messages m JOIN sessions s ON s.key = m.session JOIN conversations c ON c.id = s.conversation
	WHERE m.id > ? ORDER BY m.id LIMIT ?`,
);
const titlesAfter = sql<RowFacts & { key: number }>(
	`SELECT s.key, s.title_body AS body, s.body_key, s.conversation, c.platform, c.profile, c.principal
	FROM sessions s JOIN conversations c ON c.id = s.conversation
	WHERE s.key > ? AND s.title_body IS NOT NULL AND c.state <> 'deleted' ORDER BY s.key LIMIT ?`,
);
const removeBetween = sql("DELETE FROM search WHERE rowid BETWEEN CAST(? AS BIGINT) AND CAST(? AS BIGINT)");
/** All at once, even if the index is too damaged to be read. */
const removeAll = sql("INSERT INTO search (search) VALUES ('delete-all')", "DELETE FROM search");

export interface RebuildArgs {
	/** `next` of the previous step; absent at the start. */
	readonly cursor?: string;
	/** Rows per step: 200, at most 1000. */
	readonly limit?: number;
	/** With the first step: empty the index first. Search finds nothing until the rebuild gets there. */
	readonly wipe?: boolean;
}

/** One step. Call it again with `next` until that is null. */
export function* rebuildSearch(
	_: Context,
	{ cursor = "m0", limit = STEP_ROWS, wipe = false }: RebuildArgs,
): Op<{ indexed: number; next: string | null }> {
	if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS)
		throw new KeryxError("argument.invalid", `limit must be a whole number from 1 to ${MAX_ROWS}`, {
			field: "limit",
		});
	const [, kind, after] = /^([mt])(\d{1,16})$/.exec(cursor) ?? [];
	if (!kind)
		throw new KeryxError("argument.invalid", "cursor must be the one of an earlier step", {
			field: "cursor",
		});
	if (wipe && cursor === "m0") yield* later(removeAll);
	return kind === "m"
		? yield* rebuildMessages(Number(after), limit)
		: yield* rebuildTitles(Number(after), limit);
}

function* rebuildMessages(after: number, limit: number): Op<{ indexed: number; next: string | null }> {
	const rows = yield* all(messagesAfter, after, limit);
	const entries: { id: number; facts: RowFacts; role: Role; content: string }[] = [];
	let last = after;
	let length = 0;
	for (const { id, role, hidden, ...facts } of rows) {
		last = id;
		if (hidden) continue;
		const { content } = unseal<MessageBody>(facts.body, facts.body_key);
		const text = textOf(yield* loadLargeText(facts.conversation, content));
		entries.push({ id, facts, role, content: text });
		length += text.length;
		if (length > STEP_TEXT) break;
	}
	const isEnd = rows.length < limit && (rows.at(-1)?.id ?? after) === last;
	yield* later(removeBetween, after + 1, isEnd ? LATEST : last);
	for (const { id, facts, role, content } of entries) yield* indexMessage(id, facts, { role, content });
	return { indexed: entries.length, next: isEnd ? "t0" : `m${last}` };
}

function* rebuildTitles(after: number, limit: number): Op<{ indexed: number; next: string | null }> {
	const rows = yield* all(titlesAfter, after, limit);
	const isEnd = rows.length < limit;
	const last = isEnd ? LATEST : (rows.at(-1) as { key: number }).key;
	yield* later(removeBetween, -last, -(after + 1));
	for (const { key, ...facts } of rows)
		yield* indexTitle(key, { ...facts, id: facts.conversation }, unseal<string>(facts.body, facts.body_key));
	return { indexed: rows.length, next: isEnd ? null : `t${last}` };
}
