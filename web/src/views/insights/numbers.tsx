import { duration } from "../../lib/time.ts";
import { texts } from "../../texts/insights.ts";
import type { InsightsData } from "./data.ts";
import { inMoney, inPercent, inShort, inWhole } from "./words.ts";

interface Tile {
	readonly name: string;
	readonly value: string;
	readonly about: string;
}

/** The totals of the whole period. */
export function Numbers({ data }: { readonly data: InsightsData }) {
	return (
		<dl className="mb-6 grid grid-cols-2 gap-px overflow-hidden rounded-md border bg-line @xl:grid-cols-3 @4xl:grid-cols-6">
			{tilesOf(data).map(({ name, value, about }) => (
				<div key={name} className="flex flex-col bg-ground px-4 py-3">
					<dt className="text-xs text-ink-3">{name}</dt>
					<dd className="text-xl font-semibold tracking-[-0.015em] tabular-nums">{value}</dd>
					<dd className="text-xs text-ink-3">{about}</dd>
				</div>
			))}
		</dl>
	);
}

function tilesOf({ days, tool_errors, latency }: InsightsData): readonly Tile[] {
	const sum = (of: (day: InsightsData["days"][number]) => number) =>
		days.reduce((total, day) => total + of(day), 0);
	const [written, answered] = [sum(({ messages }) => messages.in), sum(({ messages }) => messages.out)];
	const turns = sum((day) => Object.values(day.turns).reduce((total, n) => total + n, 0));
	const completed = sum((day) => day.turns.completed ?? 0);
	const [input, output] = [sum(({ tokens }) => tokens.input), sum(({ tokens }) => tokens.output)];
	const cached = sum(({ tokens }) => tokens.cached_input);
	const results = tool_errors.reduce((total, one) => total + one.results, 0);
	const errors = tool_errors.reduce((total, one) => total + one.errors, 0);
	return [
		{
			name: texts.numbers.messages,
			value: inShort(written + answered),
			about: texts.numbers.inOut(inWhole(written), inWhole(answered)),
		},
		{
			name: texts.numbers.turns,
			value: inShort(turns),
			about: turns === 0 ? texts.numbers.noneStarted : texts.numbers.answered(inPercent(completed / turns)),
		},
		{
			name: texts.numbers.tokens,
			value: inShort(input + output),
			about:
				cached > 0
					? texts.numbers.inCachedOut(inShort(input), inShort(cached), inShort(output))
					: texts.numbers.inOut2(inShort(input), inShort(output)),
		},
		costTile(spentIn(days)),
		{
			name: texts.numbers.toolErrors,
			value: results === 0 ? "–" : inPercent(errors / results),
			about:
				results === 0
					? texts.numbers.noToolsUsed
					: texts.numbers.ofResults(inWhole(errors), inWhole(results)),
		},
		{
			name: texts.numbers.waitForAnAnswer,
			value: latency.p50_ms === null ? "–" : duration(latency.p50_ms),
			about: latency.p95_ms === null ? texts.numbers.noAnswers : `p95 ${duration(latency.p95_ms)}`,
		},
	];
}

function spentIn(days: InsightsData["days"]) {
	const costs = new Map<string, number>();
	for (const day of days)
		for (const { currency, micros } of day.costs) costs.set(currency, (costs.get(currency) ?? 0) + micros);
	return { costs, unpriced: days.reduce((total, day) => total + day.unpriced_calls, 0) };
}

function costTile({
	costs,
	unpriced,
}: {
	readonly costs: ReadonlyMap<string, number>;
	readonly unpriced: number;
}): Tile {
	const sums = [...costs].map(([currency, micros]) => inMoney(micros, currency));
	const about =
		unpriced === 0
			? texts.numbers.allCallsHaveAPrice
			: unpriced === 1
				? texts.numbers.n1CallWithoutAPrice
				: texts.numbers.callsWithoutAPrice(inWhole(unpriced));
	return {
		name: texts.numbers.cost,
		value: sums.length === 0 ? "–" : sums.join(" + "),
		about: sums.length === 0 && unpriced === 0 ? texts.numbers.noCallsToAModel : about,
	};
}
