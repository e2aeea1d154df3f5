// A session that continues or branches from another shows that one's rows first. A chain is the composition of a transcript, oldest
// first: each segment is a session and its last included seq.
import type { SessionId } from "../../../domain/index.ts";
import { get, type Op, sql } from "../../query.ts";
import { type SessionRow, sessionOfKey } from "../sessions/sessions.ts";

export interface Segment {
	readonly session: number;
	readonly sessionId: SessionId;
	readonly upTo: number;
	/** How the next segment is attached; null for the last. */
	readonly joint: "continue" | "branch" | null;
}

const lastSeq = sql<{ seq: number | null }>("SELECT max(seq) AS seq FROM messages WHERE session = ?");

const countedIn = sql<{ n: number }>(
	`SELECT count(*) AS n FROM messages m WHERE m.session = ? AND m.seq <= ? AND m.counted = 1 AND NOT EXISTS (
		SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL AND m.seq BETWEEN h.from_seq AND h.to_seq)`,
);

export function* lastSeqOf(session: number): Op<number> {
	return (yield* get(lastSeq, session))?.seq ?? 0;
}

export function* chainOf(session: SessionRow): Op<Segment[]> {
	const segments: Segment[] = [
		{ session: session.key, sessionId: session.id, upTo: yield* lastSeqOf(session.key), joint: null },
	];
	let at = session;
	while (at.base_session !== null) {
		const base: SessionRow = yield* sessionOfKey(at.base_session);
		segments.unshift({ session: base.key, sessionId: base.id, upTo: at.base_seq ?? 0, joint: at.base_kind });
		at = base;
	}
	return segments;
}

/** The counted, visible rows of a chain. */
export function* countOf(chain: readonly Segment[]): Op<number> {
	let n = 0;
	for (const { session, upTo } of chain) n += (yield* get(countedIn, session, upTo))?.n ?? 0;
	return n;
}

/** The end of a chain that undo may reach: nothing before a branch point. */
export function sinceBranch(chain: readonly Segment[]): readonly Segment[] {
	const cut = chain.findLastIndex((segment) => segment.joint === "branch");
	return chain.slice(cut + 1);
}
