// Totals of model calls and their cost.
import type { ConversationId, SessionId } from "../../../domain/index.ts";
import { all, type Op, sql } from "../../query.ts";
import type { OperatorScope, Scope } from "../../types.ts";
import { assertSees } from "../people/scope.ts";
import { findLive } from "../sessions/sessions.ts";

export interface Spent {
	readonly calls: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** The part of the input from a provider's cache. */
	readonly cachedInputTokens: number;
	readonly costs: readonly { readonly currency: string; readonly micros: number }[];
	/** Calls whose price is not known. */
	readonly unpriced: number;
}

export interface SpentRow {
	readonly currency: string;
	readonly calls: number;
	readonly input: number;
	readonly output: number;
	readonly cached: number;
	readonly cost: number;
	readonly priced: number;
}

/** Over model calls `m`, by currency. */
export const SPENT_SUMS = `m.currency, count(*) AS calls, CAST(sum(m.input_tokens) AS BIGINT) AS input,
	CAST(sum(m.output_tokens) AS BIGINT) AS output, CAST(sum(m.cached_tokens) AS BIGINT) AS cached, CAST(coalesce(sum(m.cost_micros), 0) AS BIGINT) AS cost,
	count(m.cost_micros) AS priced`;
const inSession = sql<SpentRow>(
	`SELECT ${SPENT_SUMS} FROM turns t JOIN model_calls m ON m.turn = t.id WHERE t.session = ? GROUP BY m.currency ORDER BY m.currency`,
);
/** A later call belongs to a session that had not ended before. */
const inConversation = sql<SpentRow>(
	`SELECT ${SPENT_SUMS} FROM sessions s JOIN turns t ON t.session = s.key JOIN model_calls m ON m.turn = t.id
	WHERE s.conversation = ? AND (s.ended_at IS NULL OR s.ended_at >= ?) AND m.ended_at >= ? GROUP BY m.currency ORDER BY m.currency`,
);

const inTurn = sql<SpentRow>(
	`SELECT ${SPENT_SUMS} FROM model_calls m WHERE m.turn = ? GROUP BY m.currency ORDER BY m.currency`,
);

export function* turnUsage(args: { readonly scope: OperatorScope; readonly turn: string }): Op<Spent> {
	return totalSpent(yield* all(inTurn, args.turn));
}

/** For the live session, and for the conversation since a time. A session that continues another counts only its own calls. */
export function* usage(args: {
	readonly scope: Scope;
	readonly conversation: ConversationId;
	readonly since: number;
}): Op<{ session: (Spent & { readonly id: SessionId }) | null; since: Spent }> {
	yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	const live = yield* findLive(args.conversation);
	return {
		session: live ? { id: live.id, ...totalSpent(yield* all(inSession, live.key)) } : null,
		since: totalSpent(yield* all(inConversation, args.conversation, args.since, args.since)),
	};
}

export function totalSpent(rows: readonly SpentRow[]): Spent {
	const sum = (of: (row: SpentRow) => number): number => rows.reduce((all, row) => all + of(row), 0);
	return {
		calls: sum((row) => row.calls),
		inputTokens: sum((row) => row.input),
		outputTokens: sum((row) => row.output),
		cachedInputTokens: sum((row) => row.cached),
		costs: rows.filter(({ cost }) => cost > 0).map(({ currency, cost }) => ({ currency, micros: cost })),
		unpriced: sum((row) => row.calls - row.priced),
	};
}
