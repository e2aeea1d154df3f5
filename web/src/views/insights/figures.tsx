import { useMemo } from "react";
import { texts } from "../../texts/insights.ts";
import { Marked } from "../../ui/index.ts";
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
				title={texts.figures.whySessionsEnded}
				about={texts.figures.theMessagesOfAnEnded}
				none={texts.figures.noSessionEndedInThis}
				names={[texts.figures.reason, texts.figures.sessions]}
				rows={reasonRows(data)}
			/>
			<BarsFigure
				title={texts.figures.howLongPeopleWaited}
				about={texts.figures.timeFromReceivingAMessage}
				none={texts.figures.nothingWasAnsweredInThis}
				names={[texts.figures.shareOfAnswers, texts.figures.within]}
				rows={latencyRows(data)}
			/>
		</div>
	);
}

function figuresByDay({ days }: InsightsData): readonly FigureProps[] {
	type Day = InsightsData["days"][number];
	const labels = days.map(({ date }) => ({ short: shortDay(date), long: longDay(date) }));
	const daily = {
		unit: texts.figures.day,
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
			title: texts.figures.messages,
			series: [
				series(texts.figures.writtenByPeople, "--accent", ({ messages }) => messages.in),
				series(texts.figures.writtenByTheAgent, "--plot-2", ({ messages }) => messages.out),
				series(texts.figures.toolResults, "--line-strong", ({ messages }) => messages.tool_results),
			],
		},
		{
			...daily,
			title: texts.figures.turnsByOutcome,
			series: outcomes.map(({ state, name, colour }) =>
				series(name, colour, ({ turns }) => turns[state] ?? 0),
			),
		},
		{
			...daily,
			title: texts.figures.tokens,
			series: [
				series(texts.figures.readByTheModel, "--accent", ({ tokens }) => tokens.input - tokens.cached_input),
				series(texts.figures.readFromItsCache, "--line-strong", ({ tokens }) => tokens.cached_input),
				series(texts.figures.writtenByTheModel, "--plot-2", ({ tokens }) => tokens.output),
			],
		},
		...(currencies.length === 0 ? [""] : currencies).map((currency) => {
			const money = (micros: number) => (currency === "" ? inWhole(micros) : inMoney(micros, currency));
			const of = ({ costs }: Day) => costs.find((cost) => cost.currency === currency)?.micros ?? 0;
			return {
				...daily,
				title: currencies.length > 1 ? texts.figures.costIn(currency) : texts.figures.cost,
				format: money,
				axis: money,
				whole: false,
				series: [series(texts.figures.modelCallsWithAKnown, "--accent", of, money)],
				...(currency === "" && { none: <Marked text={texts.figures.noCallHasAPrice} /> }),
				extraColumns: [
					{ name: texts.figures.callsWithoutAPrice, values: days.map((day) => inWhole(day.unpriced_calls)) },
				],
			};
		}),
	];
}
