// Statistics of a time range: messages, cost, outcomes of turns, tool failures, ends of sessions, waiting times. Each sum reads one index
// range (message ids are times), so the cost depends only on that range. Ask for long periods day by day, to not block other reads.
import { type EndReason, parseSource } from "../../domain/index.ts";
import { unseal } from "../codec.ts";
import { all, get, type Op, sql } from "../query.ts";
import type { OperatorScope, TurnState } from "../types.ts";
import { POSITION_ROWS } from "./row-ids.ts";
import { IDS_PER_MS } from "./transcript/append.ts";
import { SPENT_SUMS, type Spent, type SpentRow, totalSpent } from "./turns/usage.ts";

export interface Insights {
	/** Includes undone messages. */
	readonly messages: { readonly in: number; readonly out: number; readonly toolResults: number };
	/** Tool results by position in their session: position n starts at row n * POSITION_ROWS. */
	readonly positions: readonly {
		readonly position: number;
		readonly results: number;
		readonly errors: number;
	}[];
	/** Started answers, by their current state. */
	readonly turns: Readonly<Partial<Record<TurnState, number>>>;
	/** Of the started turns. */
	readonly spent: Spent;
	/** The same by the person answered and profile; null: unknown person. */
	readonly spentBy: readonly {
		readonly principal: string | null;
		readonly profile: string;
		readonly spent: Spent;
	}[];
	/** Sessions that ended, by reason. */
	readonly boundaries: Readonly<Partial<Record<EndReason, number>>>;
	/** From acceptance to answer, rounded to three digits to keep the number of values small. */
	readonly latencies: readonly { readonly ms: number; readonly count: number }[];
}

interface Stretch {
	readonly scope: OperatorScope;
	readonly from: number;
	/** No longer part of it. */
	readonly to: number;
	readonly platform?: string;
}

const OF_CONVERSATION = `(CAST(? AS TEXT) IS NULL
	OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.conversation AND c.platform = ?))`;
const BEGUN = `t.started_at >= ? AND t.started_at < ? AND ${OF_CONVERSATION}`;

const rowsIn = sql<{ role: string; position: number; n: number; errors: number }>(
	`SELECT m.role, CASE WHEN m.role = 'tool' THEN (m.seq - 1) / ${POSITION_ROWS} ELSE 0 END AS position, count(*) AS n,
		count(CASE WHEN m.is_error = 1 THEN 1 END) AS errors
	FROM messages m WHERE m.id >= ? AND m.id < ? AND m.counted = 1 AND (CAST(? AS TEXT) IS NULL
		OR EXISTS (SELECT 1 FROM sessions s JOIN conversations c ON c.id = s.conversation WHERE s.key = m.session AND c.platform = ?))
	GROUP BY 1, 2 ORDER BY 1, 2`,
);
const turnsIn = sql<{ state: TurnState; n: number }>(
	`SELECT t.state, count(*) AS n FROM turns t WHERE ${BEGUN} AND t.purpose = 'answer' GROUP BY t.state`,
);
const spentIn = sql<SpentRow>(
	`SELECT ${SPENT_SUMS} FROM turns t JOIN model_calls m ON m.turn = t.id WHERE ${BEGUN} GROUP BY m.currency ORDER BY m.currency`,
);
const spentByIn = sql<SpentRow & { principal: string | null; profile: string }>(
	`SELECT m.principal, m.profile, ${SPENT_SUMS} FROM turns t JOIN model_calls m ON m.turn = t.id WHERE ${BEGUN}
	GROUP BY m.principal, m.profile, m.currency ORDER BY m.principal, m.profile, m.currency`,
);
const waitsIn = sql<{ ms: number; n: number }>(
	`SELECT i.disposed_at - i.accepted_at AS ms, count(*) AS n FROM turns t JOIN inbox i ON i.turn = t.id
	WHERE ${BEGUN} AND i.kind = 'person' AND i.disposition IN ('answered', 'merged') GROUP BY 1`,
);
const endsIn = sql<{ end_reason: EndReason; n: number }>(
	`SELECT t.end_reason, count(*) AS n FROM sessions t WHERE t.ended_at >= ? AND t.ended_at < ? AND ${OF_CONVERSATION}
	GROUP BY t.end_reason`,
);

export function* insights({ from, to, platform = "" }: Stretch): Op<Insights> {
	const only = platform === "" ? null : platform;
	const stretch = [from, to, only, only] as const;
	const rows = yield* all(rowsIn, from * IDS_PER_MS, to * IDS_PER_MS, only, only);
	const count = (role: string): number =>
		rows.reduce((sum, row) => (row.role === role ? sum + row.n : sum), 0);
	return {
		messages: { in: count("user"), out: count("assistant"), toolResults: count("tool") },
		positions: rows
			.filter(({ role }) => role === "tool")
			.map(({ position, n, errors }) => ({ position, results: n, errors })),
		turns: Object.fromEntries((yield* all(turnsIn, ...stretch)).map(({ state, n }) => [state, n])),
		spent: totalSpent(yield* all(spentIn, ...stretch)),
		spentBy: grouped(yield* all(spentByIn, ...stretch)),
		boundaries: Object.fromEntries(
			(yield* all(endsIn, ...stretch)).map(({ end_reason, n }) => [end_reason, n]),
		),
		latencies: rounded(yield* all(waitsIn, ...stretch)),
	};
}

function grouped(
	rows: readonly (SpentRow & { readonly principal: string | null; readonly profile: string })[],
): Insights["spentBy"] {
	const groups = Map.groupBy(rows, ({ principal, profile }) => JSON.stringify([principal, profile]));
	return [...groups.values()].map((group) => {
		const [{ principal, profile }] = group as [(typeof rows)[number]];
		return { principal, profile, spent: totalSpent(group) };
	});
}

function rounded(waits: readonly { readonly ms: number; readonly n: number }[]): Insights["latencies"] {
	const counts = new Map<number, number>();
	for (const { ms, n } of waits) {
		const about = Number(Math.max(0, ms).toPrecision(3));
		counts.set(about, (counts.get(about) ?? 0) + n);
	}
	return [...counts].map(([ms, count]) => ({ ms, count }));
}

const newestOf = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE principal = ? ORDER BY last_activity_at DESC LIMIT 1",
);

/** People's names from where they wrote last; absent if no conversation has one. */
export function* namesOf(args: {
	readonly scope: OperatorScope;
	readonly principals: readonly string[];
}): Op<Readonly<Record<string, string>>> {
	const names: Record<string, string> = {};
	for (const principal of args.principals) {
		const row = yield* get(newestOf, principal);
		const source = row && parseSource(unseal(row.source_body, row.body_key));
		const name = source?.userName ?? source?.userId;
		if (name !== undefined) names[principal] = name;
	}
	return names;
}

const activeSince = sql<{ platform: string; n: number }>(
	`SELECT platform, count(*) AS n FROM conversations WHERE last_activity_at >= ? AND message_count > 0
	GROUP BY platform ORDER BY platform`,
);

/** How many conversations per platform were active; those with only commands do not count. */
export function* activePlatforms(args: {
	readonly scope: OperatorScope;
	readonly since: number;
}): Op<readonly { readonly platform: string; readonly conversations: number }[]> {
	return (yield* all(activeSince, args.since)).map(({ platform, n }) => ({ platform, conversations: n }));
}
