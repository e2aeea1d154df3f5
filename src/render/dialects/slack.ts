// Slack's mrkdwn. Slack reads <...> even in plain text, so both twins are escaped. It has no escape for its own
// markers: a literal *word* is shown bold there.
import { both, type Dialect, type Escapes, encodeUrl, LINKABLE } from "../dialect.ts";
import { element } from "../element.ts";
import type { Style } from "../markdown/ast.ts";

const GAP = "\u200b";
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const MARKERS: Readonly<Partial<Record<Style, string>>> = { bold: "*", italic: "_", strike: "~" };

// A backtick in text must not join one that opens or closes code.
const swap = (match: string) =>
	match === "`" ? { plain: match, markup: `\`${GAP}` } : both(ENTITIES[match] ?? match);
const escapes: Escapes = { pattern: /[&<>`]/g, swap };

export const slack: Dialect = {
	byLine: true,
	blankLines: true,
	wordEdge: GAP,
	text: escapes,
	lineStart: escapes,
	code: { pattern: /[&<>]|`(?=`)/g, swap },
	url: escapes,
	unsafeStart: /&gt;/y,
	style: (style) => {
		const marker = MARKERS[style];
		return marker === undefined ? undefined : element(marker, marker);
	},
	heading: () => undefined,
	codeSpan: (value) => (value.includes("`") ? undefined : element("`", "`", { verbatim: true })),
	fence: () => element("```\n", "\n```", { verbatim: true }),
	link: (url) => (LINKABLE.test(url) ? element(`<${target(url)}|`, ">") : undefined),
	quote: undefined,
	quotePrefix: (position) => {
		const markup = position === "outer" ? "> " : "&gt; ";
		return { rest: { plain: "&gt; ", markup }, onBlank: true, reopen: position === "listed" ? "" : markup };
	},
	bullet: { plain: "- ", markup: "• " },
	alignsTables: true,
};

function target(url: string): string {
	return encodeUrl(url, /[\s\p{Cc}<>|]/gu).replaceAll("&", "&amp;");
}
