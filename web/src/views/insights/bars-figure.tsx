import type { ReactNode } from "react";
import { Table } from "../../ui/index.ts";
import { Frame } from "./figure.tsx";
import type { Row } from "./rows.ts";

/** A few named values as bars. They are plain HTML: they need no canvas. */
export function BarsFigure({
	title,
	about,
	none,
	names: [name, value],
	rows,
}: {
	readonly title: string;
	readonly about: ReactNode;
	readonly none: string;
	readonly names: readonly [name: string, value: string];
	readonly rows: readonly Row[];
}) {
	const most = Math.max(...rows.map((row) => row.value), 1);
	return (
		<Frame
			title={title}
			about={about}
			table={
				<Table
					label={title}
					columns={[
						{ name, cell: (row: Row) => row.name },
						{ name: value, align: "right", cell: (row: Row) => row.text },
					]}
					rows={rows}
					rowKey={(row) => row.name}
				/>
			}
		>
			{rows.length === 0 && <p className="mt-3 text-ink-3">{none}</p>}
			<ul className="mt-3 flex flex-col gap-2.5">
				{rows.map((row) => (
					<li key={row.name} className="text-sm">
						<p className="flex justify-between gap-4">
							<span>{row.name}</span>
							<span className="font-medium tabular-nums">{row.text}</span>
						</p>
						<div aria-hidden className="mt-1 h-1.5 rounded-full bg-hover">
							<div
								className="h-full rounded-full bg-accent"
								style={{ width: `${Math.max(1, (row.value / most) * 100)}%` }}
							/>
						</div>
					</li>
				))}
			</ul>
		</Frame>
	);
}
