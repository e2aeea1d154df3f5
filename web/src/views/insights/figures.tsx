import { useMemo } from "react";
import { BarsFigure } from "./bars-figure.tsx";
import type { InsightsData } from "./data.ts";
import { Figure } from "./figure.tsx";
import type { FigureProps } from "./figure-props.ts";
import { latencyRows, reasonRows } from "./rows.ts";
import { toolErrors } from "./tool-errors.tsx";
import { inMoney, inShort, inWhole, longDay, OUTCOMES, shortDay } from "./words.ts";

export function Figures({ data, cap }: { readonly data: InsightsData; readonly cap: number | null }) {
	const byDay = useMemo(() => figuresByDay(data), [data]);
	const tools = useMemo(() => toolErrors(data, cap), [data, cap]);
	return (
		<div className="grid grid-cols-1 gap-x-8 gap-y-7 @4xl:grid-cols-2">
			{byDay.map((figure) => (
				<Figure key={figure.title} {...figure} />
			))}
			<Figure {...tools} />
			<BarsFigure
				title="Why sessions ended"
				about="A session ends at a boundary; what was said before it stays, and can be continued."
				none="No session ended in this time."
				names={["Reason", "Sessions"]}
				rows={reasonRows(data)}
			/>
			<BarsFigure
				title="How long people waited"
				about="From a message's acceptance to its answer: half of them took no longer than p50, 95 of 100 no longer than p95."
				none="Nothing was answered in this time."
				names={["Share of the answers", "Within"]}
				rows={latencyRows(data)}
			/>
		</div>
	);
}

function figuresByDay({ days }: InsightsData): readonly FigureProps[] {
	type Day = InsightsData["days"][number];
	const labels = days.map(({ date }) => ({ short: shortDay(date), long: longDay(date) }));
	const daily = {
		places: "Day",
		labels,
		shape: "bars" as const,
		format: inWhole,
		axis: inShort,
		whole: true,
	};
	const series = (name: string, colour: string, of: (day: Day) => number, total = inShort) => {
		const values = days.map(of);
		return { name, colour, values, total: total(values.reduce((sum, n) => sum + n, 0)) };
	};
	const currencies = [...new Set(days.flatMap(({ costs }) => costs.map(({ currency }) => currency)))];
	const outcomes = OUTCOMES.filter(
		({ state }) => state === "completed" || days.some(({ turns }) => (turns[state] ?? 0) > 0),
	);
	return [
		{
			...daily,
			title: "Messages",
			series: [
				series("Written by people", "--accent", ({ messages }) => messages.in),
				series("Written by the agent", "--plot-2", ({ messages }) => messages.out),
				series("Results of tools", "--line-strong", ({ messages }) => messages.tool_results),
			],
		},
		{
			...daily,
			title: "Turns by outcome",
			series: outcomes.map(({ state, name, colour }) =>
				series(name, colour, ({ turns }) => turns[state] ?? 0),
			),
		},
		{
			...daily,
			title: "Tokens",
			series: [
				series("Read by the model", "--accent", ({ tokens }) => tokens.input),
				series("Written by the model", "--plot-2", ({ tokens }) => tokens.output),
			],
		},
		...(currencies.length === 0 ? [""] : currencies).map((currency) => {
			const money = (micros: number) => (currency === "" ? inWhole(micros) : inMoney(micros, currency));
			const of = ({ costs }: Day) => costs.find((cost) => cost.currency === currency)?.micros ?? 0;
			return {
				...daily,
				title: currencies.length > 1 ? `Cost in ${currency}` : "Cost",
				format: money,
				axis: money,
				whole: false,
				series: [series("Model calls with a known price", "--accent", of, money)],
				beside: [{ name: "Calls without a price", values: days.map((day) => inWhole(day.unpriced_calls)) }],
			};
		}),
	];
}
