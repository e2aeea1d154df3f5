// Which sessions a person can go back to from a conversation: its own and, where asked for, those of the person's other
// unshared conversations. One rule for the list and for the switch, so that neither says more than the other.
import type { ConversationId, EndReason, SessionId } from "../../../domain/index.ts";
import { describeSource, parseSource } from "../../../domain/index.ts";
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
 * Whether a conversation's sessions may be taken up in this one. `asker` is who asks; left out, the operator. Somebody else than the
 * conversation's own person, such as a token that is bound to it, reaches that conversation alone (I18).
 */
export function* reachOf(
	from: ConversationFacts,
	within: Within,
	asker?: string | null,
): Op<(other: ConversationFacts) => boolean> {
	const own = (other: ConversationFacts): boolean => other.id === from.id;
	// What is taken up in a group is read by all of it, also where everybody has a conversation of their own there.
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
	/** What the conversation is called, where it is another one. */
	readonly elsewhere: string | null;
	readonly title: string | null;
	/** What the person said first. */
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
	/** Only the one of this id, or those of this title, the live one too. Without: all but the live one and those with nothing in them. */
	readonly named?: { readonly id: SessionId } | { readonly title: string };
}

const placesOf = sql<ConversationFacts>(
	"SELECT id, principal, profile, shared, chat_type FROM conversations WHERE principal = ?",
);
const sourceOf = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
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

/** Newest activity first; those of the conversation itself before others of the same time. */
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
		others.push(...(yield* all(placesOf, principal)));
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
	const { source_body, body_key } = (yield* get(sourceOf, conversation)) as {
		source_body: string;
		body_key: number | null;
	};
	return describeSource(parseSource(unseal(source_body, body_key)));
}
