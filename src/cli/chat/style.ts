// Text with separate styles, so that it can be measured and wrapped before it is coloured.
import colours from "picocolors";
import { columns } from "../io/width.ts";

export type Look =
	| "bold"
	| "italic"
	| "underline"
	| "strike"
	| "dim"
	| "code"
	| "mine"
	| "good"
	| "bad"
	| "warn";

/** Its text is printable: nothing in it moves the cursor. */
export interface Span {
	readonly text: string;
	readonly looks: readonly Look[];
}

export type Line = readonly Span[];

export type Paint = (line: Line) => string;

export function span(text: string, ...looks: readonly Look[]): Span {
	return { text, looks };
}

export function createPaint(colour: boolean): Paint {
	const { bold, italic, underline, strikethrough, dim, cyan, green, red, yellow } =
		colours.createColors(colour);
	const paints: Readonly<Record<Look, (text: string) => string>> = {
		bold,
		italic,
		underline,
		strike: strikethrough,
		dim,
		code: cyan,
		mine: (text) => bold(green(text)),
		good: green,
		bad: red,
		warn: yellow,
	};
	return (line) =>
		line.map(({ text, looks }) => looks.reduce((painted, look) => paints[look](painted), text)).join("");
}

export function lineColumns(line: Line): number {
	return line.reduce((sum, { text }) => sum + columns(text), 0);
}
