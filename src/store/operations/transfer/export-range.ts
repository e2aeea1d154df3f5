// Reads a range of small conversations with one query per kind of row, because queries dominate the cost. The lines equal those of
// export-small.ts, which reads conversations one by one if a range has more than a few rows.
import type { ConversationId } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, type Op, type Statement, sql } from "../../query.ts";
import { toLine } from "../../transfer-line.ts";
import { SESSION_COLUMNS } from "../sessions/sessions.ts";
import { blobsOf, type MessageBody } from "../transcript/content.ts";
import { MESSAGE_COLUMNS } from "../transcript/rows.ts";
import {
	type AddressRow,
	CONVERSATION_COLUMNS,
	type ConversationRow,
	conversationLine,
	HIDDEN_COLUMNS,
	type HiddenRow,
	hiddenLine,
	type StoredSession,
	sessionLine,
} from "./export.ts";
import {
	CALL_COLUMNS,
	type ModelCallRow,
	messageLine,
	type StoredMessage,
	TURN_COLUMNS,
	type TurnRow,
	turnLine,
} from "./export-rows.ts";

/** How many rows of one kind are read at once; a range with more is not small. */
const MOST = 2000;
const WITHIN = "s.conversation >= ? AND s.conversation <= ?";

const conversationsIn = sql<ConversationRow>(
	`SELECT ${CONVERSATION_COLUMNS} FROM conversations WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?`,
);
const addressesIn = sql<AddressRow & { readonly conversation: string }>(
	`SELECT conversation, profile, platform, account, scope, chat_type, chat, thread, participant FROM addresses
	WHERE conversation >= ? AND conversation <= ? ORDER BY conversation, digest LIMIT ?`,
);
type RangedSession = StoredSession & { readonly up_to: number | null };
const sessionsIn = sql<RangedSession>(
	`SELECT ${SESSION_COLUMNS}, origin, origin_id, (SELECT max(m.seq) FROM messages m WHERE m.session = s.key) AS up_to
	FROM sessions s WHERE ${WITHIN} ORDER BY conversation, key LIMIT ?`,
);
const hiddenIn = sql<HiddenRow & { readonly id: number }>(
	`SELECT ${HIDDEN_COLUMNS}, h.id FROM sessions s JOIN hidden_ranges h ON h.session = s.key WHERE ${WITHIN} LIMIT ?`,
);
const turnsIn = sql<TurnRow & { readonly session: number }>(
	`SELECT ${TURN_COLUMNS}, t.session FROM sessions s JOIN turns t ON t.session = s.key AND t.conversation = s.conversation
	WHERE ${WITHIN} LIMIT ?`,
);
const callsIn = sql<ModelCallRow & { readonly turn: string }>(
	`SELECT ${CALL_COLUMNS}, c.turn FROM sessions s JOIN turns t ON t.session = s.key JOIN model_calls c ON c.turn = t.id
	WHERE ${WITHIN} LIMIT ?`,
);
const messagesIn = sql<StoredMessage>(
	`SELECT ${MESSAGE_COLUMNS}, m.origin, m.origin_id FROM sessions s JOIN messages m ON m.session = s.key WHERE ${WITHIN} LIMIT ?`,
);

