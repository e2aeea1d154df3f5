// Which sessions a person can go back to from a conversation: its own and, if allowed, those of the person's other unshared
// conversations. The list and the switch share this rule, so that neither reveals more.
import type { ConversationId, EndReason, SessionId } from "../../../domain/index.ts";
import { conversationName, parseSource } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { Scope } from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";
import { assertSees } from "../people/scope.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { type MessageBody, textOf } from "../transcript/content.ts";
import {
	type ConversationRow,
	findConversation,
	SESSION_COLUMNS,
	type SessionRow,
	titleOf,
} from "./sessions.ts";
import { titleDigest } from "./titles.ts";

/** conversation: only its own sessions; principal: also those of the person's other unshared conversations. */
export type Within = "conversation" | "principal";

type ConversationFacts = Pick<ConversationRow, "id" | "principal" | "profile" | "shared" | "chat_type">;

/**
 * Whether a conversation's sessions may be resumed in this one. `asker` defaults to the operator. Anyone other than the conversation's
 * own person, such as a bound token, reaches only that conversation (I18).
 */
export function* reachOf(
	from: ConversationFacts,
	within: Within,
	asker?: string | null,
): Op<(other: ConversationFacts) => boolean> {
	const own = (other: ConversationFacts): boolean => other.id === from.id;
	// Everyone in a group reads what is resumed there, even if each person has their own conversation.
	if (within === "conversation" || from.principal === null || from.shared || from.chat_type !== "dm")
		return own;
	const persons = yield* samePrincipals(from.principal);
	if (asker !== undefined && (asker === null || !persons.includes(asker))) return own;
	return (other) =>
		own(other) ||
		(other.principal !== null &&
			persons.includes(other.principal) &&
			!other.shared &&
			other.profile === from.profile);
}

export interface Reachable {
	readonly id: SessionId;
	readonly conversation: ConversationId;
	/** The conversation's name, if it is another one. */
	readonly elsewhere: string | null;
	readonly title: string | null;
	/** The person's first message. */
	readonly opening: string;
	readonly lastActivityAt: number;
	readonly messages: number;
	/** Null while it is live. */
	readonly endReason: EndReason | null;
}

export interface ReachArgs {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly within: Within;
	readonly limit: number;
	/** Only this id, or this title, including the live one. Absent: all except the live one and empty ones. */
	readonly named?: { readonly id: SessionId } | { readonly title: string };
}

const conversationsOf = sql<ConversationFacts>(
	"SELECT id, principal, profile, shared, chat_type FROM conversations WHERE principal = ? AND state <> 'deleted'",
);
const nameParts = sql<{ source_body: string; title_body: string | null; body_key: number | null }>(
	"SELECT source_body, title_body, body_key FROM conversations WHERE id = ?",
);
const newest = sql<SessionRow>(
	`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? AND messages > 0 AND (ended_at IS NOT NULL OR conversation <> ?)
	ORDER BY last_activity_at DESC, key DESC LIMIT ?`,
);
const byId = sql<SessionRow>(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? AND id = ?`);
const byTitle = sql<SessionRow>(
	`SELECT ${SESSION_COLUMNS} FROM sessions WHERE conversation = ? AND title_digest = ?`,
);
const firstText = sql<{ body: string; body_key: number | null }>(
	`SELECT m.body, m.body_key FROM messages m WHERE m.session = ? AND m.role = 'user' AND m.counted = 1 AND NOT EXISTS (
		SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL AND m.seq BETWEEN h.from_seq AND h.to_seq)
	ORDER BY m.seq LIMIT 1`,
);

/** Newest activity first; the conversation's own before others of the same time. */
export function* reachableSessions(args: ReachArgs): Op<readonly Reachable[]> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const from = yield* findConversation(args.conversation);
	const asker = args.scope.kind === "principal" ? args.scope.principal : undefined;
	const reaches = yield* reachOf(from, args.within, asker);
	const rows: SessionRow[] = [];
	for (const conversation of yield* conversationsFrom(from, args.within))
		if (reaches(conversation)) rows.push(...(yield* sessionsIn(conversation.id, args)));
	const result: Reachable[] = [];
	for (const row of rows.sort((a, b) => b.last_activity_at - a.last_activity_at).slice(0, args.limit))
		result.push(yield* toReachable(row, from));
	return result;
}

function* conversationsFrom(from: ConversationRow, within: Within): Op<ConversationFacts[]> {
	if (within === "conversation" || from.principal === null) return [from];
	const others: ConversationFacts[] = [];
	for (const principal of yield* samePrincipals(from.principal))
		others.push(...(yield* all(conversationsOf, principal)));
	return [from, ...others.filter((other) => other.id !== from.id)];
}

function* sessionsIn(conversation: string, { named, ...args }: ReachArgs): Op<SessionRow[]> {
	if (named === undefined) return yield* all(newest, conversation, args.conversation, args.limit);
	if ("id" in named) return yield* all(byId, conversation, named.id);
	return yield* all(byTitle, conversation, titleDigest(named.title));
}

function* toReachable(row: SessionRow, from: ConversationRow): Op<Reachable> {
	const first = yield* get(firstText, row.key);
	const text = first && unseal<MessageBody>(first.body, first.body_key).content;
	return {
		id: row.id,
		conversation: row.conversation,
		elsewhere: row.conversation === from.id ? null : yield* nameOf(row.conversation),
		title: titleOf(row),
		opening: text === undefined ? "" : textOf(yield* loadLargeText(row.conversation, text)),
		lastActivityAt: row.last_activity_at,
		messages: row.messages,
		endReason: row.end_reason,
	};
}

function* nameOf(conversation: string): Op<string> {
	const { source_body, title_body, body_key } = (yield* get(nameParts, conversation)) as {
		source_body: string;
		title_body: string | null;
		body_key: number | null;
	};
	return conversationName({
		title: title_body === null ? null : unseal<string>(title_body, body_key),
		source: parseSource(unseal(source_body, body_key)),
	});
}
