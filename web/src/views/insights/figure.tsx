// One plot with its name and legend, and the same numbers as a table for anyone who cannot see the plot or prefers the table.

import { Table2 } from "lucide-react";
import { lazy, type ReactNode, Suspense, useId, useState } from "react";
import { texts } from "../../texts/insights.ts";
import { Button, type Column, Skeleton, Table } from "../../ui/index.ts";
import type { FigureProps, Series } from "./figure-props.ts";

const Plot = lazy(async () => ({ default: (await import("./plot.tsx")).Plot }));

export function Figure(props: FigureProps) {
	const [pointed, setPointed] = useState<number | null>(null);
	const { title, about, labels, series, format, none, wide = false } = props;
	if (none !== undefined)
		return (
			<Frame title={title} about={about} wide={wide} table={<NumbersTable {...props} />}>
				<p className="mt-3 text-ink-3">{none}</p>
			</Frame>
		);
	return (
		<Frame
			title={title}
			about={about}
			wide={wide}
			table={<NumbersTable {...props} />}
			aside={
				<Legend
					series={series}
					format={format}
					pointed={pointed}
					pointLabel={pointed === null ? null : (labels[pointed]?.long ?? null)}
				/>
			}
		>
			<Suspense fallback={<Skeleton className="h-50" />}>
				<Plot figure={props} onPoint={setPointed} />
			</Suspense>
		</Frame>
	);
}

/** The frame shared by all figures. */
export function Frame({
	title,
	about,
	wide = false,
	table,
	aside,
	children,
}: {
	readonly title: string;
	readonly about?: ReactNode;
	readonly wide?: boolean;
	readonly table: ReactNode;
	readonly aside?: ReactNode;
	readonly children: ReactNode;
}) {
	const [asTable, setAsTable] = useState(false);
	const heading = useId();
	const shown = asTable ? texts.figure.showThePlot : texts.figure.showAsTable;
	return (
		<section
			aria-labelledby={heading}
			className={wide ? "flex min-w-0 flex-col @4xl:col-span-2" : "flex min-w-0 flex-col"}
		>
			<header className="flex items-center gap-2">
				<h2 id={heading} className="font-semibold">
					{title}
				</h2>
				<Button
					look="quiet"
					size="sm"
					className="ml-auto"
					icon={<Table2 size={14} />}
					aria-label={`${shown}: ${title}`}
					onClick={() => setAsTable(!asTable)}
				>
					{shown}
				</Button>
			</header>
			{about !== undefined && <p className="max-w-160 text-sm text-ink-2">{about}</p>}
			{asTable ? (
				<div className="mt-2 max-h-80 overflow-y-auto rounded-sm border">{table}</div>
			) : (
				<>
					{aside}
					{children}
				</>
			)}
		</section>
	);
}

/** Shows the values at the selected point, otherwise the totals. Its height never changes. */
function Legend({
	series,
	format,
	pointed,
	pointLabel,
}: {
	readonly series: readonly Series[];
	readonly format: (value: number) => string;
	readonly pointed: number | null;
	readonly pointLabel: string | null;
}) {
	return (
		<div
			aria-live="polite"
			className="flex min-h-6 flex-wrap items-center gap-x-4 text-xs text-ink-2 tabular-nums"
		>
			{series.map(({ name, colour, values, total }) => {
				const value = pointed === null ? undefined : values[pointed];
				return (
					<span key={name} className="inline-flex items-center gap-1.5 whitespace-nowrap">
						<span aria-hidden className="size-2 rounded-full" style={{ background: `var(${colour})` }} />
						{name}
						<span className="font-medium text-ink">
							{pointed === null ? total : value === null || value === undefined ? "–" : format(value)}
						</span>
					</span>
				);
			})}
			<span className="ml-auto text-ink-3">{pointLabel}</span>
		</div>
	);
}

function NumbersTable({ title, unit, labels, series, format, extraColumns = [] }: FigureProps) {
	const rows = labels.map((label, index) => ({ label, index })).reverse();
	const columns: Column<(typeof rows)[number]>[] = [
		{ name: unit, cell: ({ label }) => label.long },
		...series.map(
			({ name, values }): Column<(typeof rows)[number]> => ({
				name,
				align: "right",
				cell: ({ index }) => {
					const value = values[index];
					return value === null || value === undefined ? "–" : format(value);
				},
			}),
		),
		...extraColumns.map(
			({ name, values }): Column<(typeof rows)[number]> => ({
				name,
				align: "right",
				cell: ({ index }) => values[index] ?? "",
			}),
		),
	];
	return <Table label={title} columns={columns} rows={rows} rowKey={({ index }) => index} />;
}