/** The lines of each of these adjacent conversations as one text; null for one with a blob, or for all if they are not small. */
export function* exportRange(
	ids: readonly ConversationId[],
	isSmall: (sessions: readonly { readonly upTo: number }[]) => boolean,
): Op<readonly (string | null)[] | null> {
	const range = [ids[0] ?? "", ids.at(-1) ?? ""] as const;
	const sessions = yield* few(sessionsIn, range);
	if (!sessions || sessions.reduce((sum, { up_to }) => sum + (up_to ?? 0), 0) > MOST) return null;
	const sessionsOf = Map.groupBy(sessions, ({ conversation }) => conversation as string);
	for (const own of sessionsOf.values())
		if (!isSmall(own.map(({ up_to }) => ({ upTo: up_to ?? 0 })))) return null;
	const conversations = yield* few(conversationsIn, range);
	const addresses = yield* few(addressesIn, range);
	const hidden = yield* few(hiddenIn, range);
	const turns = yield* few(turnsIn, range);
	const calls = yield* few(callsIn, range);
	const messages = yield* few(messagesIn, range);
	if (!conversations || !addresses || !hidden || !turns || !calls || !messages) return null;
	const rows: Rows = {
		conversations: new Map(conversations.map((row) => [row.id, row])),
		addresses: Map.groupBy(addresses, ({ conversation }) => conversation),
		sessions: sessionsOf,
		hidden: Map.groupBy(
			hidden.toSorted((a, b) => a.id - b.id),
			({ session }) => session,
		),
		turns: Map.groupBy(
			turns.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
			({ session }) => session,
		),
		calls: Map.groupBy(
			calls.toSorted((a, b) => a.n - b.n),
			({ turn }) => turn,
		),
		messages: Map.groupBy(
			messages.toSorted((a, b) => a.seq - b.seq),
			({ session }) => session,
		),
	};
	return ids.map((id) => linesOf(id, rows));
}

function* few<Row>(statement: Statement<Row>, range: readonly [string, string]): Op<readonly Row[] | null> {
	const rows = yield* all(statement, ...range, MOST + 1);
	return rows.length > MOST ? null : rows;
}

interface Rows {
	readonly conversations: ReadonlyMap<string, ConversationRow>;
	readonly addresses: ReadonlyMap<string, readonly AddressRow[]>;
	readonly sessions: ReadonlyMap<string, readonly RangedSession[]>;
	/** By the keys of sessions. */
	readonly hidden: ReadonlyMap<number, readonly (HiddenRow & { readonly id: number })[]>;
	readonly turns: ReadonlyMap<number, readonly TurnRow[]>;
	readonly calls: ReadonlyMap<string, readonly ModelCallRow[]>;
	readonly messages: ReadonlyMap<number, readonly StoredMessage[]>;
}

function linesOf(id: ConversationId, rows: Rows): string | null {
	const row = rows.conversations.get(id);
	if (!row) return "";
	const sessions = rows.sessions.get(id) ?? [];
	const ids = new Map(sessions.map((session) => [session.key, session.id]));
	const turns = sessions.flatMap(({ key, id: session }) =>
		(rows.turns.get(key) ?? []).map((turn) => turnLine(id, session, turn, rows.calls.get(turn.id) ?? [])),
	);
	const hidden = sessions
		.flatMap(({ key }) => rows.hidden.get(key) ?? [])
		.sort((a, b) => a.id - b.id)
		.map((range) => hiddenLine(id, range, ids));
	const messages: string[] = [];
	for (const { key, id: session, up_to } of sessions) {
		const own = rows.messages.get(key) ?? [];
		// Incomplete ones are read, and reported, row by row.
		if ((own.at(-1)?.seq ?? 0) !== (up_to ?? 0)) return null;
		for (const message of own) {
			const body = unseal<MessageBody>(message.body, message.body_key);
			if (blobsOf(body).length > 0) return null;
			messages.push(toLine(messageLine(id, session, message, body)));
		}
	}
	const counts = { sessions: sessions.length, turns: turns.length, hidden: hidden.length };
	const lines = [
		toLine(conversationLine(row, rows.addresses.get(id) ?? [])),
		...sessions.map((session) =>
			toLine({
				...sessionLine(id, session, ids),
				context: unseal<string>(session.context_body, session.body_key),
			}),
		),
		...turns.map(toLine),
		...hidden.map(toLine),
		...messages,
		toLine({
			type: "conversation_end",
			conversation: id,
			live: sessions.find(({ ended_at }) => ended_at === null)?.id ?? null,
			...counts,
			messages: messages.length,
			blobs: 0,
		}),
	];
	return lines.join("");
}
