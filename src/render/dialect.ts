// What a platform's markup can express, and how. Everything not listed here is the same everywhere.
import type { LineRules, Prefix, Twin } from "./canvas.ts";
import type { Style } from "./markdown/ast.ts";
import type { Element } from "./types.ts";

export interface Dialect extends LineRules {
	/** Characters to escape, by position. */
	readonly text: Escapes;
	/** The same at the start of a line, where more characters have a meaning. */
	readonly lineStart: Escapes;
	readonly code: Escapes;
	readonly url: Escapes;
	readonly unsafeStart: RegExp | undefined;
	/** The element for a style; undefined if the platform has none. `outer`: the open styles. */
	style(style: Style, outer: ReadonlySet<Style>): Element | undefined;
	heading(level: number): Element | undefined;
	codeSpan(value: string): Element | undefined;
	fence(language: string): Element | undefined;
	/** A link with its own text; undefined: write it as `text (url)`. */
	link(url: string, label: string): Element | undefined;
	/** Around a whole quote, where the platform has something for that. */
	readonly quote: Element | undefined;
	/** Before each line of a quote. */
	quotePrefix(position: QuotePosition): Prefix;
	readonly bullet: Twin;
	/** Tables are columns of equal width; otherwise cells with a bar between them. */
	readonly alignsTables: boolean;
}

/** Where a quote is: in a list item, in another quote (or without its element, which did not fit), or at the top. */
export type QuotePosition = "listed" | "inner" | "outer";

/** Replaces each match of the pattern, separately for markup and plain text. */
export interface Escapes {
	readonly pattern: RegExp;
	readonly swap: (match: string) => Twin;
}

/** Only web and mail addresses become links, because other schemes could start anything in a chat app. */
export const LINKABLE = /^(?:https?:\/\/|mailto:)[^\s]/i;

export const NO_ESCAPES: Escapes = { pattern: /(?!)/g, swap: both };

export function both(text: string): Twin {
	return { plain: text, markup: text };
}

/** Language names that are safe inside a token of any dialect. */
export function languageName(language: string): string {
	return /^[\w+#.-]{1,32}$/.test(language) ? language : "";
}

/** Percent-encodes what would end or break a link's token. */
export function encodeUrl(url: string, unsafe: RegExp): string {
	return url.replace(unsafe, (char) => {
		const code = char.charCodeAt(0);
		return code < 0x80 ? `%${code.toString(16).toUpperCase().padStart(2, "0")}` : encodeURIComponent(char);
	});
}
