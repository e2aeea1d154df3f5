import { texts } from "../../texts/insights.ts";
import type { InsightsData } from "./data.ts";
import type { FigureProps } from "./figure-props.ts";
import { inPercent, inWhole } from "./words.ts";

type Position = InsightsData["tool_errors"][number];

/** The rate of failed tool calls by position in the session. Buckets without calls have no value. */
export function toolErrors({ tool_errors }: InsightsData, cap: number | null): FigureProps {
	const first = tool_errors.find((one): one is Position & { to: number } => one.to !== null);
	const step = first ? first.to - first.from + 1 : 20;
	const buckets = Math.max(0, ...tool_errors.map(({ from }) => Math.floor(from / step) + 1));
	const at = new Map(tool_errors.map((one) => [Math.floor(one.from / step), one]));
	const all = Array.from({ length: buckets }, (_, bucket) => ({ bucket, found: at.get(bucket) }));
	const results = tool_errors.reduce((sum, one) => sum + one.results, 0);
	const errors = tool_errors.reduce((sum, one) => sum + one.errors, 0);
	return {
		title: texts.toolErrors.toolErrorsByPositionIn,
		about: (
			<>
				{texts.toolErrors.inLongSessionsTheModel} {capInWords(cap)}
			</>
		),
		unit: texts.toolErrors.messages,
		labels: all.map(({ bucket, found }) => {
			const range =
				found?.to === null ? `${bucket * step + 1}+` : `${bucket * step + 1}–${(bucket + 1) * step}`;
			return { short: range, long: texts.toolErrors.messages2(range) };
		}),
		series: [
			{
				name: texts.toolErrors.failedCalls,
				colour: "--danger",
				values: all.map(({ found }) => (found ? found.errors / found.results : null)),
				...(results > 0 && { total: inPercent(errors / results) }),
			},
		],
		extraColumns: [
			{
				name: texts.toolErrors.failed,
				values: all.map(({ found }) => (found ? inWhole(found.errors) : "–")),
			},
			{
				name: texts.toolErrors.results,
				values: all.map(({ found }) => (found ? inWhole(found.results) : "–")),
			},
		],
		shape: "line",
		format: inPercent,
		wide: true,
		...(cap !== null && cap > 0 && { mark: { at: cap / step - 0.5, name: limitMark(cap) } }),
	};
}

function capInWords(cap: number | null): string {
	if (cap === null) return "";
	if (cap === 0) return texts.toolErrors.noLimitIsSetSo;
	return texts.toolErrors.theLimitIsMessages(inWhole(cap));
}

function limitMark(cap: number): string {
	return texts.toolErrors.limit(inWhole(cap));
}
