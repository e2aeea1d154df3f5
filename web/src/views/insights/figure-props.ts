import type { ReactNode } from "react";

export interface Series {
	readonly name: string;
	/** A colour of the theme: `--accent`. */
	readonly colour: string;
	readonly values: readonly (number | null)[];
	/** Shown in the legend while no point is selected. */
	readonly total?: string;
}

export interface FigureProps {
	readonly title: string;
	readonly about?: ReactNode;
	/** The unit of the x axis: `Day`. */
	readonly unit: string;
	readonly labels: readonly { readonly short: string; readonly long: string }[];
	readonly series: readonly Series[];
	readonly shape: "bars" | "line";
	readonly format: (value: number) => string;
	readonly axis?: (value: number) => string;
	/** The y axis shows whole numbers only. */
	readonly whole?: boolean;
	/** A vertical line between two points of the x axis. */
	readonly mark?: { readonly at: number; readonly name: string };
	/** Extra columns of the table, one text per point. */
	readonly extraColumns?: readonly { readonly name: string; readonly values: readonly string[] }[];
	/** Shown if there is nothing to plot. */
	readonly none?: ReactNode;
	readonly wide?: boolean;
}
