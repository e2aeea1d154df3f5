// IRC: one line is one message, formatting is control characters, and no other control character gets through.
import { both, type Dialect, type Escapes } from "../dialect.ts";
import { element } from "../element.ts";
import type { Style } from "../markdown/ast.ts";

const CODES: Readonly<Partial<Record<Style, string>>> = { bold: "\x02", italic: "\x1d", underline: "\x1f" };
const RESET = "\x0f";

/** A control character is shown as its picture: it neither ends the line nor formats it, and is not lost. */
const escapes: Escapes = {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out
	pattern: /[\x00-\x08\x0a-\x1f\x7f]/g,
	swap: (match) => both(match === "\x7f" ? "\u2421" : String.fromCharCode(0x2400 + match.charCodeAt(0))),
};

export const irc: Dialect = {
	byLine: true,
	blankLines: false,
	wordEdge: "",
	text: escapes,
	lineStart: escapes,
	code: escapes,
	url: escapes,
	unsafeStart: undefined,
	style: (style, outer) => {
		const code = CODES[style];
		if (code === undefined) return element("~~", "~~");
		return element(code, outer.size === 0 ? RESET : code);
	},
	heading: () => undefined,
	codeSpan: () => undefined,
	fence: () => undefined,
	link: () => undefined,
	quote: undefined,
	quotePrefix: () => ({ rest: both("> "), onBlank: true, reopen: "> " }),
	bullet: both("- "),
	alignsTables: false,
};
