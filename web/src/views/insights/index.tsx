// Statistics: totals, plots and tables of the last days. The period and the platform are in the address.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChartNoAxesColumn } from "lucide-react";
import { useId } from "react";
import { api, apiKey, useApi } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/insights.ts";
import { Empty, ErrorState, Page, platformName, Select, Skeleton } from "../../ui/index.ts";
import type { InsightsData } from "./data.ts";
import { Figures } from "./figures.tsx";
import { Numbers } from "./numbers.tsx";
import { Spenders } from "./spenders.tsx";

const PERIODS = ["7", "30", "90"] as const;
type Period = (typeof PERIODS)[number];
/** Totals over many days are not read again after every event. */
const FRESH_MS = 5000;
const AGAIN_MS = 30_000;

export function InsightsView() {
	const asked = useSearch({ from: "/insights" });
	const navigate = useNavigate({ from: "/insights" });
	const period = PERIODS.find((one) => one === asked.period) ?? "30";
	const { platform } = asked;
	const { data, error, refetch, isPlaceholderData } = useInsights(period, platform);
	const cap = useCap();
	return (
		<Page
			title={texts.view.insights}
			about={data && texts.view.daysIn(spaced(data.time_zone))}
			actions={
				<>
					<PlatformChoice
						value={platform}
						platforms={data?.platforms ?? []}
						onChange={(next) =>
							void navigate({
								search: ({ platform: _, ...rest }) => (next === "" ? rest : { ...rest, platform: next }),
								replace: true,
							})
						}
					/>
					<PeriodChoice
						value={period}
						onChange={(next) =>
							void navigate({ search: (before) => ({ ...before, period: next }), replace: true })
						}
					/>
				</>
			}
		>
			{data ? (
				<div aria-busy={isPlaceholderData} className="@container mx-auto w-full max-w-320 px-4 py-4 lg:px-6">
					{isEmpty(data) ? (
						<NothingYet />
					) : (
						<>
							<Numbers data={data} />
							<Figures data={data} cap={cap} />
							<Spenders data={data} />
						</>
					)}
				</div>
			) : error ? (
				<ErrorState error={error} onRetry={() => void refetch()} />
			) : (
				<Loading />
			)}
		</Page>
	);
}

function useInsights(period: Period, platform: string | undefined) {
	const input = { days: Number(period), ...(platform !== undefined && { platform }) };
	return useQuery({
		queryKey: apiKey("insights", input),
		queryFn: ({ signal }) => api.insights(input, signal),
		placeholderData: keepPreviousData,
		staleTime: FRESH_MS,
		refetchInterval: AGAIN_MS,
	});
}

/** The message limit of a session; null if it is not known (yet). */
function useCap(): number | null {
	const { data } = useApi("config", {}, { on: ["config"] });
	const value = data?.entries.find(({ key }) => key === "session_reset.max_messages")?.value;
	return typeof value === "number" ? value : null;
}

function PeriodChoice({
	value,
	onChange,
}: {
	readonly value: Period;
	readonly onChange: (value: Period) => void;
}) {
	const name = useId();
	return (
		<fieldset className="flex h-8 overflow-hidden rounded-sm border border-line-strong/60">
			<legend className="sr-only">{texts.view.period}</legend>
			{PERIODS.map((period) => (
				<label
					key={period}
					className={classes(
						"flex cursor-pointer items-center px-2.5 whitespace-nowrap not-first:border-l has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:-outline-offset-2",
						period === value ? "bg-selected font-medium text-ink" : "bg-raised text-ink-2 hover:bg-hover",
					)}
				>
					<input
						type="radio"
						name={name}
						value={period}
						checked={period === value}
						onChange={() => onChange(period)}
						className="sr-only"
					/>
					{period}
					<span className="max-sm:sr-only">{texts.view.days}</span>
				</label>
			))}
		</fieldset>
	);
}

function PlatformChoice({
	value,
	platforms,
	onChange,
}: {
	readonly value: string | undefined;
	readonly platforms: InsightsData["platforms"];
	readonly onChange: (value: string) => void;
}) {
	const known = platforms.map(({ platform }) => platform);
	const all = value === undefined || known.includes(value) ? known : [...known, value];
	return (
		<Select
			aria-label={texts.view.platform}
			className="max-w-44"
			value={value ?? ""}
			onChange={({ target }) => onChange(target.value)}
		>
			<option value="">{texts.view.allPlatforms}</option>
			{all.map((platform) => (
				<option key={platform} value={platform}>
					{platformName(platform)}
				</option>
			))}
		</Select>
	);
}

function isEmpty({ days, boundaries }: InsightsData): boolean {
	const happened = days.some(
		({ messages, turns }) => messages.in + messages.out > 0 || Object.keys(turns).length > 0,
	);
	return !happened && Object.keys(boundaries).length === 0;
}

function NothingYet() {
	return (
		<Empty icon={<ChartNoAxesColumn size={24} />} title={texts.view.nothingHappenedInThisPeriod}>
			{texts.view.chartsOfMessagesTokensCost}
		</Empty>
	);
}

function Loading() {
	return (
		<div role="status" aria-label={texts.view.loading} className="mx-auto w-full max-w-320 px-4 py-4 lg:px-6">
			<Skeleton className="mb-6 h-18" />
			<div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
				{["one", "two", "three", "four"].map((one) => (
					<Skeleton key={one} className="h-64" />
				))}
			</div>
		</div>
	);
}

function spaced(timeZone: string): string {
	return timeZone.replaceAll("_", " ");
}
