import type { Key, ReactNode } from "react";
import { classes } from "../lib/classes.ts";

export interface Column<Row> {
	readonly name: string;
	readonly cell: (row: Row) => ReactNode;
	readonly align?: "right";
	/** Hidden on narrow screens. */
	readonly wideOnly?: boolean;
}

export function Table<Row>({
	label,
	columns,
	rows,
	rowKey,
}: {
	readonly label: string;
	readonly columns: readonly Column<Row>[];
	readonly rows: readonly Row[];
	readonly rowKey: (row: Row) => Key;
}) {
	const cellClasses = ({ align, wideOnly }: Column<Row>) =>
		classes(
			"px-2 first:pl-4 last:pr-4 lg:first:pl-6 lg:last:pr-6",
			align === "right" ? "text-right" : "text-left",
			wideOnly && "max-md:hidden",
		);
	return (
		<div className="overflow-x-auto">
			<table aria-label={label} className="w-full border-collapse tabular-nums">
				<thead>
					<tr className="border-b">
						{columns.map((column) => (
							<th
								key={column.name}
								scope="col"
								className={classes(cellClasses(column), "h-8 text-xs font-medium text-ink-3")}
							>
								{column.name}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr key={rowKey(row)} className="border-b hover:bg-hover/60">
							{columns.map((column) => (
								<td key={column.name} className={classes(cellClasses(column), "h-10")}>
									{column.cell(row)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}
