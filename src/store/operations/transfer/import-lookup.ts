// Finds existing rows for an import: by origin, or by a Keryx id that was kept.
import { createHash } from "node:crypto";
import { type ConversationId, isSessionId, type SessionId } from "../../../domain/index.ts";
import { type Context, get, type Op, sql } from "../../query.ts";
import type { SessionLine } from "../../transfer-format.ts";
import { invalidLine } from "../../transfer-line.ts";
import type { Hidden } from "../transcript/rows.ts";

export interface ImportCounts {
	readonly conversations: number;
	readonly sessions: number;
	readonly messages: number;
	readonly blobs: number;
	/** Messages that already existed. */
	readonly present: number;
	/** Messages of complete sessions with fewer rows here: left out; nothing existing was changed. */
	readonly leftOut: number;
}

export type Origin = NonNullable<SessionLine["origin"]>;

/** What one run of the operation knows; the rest is looked up in the rows. */
export interface Import {
	readonly context: Context;
	readonly origin: string;
	/** The origins of lines by their names in the file: those of this run, and earlier ones still open. */
	readonly origins: Map<string, Origin>;
	readonly conversations: Map<string, ImportedConversation>;
	readonly sessions: Map<string, ImportedSession>;
	readonly counts: { -readonly [Name in keyof ImportCounts]: ImportCounts[Name] };
	/** Per session, the seq of its last row; Infinity if it has continued here. */
	readonly progress: Map<number, number>;
	readonly hidden: Map<number, Hidden>;
	/** Per conversation, the number of added rows that count and are visible. */
	readonly shown: Map<ConversationId, number>;
	/** Per conversation, how many rows were written. */
	readonly written: Map<ConversationId, number>;
}

export interface ImportedConversation {
	readonly id: ConversationId;
	readonly platform: string;
	readonly profile: string;
	readonly principal: string | null;
}

export interface ImportedSession {
	readonly key: number;
	readonly id: SessionId;
	readonly conversation: ConversationId;
	/** Still being imported: rows may be added. */
	readonly claimed: boolean;
}

const CONVERSATION = "SELECT id, platform, profile, principal FROM conversations";
const conversationById = sql<ImportedConversation>(`${CONVERSATION} WHERE id = ?`);
const conversationByOrigin = sql<ImportedConversation>(`${CONVERSATION} WHERE origin = ? AND origin_id = ?`);

export function* knownConversation(work: Import, id: string): Op<ImportedConversation | undefined> {
	const cached = work.conversations.get(id);
	if (cached) return cached;
	const origin = work.origins.get(id);
	const found =
		(origin && (yield* get(conversationByOrigin, origin.name, origin.id))) ??
		(yield* get(conversationByOrigin, work.origin, id)) ??
		(isOwnId(id) ? yield* get(conversationById, id) : undefined);
	if (found) work.conversations.set(id, found);
	return found;
}

export function* conversationOf(
	work: Import,
	line: { readonly conversation: string },
	number: number,
): Op<ImportedConversation> {
	const found = yield* knownConversation(work, line.conversation);
	if (found) return found;
	throw invalidLine(number, `conversation names ${line.conversation}, which no line before describes`, {
		field: "conversation",
	});
}

interface SessionRow {
	readonly key: number;
	readonly id: SessionId;
	readonly conversation: ConversationId;
	readonly claim: string | null;
}

/** Value of `claim` while a session's rows are still being imported. */
export const CLAIM = "import";
const SESSION = "SELECT key, id, conversation, claim FROM sessions";
const sessionById = sql<SessionRow>(`${SESSION} WHERE id = ?`);
const sessionByOrigin = sql<SessionRow>(`${SESSION} WHERE origin = ? AND origin_id = ?`);

export function* knownSession(
	work: Import,
	conversationInFile: string,
	conversation: ConversationId,
	id: string,
): Op<ImportedSession | undefined> {
	const name = `${conversationInFile}/${id}`;
	const cached = work.sessions.get(name);
	if (cached) return cached;
	const origin = work.origins.get(name);
	const candidates = [
		origin && (yield* get(sessionByOrigin, origin.name, origin.id)),
		yield* get(sessionByOrigin, work.origin, name),
		isSessionId(id) ? yield* get(sessionById, id) : undefined,
	];
	const row = candidates.find((candidate) => candidate?.conversation === conversation);
	if (!row) return undefined;
	const found = { key: row.key, id: row.id, conversation, claimed: row.claim === CLAIM };
	work.sessions.set(name, found);
	return found;
}

/** The session a line names by its id in the file. */
export function* sessionOf(
	work: Import,
	line: { readonly conversation: string },
	id: string,
	number: number,
	field: string,
): Op<ImportedSession> {
	const conversation = yield* conversationOf(work, line, number);
	const found = yield* knownSession(work, line.conversation, conversation.id, id);
	if (found) return found;
	throw invalidLine(number, `${field} names session ${id}, which no line before describes`, { field });
}

export function wrote(work: Import, conversation: ConversationId): void {
	work.written.set(conversation, (work.written.get(conversation) ?? 0) + 1);
}

/** The format of Keryx's ids. Only such an id may become a file name (I10); any other is replaced. */
export function isOwnId(id: string): boolean {
	return /^[0-9a-f]{32}$/.test(id);
}

/** An id in Keryx's format for one that is not, or is taken: deterministic. */
export function derivedId(...names: readonly string[]): string {
	return digestOf(...names)
		.toString("hex")
		.slice(0, 32);
}

export function digestOf(...names: readonly string[]): Buffer {
	return createHash("sha256").update(JSON.stringify(names)).digest();
}
