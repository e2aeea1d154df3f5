// The words of rendering. A rendered text is two strings, the platform's markup and its plain twin, and the marks
// that say where they differ: everything between two marks is the same in both.

export const MARKUPS = [
	"telegram_html",
	"matrix_html",
	"discord",
	"slack",
	"irc",
	"markdown",
	"plain",
] as const;
export type Markup = (typeof MARKUPS)[number];

export const LIMIT_UNITS = ["utf16", "codepoints", "bytes"] as const;
export type LimitUnit = (typeof LIMIT_UNITS)[number];

/** How long one message of a platform may be, counted as that platform counts. */
export interface MessageLimit {
	readonly max: number;
	readonly unit: LimitUnit;
}

export interface Format {
	readonly markup: Markup;
	readonly limit: MessageLimit;
}

/** One message to send: the markup, and the plain text to send if the platform refuses it. */
export interface Part {
	readonly text: string;
	readonly plain: string;
}

/** Opened and closed in the markup; balanced in every part. */
export interface Element {
	readonly open: string;
	readonly close: string;
	/** Written at the start of the next part when a cut falls inside. */
	readonly reopen: string;
	/** Added after `reopen` when the cut fell in the middle of a line. */
	readonly resume: string;
	/** White space inside counts: the closing token goes after it, not before. */
	readonly verbatim: boolean;
}

/**
 * A place where markup and plain twin differ, or that must stay in one piece: `skip` units of `plain` from `at` on
 * stand for `width` units of `text` from `textAt` on. A glued mark is not parted from its neighbour.
 */
export interface Mark {
	readonly kind: "swap" | "open" | "close";
	readonly at: number;
	readonly skip: number;
	readonly textAt: number;
	readonly width: number;
	readonly glue: Glue;
	readonly element?: Element;
}

export type Glue = "none" | "next" | "previous";

/** A whole answer, rendered but not split yet. */
export interface Rendered extends Part {
	/** In ascending order of place. */
	readonly marks: readonly Mark[];
	/** Offsets in `plain` where an outermost block begins: the best places to cut. */
	readonly blocks: readonly number[];
	/** A part never starts with this in the middle of a line, where its meaning would change. */
	readonly unsafeStart: RegExp | undefined;
	/** Each line becomes one message; the line breaks are not sent. */
	readonly lineByLine: boolean;
}

/**
 * One part and where it came from. `text` is `opened`, then the slice of the whole text, with `closed` put in
 * `closedAt` units after the slice's start; `plain` is exactly its slice of the whole plain twin.
 */
export interface SplitPart extends Part {
	readonly opened: string;
	readonly closed: string;
	readonly closedAt: number;
	readonly textRange: Range;
	readonly plainRange: Range;
}

type Range = readonly [from: number, to: number];
