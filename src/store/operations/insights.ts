// How it went over a time: what was said, how turns ended, how often tools failed, why sessions ended. Read from the rows
// themselves, over the conversations that were active since then, a page of them at a time by their index.
import type { ConversationId, EndReason } from "../../domain/index.ts";
import { all, get, type Op, sql } from "../query.ts";
import type { Scope, TurnState } from "../types.ts";
import { conversations } from "./read-conversations.ts";

export interface Insights {
	readonly conversations: number;
	readonly messages: number;
	readonly toolResults: number;
	readonly toolErrors: number;
	readonly turns: Readonly<Partial<Record<TurnState, number>>>;
	/** Sessions that ended since then, by reason. */
	readonly boundaries: Readonly<Partial<Record<EndReason, number>>>;
}

export interface InsightsPlace {
	readonly lastActivityAt: number;
	readonly id: ConversationId;
}

const sessionsSince = sql<{ key: number; end_reason: EndReason | null }>(
	"SELECT key, end_reason FROM sessions WHERE conversation = ? AND (ended_at IS NULL OR ended_at >= ?)",
);
const turnsSince = sql<{ state: TurnState; n: number }>(
	"SELECT state, count(*) AS n FROM turns WHERE session = ? AND started_at >= ? GROUP BY state",
);
const rowsSince = sql<{ messages: number; results: number; errors: number }>(
	`SELECT count(*) AS messages, count(CASE WHEN role = 'tool' THEN 1 END) AS results,
		count(CASE WHEN role = 'tool' AND is_error = 1 THEN 1 END) AS errors
	FROM messages WHERE session = ? AND counted = 1 AND created_at >= ?`,
);

/** One page; the sums of all pages are the whole. Undone messages count: they were said. */
export function* insights(args: {
	readonly scope: Scope;
	readonly since: number;
	/** Conversations in a page. */
	readonly limit: number;
	/** `next` of the page before. */
	readonly after?: InsightsPlace;
}): Op<Insights & { readonly next: InsightsPlace | null }> {
	const { scope, since, limit, after } = args;
	const page = yield* conversations({ scope, limit, activeSince: since, ...(after && { after }) });
	const turns: Partial<Record<TurnState, number>> = {};
	const boundaries: Partial<Record<EndReason, number>> = {};
	let [messages, toolResults, toolErrors] = [0, 0, 0];
	let active = 0;
	for (const { id } of page) {
		const sessions = yield* all(sessionsSince, id, since);
		if (sessions.length > 0) active++;
		for (const { key, end_reason } of sessions) {
			if (end_reason !== null) boundaries[end_reason] = (boundaries[end_reason] ?? 0) + 1;
			for (const { state, n } of yield* all(turnsSince, key, since)) turns[state] = (turns[state] ?? 0) + n;
			const rows = yield* get(rowsSince, key, since);
			messages += rows?.messages ?? 0;
			toolResults += rows?.results ?? 0;
			toolErrors += rows?.errors ?? 0;
		}
	}
	const last = page.at(-1);
	return {
		conversations: active,
		messages,
		toolResults,
		toolErrors,
		turns,
		boundaries,
		next: last && page.length === limit ? { lastActivityAt: last.lastActivityAt, id: last.id } : null,
	};
}
