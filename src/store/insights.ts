// Combines the insights of many days from one read per day: each read is short, and other reads go in between.
import type { EndReason } from "../domain/index.ts";
import type { Insights } from "./operations/insights.ts";
import { POSITION_ROWS } from "./operations/row-ids.ts";
import type { Spent } from "./operations/turns/usage.ts";
import { OPERATOR } from "./operator.ts";
import type { Store } from "./store.ts";
import type { TurnState } from "./types.ts";

/** The people with the most tokens. */
const MOST_PEOPLE = 50;

/** Later positions in a session count as one. */
const LAST_POSITION = 50;

interface Period<Day extends Stretch> {
	readonly days: readonly (Day & Pick<Insights, "messages" | "turns" | "spent">)[];
	/** How often tools failed, by position in the session; positions without calls are left out. */
	readonly positions: readonly {
		readonly from: number;
		/** Null: and everything after it. */
		readonly to: number | null;
		readonly results: number;
		readonly errors: number;
	}[];
	/** Model costs by person and by profile; most tokens first. */
	readonly people: readonly (Spent & { readonly principal: string | null; readonly name: string | null })[];
	readonly profiles: readonly (Spent & { readonly profile: string })[];
	readonly turns: Readonly<Partial<Record<TurnState, number>>>;
	readonly boundaries: Readonly<Partial<Record<EndReason, number>>>;
	/** From acceptance to answer, to three digits; null if nothing was answered. */
	readonly latency: {
		readonly count: number;
		readonly p50: number | null;
		readonly p95: number | null;
		readonly p99: number | null;
	};
	/** All platforms with conversations active since then, regardless of the filter. */
	readonly platforms: readonly { readonly platform: string; readonly conversations: number }[];
}

interface Stretch {
	readonly from: number;
	readonly to: number;
}

export async function readInsights<Day extends Stretch>(
	store: Pick<Store, "insights" | "activePlatforms" | "namesOf">,
	days: readonly Day[],
	{ platform }: { readonly platform?: string } = {},
): Promise<Period<Day>> {
	const positions = new Map<number, { results: number; errors: number }>();
	const latencies = new Map<number, number>();
	const turns: Partial<Record<TurnState, number>> = {};
	const boundaries: Partial<Record<EndReason, number>> = {};
	const read: Period<Day>["days"][number][] = [];
	const people = new Map<string | null, Spent>();
	const profiles = new Map<string, Spent>();
	for (const day of days) {
		const { from, to } = day;
		const of = await store.insights({
			scope: OPERATOR,
			from,
			to,
			...(platform !== undefined && { platform }),
		});
		read.push({ ...day, messages: of.messages, turns: of.turns, spent: of.spent });
		for (const { principal, profile, spent } of of.spentBy) {
			people.set(principal, together(people.get(principal), spent));
			profiles.set(profile, together(profiles.get(profile), spent));
		}
		for (const { position, results, errors } of of.positions) {
			const at = Math.min(position, LAST_POSITION);
			const before = positions.get(at) ?? { results: 0, errors: 0 };
			positions.set(at, { results: before.results + results, errors: before.errors + errors });
		}
		for (const { ms, count } of of.latencies) latencies.set(ms, (latencies.get(ms) ?? 0) + count);
		addTo(turns, of.turns);
		addTo(boundaries, of.boundaries);
	}
	const since = days[0]?.from;
	const most = [...people].sort(([, a], [, b]) => tokensOf(b) - tokensOf(a)).slice(0, MOST_PEOPLE);
	const names = await store.namesOf({
		scope: OPERATOR,
		principals: most.flatMap(([principal]) => (principal === null ? [] : [principal])),
	});
	return {
		people: most.map(([principal, spent]) => ({
			principal,
			name: principal === null ? null : (names[principal] ?? null),
			...spent,
		})),
		profiles: [...profiles]
			.sort(([, a], [, b]) => tokensOf(b) - tokensOf(a))
			.map(([profile, spent]) => ({ profile, ...spent })),
		days: read,
		positions: [...positions]
			.sort(([a], [b]) => a - b)
			.map(([position, counts]) => ({
				from: position * POSITION_ROWS,
				to: position === LAST_POSITION ? null : (position + 1) * POSITION_ROWS - 1,
				...counts,
			})),
		turns,
		boundaries,
		latency: percentiles(latencies),
		platforms: since === undefined ? [] : await store.activePlatforms({ scope: OPERATOR, since }),
	};
}

function tokensOf({ inputTokens, outputTokens }: Spent): number {
	return inputTokens + outputTokens;
}

function together(before: Spent | undefined, more: Spent): Spent {
	if (!before) return more;
	const costs = new Map(before.costs.map(({ currency, micros }) => [currency, micros]));
	for (const { currency, micros } of more.costs) costs.set(currency, (costs.get(currency) ?? 0) + micros);
	return {
		calls: before.calls + more.calls,
		inputTokens: before.inputTokens + more.inputTokens,
		outputTokens: before.outputTokens + more.outputTokens,
		cachedInputTokens: before.cachedInputTokens + more.cachedInputTokens,
		costs: [...costs].map(([currency, micros]) => ({ currency, micros })),
		unpriced: before.unpriced + more.unpriced,
	};
}

function addTo<Name extends string>(
	sums: Partial<Record<Name, number>>,
	more: Readonly<Partial<Record<Name, number>>>,
): void {
	for (const [name, n] of Object.entries(more) as [Name, number][]) sums[name] = (sums[name] ?? 0) + n;
}

/** By nearest rank: each is a value that occurred. */
function percentiles(counts: ReadonlyMap<number, number>): Period<Stretch>["latency"] {
	const sorted = [...counts].sort(([a], [b]) => a - b);
	const count = sorted.reduce((sum, [, n]) => sum + n, 0);
	const at = (percent: number): number | null => {
		const rank = Math.ceil((percent / 100) * count);
		let passed = 0;
		for (const [ms, n] of sorted) {
			passed += n;
			if (passed >= rank) return ms;
		}
		return null;
	};
	return { count, p50: at(50), p95: at(95), p99: at(99) };
}
