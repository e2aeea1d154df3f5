import { duration } from "../../lib/time.ts";
import type { InsightsData } from "./data.ts";
import { inMoney, inPercent, inShort, inWhole } from "./words.ts";

interface Tile {
	readonly name: string;
	readonly value: string;
	readonly about: string;
}

/** The sums of the whole period. */
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
			name: "Messages",
			value: inShort(written + answered),
			about: `${inWhole(written)} in, ${inWhole(answered)} out`,
		},
		{
			name: "Turns",
			value: inShort(turns),
			about: turns === 0 ? "none was begun" : `${inPercent(completed / turns)} answered`,
		},
		{
			name: "Tokens",
			value: inShort(input + output),
			about: `${inShort(input)} in${cached > 0 ? ` (${inShort(cached)} from a cache)` : ""}, ${inShort(output)} out`,
		},
		costTile(spentIn(days)),
		{
			name: "Tool errors",
			value: results === 0 ? "–" : inPercent(errors / results),
			about: results === 0 ? "no tool was used" : `${inWhole(errors)} of ${inWhole(results)} results`,
		},
		{
			name: "Wait for an answer",
			value: latency.p50_ms === null ? "–" : duration(latency.p50_ms),
			about: latency.p95_ms === null ? "nothing was answered" : `p95 ${duration(latency.p95_ms)}`,
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
			? "every call has a price"
			: `${inWhole(unpriced)} ${unpriced === 1 ? "call" : "calls"} without a price`;
	return {
		name: "Cost",
		value: sums.length === 0 ? "–" : sums.join(" + "),
		about: sums.length === 0 && unpriced === 0 ? "no model with a price was asked" : about,
	};
}
