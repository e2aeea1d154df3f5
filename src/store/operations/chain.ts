// A session that continues or branches from another shows that one's rows before its own. A chain is what a transcript is
// made of, oldest first: each segment a session and the last seq of it that belongs.
import type { SessionId } from "../../domain/index.ts";
import { get, type Op, sql } from "../query.ts";
import { type SessionRow, sessionOfKey } from "./sessions.ts";

export interface Segment {
	readonly session: number;
	readonly sessionId: SessionId;
	readonly upTo: number;
	/** How the next segment hangs on this one; null for the last. */
	readonly joint: "continue" | "branch" | null;
}

const lastSeq = sql<{ seq: number | null }>("SELECT max(seq) AS seq FROM messages WHERE session = ?");

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

/** The end of a chain that undo may reach: nothing before a branch point. */
export function sinceBranch(chain: readonly Segment[]): readonly Segment[] {
	const cut = chain.findLastIndex((segment) => segment.joint === "branch");
	return chain.slice(cut + 1);
}
