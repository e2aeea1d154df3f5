import type { ReactNode } from "react";

export interface Series {
	readonly name: string;
	/** A colour of the theme: `--accent`. */
	readonly colour: string;
	readonly values: readonly (number | null)[];
	/** What stands in the legend while nothing is pointed at. */
	readonly total?: string;
}

export interface FigureProps {
	readonly title: string;
	readonly about?: ReactNode;
	/** What the places on the x axis are: `Day`. */
	readonly places: string;
	readonly labels: readonly { readonly short: string; readonly long: string }[];
	readonly series: readonly Series[];
	readonly shape: "bars" | "line";
	readonly format: (value: number) => string;
	readonly axis?: (value: number) => string;
	/** The y axis has no fractions. */
	readonly whole?: boolean;
	/** A line across the places, between two of them. */
	readonly mark?: { readonly at: number; readonly name: string };
	/** More columns of the table, one text for each place. */
	readonly beside?: readonly { readonly name: string; readonly values: readonly string[] }[];
	/** In place of the plot, where there is nothing to plot. */
	readonly none?: ReactNode;
	readonly wide?: boolean;
}
