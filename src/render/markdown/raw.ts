// Blocks before their text is parsed: that needs the link definitions of the whole text.
import type { Align, Definition } from "./ast.ts";

export type RawBlock =
	| ({ readonly kind: "paragraph"; readonly text: string } & Span)
	| ({ readonly kind: "heading"; readonly level: number; readonly text: string } & Span)
	| ({ readonly kind: "code"; readonly language: string; readonly value: string } & Span)
	| ({
			readonly kind: "table";
			readonly align: readonly Align[];
			readonly rows: readonly (readonly string[])[];
	  } & Span)
	| ({ readonly kind: "rule" } & Span)
	| ({ readonly kind: "definition"; readonly definition: Definition } & Span)
	| RawQuote
	| RawList;

/** The first and last line. */
export interface Span {
	readonly first: number;
	readonly last: number;
}

export interface RawQuote {
	readonly kind: "quote";
	readonly first: number;
	readonly blocks: RawBlock[];
}

export interface RawList {
	readonly kind: "list";
	readonly first: number;
	readonly marker: string;
	readonly start: number | undefined;
	readonly items: RawItem[];
}

export interface RawItem {
	readonly kind: "item";
	readonly first: number;
	/** How far its content is indented. */
	readonly width: number;
	readonly blocks: RawBlock[];
}

export interface RawDocument {
	readonly blocks: readonly RawBlock[];
	readonly definitions: ReadonlyMap<string, Definition>;
	readonly fences: readonly Fence[];
	/** Where each outermost block begins in the source, except one that follows a heading. */
	readonly starts: readonly number[];
}

/** Where a fenced code block is in the source. Offsets are in UTF-16 units. */
export interface Fence {
	/** The first unit of the line with the opening fence, and the first unit after that line. */
	readonly from: number;
	readonly bodyFrom: number;
	/** The end of the last line of code, and of the closing fence; equal if it was never closed. */
	readonly bodyTo: number;
	readonly to: number;
	readonly marker: string;
	readonly language: string;
	/** The surrounding quotes and list items, outermost first: a quote, or an item with its width in columns. */
	readonly inside: readonly ("quote" | number)[];
}
