// The parsed Markdown. Blocks form a tree of limited depth; the text inside a block is a flat list of openings and closings, so deep
// emphasis cannot exhaust the stack.

export type Style = "bold" | "italic" | "underline" | "strike";

export type Inline =
	/** A line feed in it is a soft line break. */
	| { readonly kind: "text"; readonly value: string }
	| { readonly kind: "code"; readonly value: string }
	/** A bare web address, as written. */
	| { readonly kind: "url"; readonly value: string }
	/** An unsupported HTML tag, shown as written. */
	| { readonly kind: "tag"; readonly value: string }
	| { readonly kind: "break" }
	| { readonly kind: "open" | "close"; readonly style: Style }
	| { readonly kind: "link"; readonly url: string; readonly image: boolean }
	| { readonly kind: "unlink"; readonly image: boolean };

/** A blank line comes before it; never true for the first. */
interface Spaced {
	readonly apart: boolean;
}

export type Block = Spaced & BlockContent;

type BlockContent =
	| { readonly kind: "paragraph"; readonly text: readonly Inline[] }
	| { readonly kind: "heading"; readonly level: number; readonly text: readonly Inline[] }
	| { readonly kind: "code"; readonly language: string; readonly value: string }
	| { readonly kind: "quote"; readonly blocks: readonly Block[] }
	| List
	| { readonly kind: "table"; readonly align: readonly Align[]; readonly rows: readonly Row[] }
	| { readonly kind: "rule" }
	| { readonly kind: "definition"; readonly definition: Definition };

export interface List {
	readonly kind: "list";
	/** The first number of a numbered list. */
	readonly start: number | undefined;
	readonly delimiter: "." | ")";
	readonly items: readonly ListItem[];
}

export interface ListItem extends Spaced {
	readonly checked: boolean | undefined;
	readonly blocks: readonly Block[];
}

export type Align = "left" | "right" | "center";
export type Row = readonly (readonly Inline[])[];

/** `[label]: url`. An unused one is shown as written, so that nothing is lost. */
export interface Definition {
	readonly url: string;
	readonly source: string;
	used: boolean;
}
