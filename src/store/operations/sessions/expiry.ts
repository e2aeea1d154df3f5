// For the expiry watcher: due sessions are ended or checked again later; ended ones are finalised.
import {
	type ChatType,
	type ConversationId,
	cleanTitle,
	cutTitle,
	nextDue,
	type ResetPolicy,
	type SessionId,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { OperatorScope } from "../../types.ts";
import { loadLargeText } from "../transcript/blobs.ts";
import { type MessageBody, textOf } from "../transcript/content.ts";
import { decide, isHeld } from "./boundaries.ts";
import { giveTitle } from "./commands.ts";
import { end, findConversation, findSession, type SessionRow } from "./sessions.ts";

/** A held session is checked again after this long. */
const LOOK_AGAIN_MS = 5 * 60_000;
const DERIVED_TITLE_LENGTH = 60;

const due = sql<{
	id: SessionId;
	conversation: ConversationId;
	platform: string;
	chat_type: ChatType;
	ended_at: number | null;
	end_reason: string | null;
}>(
	`SELECT s.id, s.conversation, c.platform, c.chat_type, s.ended_at, s.end_reason
	FROM sessions s JOIN conversations c ON c.id = s.conversation
	WHERE s.due_at IS NOT NULL AND s.due_at <= ? ORDER BY s.due_at LIMIT ?`,
);
const waits = sql<{ id: number }>(
	"SELECT id FROM inbox WHERE conversation = ? AND due_at IS NOT NULL LIMIT 1",
);
const runs = sql<{ id: string }>(
	"SELECT id FROM turns WHERE conversation = ? AND state IN ('running', 'interrupted')",
);
const lookAgain = sql("UPDATE sessions SET due_at = ? WHERE key = ?");
const finalised = sql("UPDATE sessions SET finalised = 1, due_at = NULL WHERE key = ?");
const firstUserRow = sql<{ body: string; body_key: number | null }>(
	`SELECT body, body_key FROM messages m WHERE session = ? AND role = 'user' AND counted = 1 AND NOT EXISTS (
		SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL AND m.seq BETWEEN h.from_seq AND h.to_seq)
	ORDER BY seq LIMIT 1`,
);

export interface DueSession {
	readonly session: SessionId;
	readonly conversation: ConversationId;
	readonly platform: string;
	readonly chatType: ChatType;
	readonly work: "expire" | "finalise";
	readonly endReason: string | null;
	/** Distinguishes one ending from another; null while it is live. */
	readonly endedAt: number | null;
}

/** Internal to the gateway: which sessions are due. */
export function* dueSessions(args: {
	readonly scope: OperatorScope;
	readonly now: number;
	readonly limit: number;
}): Op<readonly DueSession[]> {
	return (yield* all(due, args.now, args.limit)).map((row) => ({
		session: row.id,
		conversation: row.conversation,
		platform: row.platform,
		chatType: row.chat_type,
		work: row.ended_at === null ? "expire" : "finalise",
		endReason: row.end_reason,
		endedAt: row.ended_at,
	}));
}

/** Ends a due session, unless something holds it: a turn, a waiting message, a process, a confirmation. */
export function* expireSession(
	context: Context,
	args: { readonly session: SessionId; readonly policy: ResetPolicy; readonly held?: boolean },
): Op<{ ended: "idle" | "daily" | null }> {
	const session = yield* findSession(args.session);
	if (session.ended_at !== null || session.suspended_at !== null) return { ended: null };
	const busy = (yield* get(runs, session.conversation)) ?? (yield* get(waits, session.conversation));
	const activeProcess =
		busy !== undefined || (yield* isHeld(session.conversation, args.held ?? false, context.now, args.policy));
	const decision = decide(session, args.policy, {
		now: context.now,
		activeProcess,
		at: "watch",
		freshness: 0,
	});
	if (decision.kind === "boundary") {
		yield* end(context, session, decision.reason);
		return { ended: decision.reason as "idle" | "daily" };
	}
	const next = nextDue({ lastActivityAt: session.last_activity_at, policy: args.policy });
	// Already due and held, or the clock went back: never due now again, or the watcher would spin.
	const at = next === null ? null : Math.max(next, context.now + (next <= context.now ? LOOK_AGAIN_MS : 1));
	yield* run(lookAgain, at, session.key);
	return { ended: null };
}

/**
 * After the hooks of an ending have run. Derives a title from the first message if there is none. With `endedAt` only that ending is
 * finalised: the session may be live again meanwhile, or have ended again, which has its own hooks.
 */
export function* finaliseSession(
	context: Context,
	args: { readonly session: SessionId; readonly endedAt?: number | null },
): Op<void> {
	const session = yield* findSession(args.session);
	if (args.endedAt !== undefined && session.ended_at !== args.endedAt) return;
	if (session.ended_at === null)
		throw new KeryxError("session.live", `session ${session.id} is live`, { field: "session" });
	if (session.finalised) return;
	yield* run(finalised, session.key);
	if (session.title_body !== null) return;
	const title = yield* derivedTitle(session);
	if (title !== "")
		yield* giveTitle(context, yield* findConversation(session.conversation), session, title, "derived");
}

function* derivedTitle(session: SessionRow): Op<string> {
	const row = yield* get(firstUserRow, session.key);
	if (!row) return "";
	const text = textOf(
		yield* loadLargeText(session.conversation, unseal<MessageBody>(row.body, row.body_key).content),
	);
	const line = cleanTitle(text.slice(0, 1000));
	const cut = cutTitle(line, DERIVED_TITLE_LENGTH);
	if (cut === line) return line;
	return cleanTitle(cut.includes(" ") ? cut.slice(0, cut.lastIndexOf(" ")) : cut);
}
