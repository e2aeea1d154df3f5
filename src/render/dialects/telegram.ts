// Telegram's HTML. Only the tags it allows; quotes do not nest there, so an inner one is written with its marker.
import { type Dialect, encodeUrl, LINKABLE, languageName } from "../dialect.ts";
import { element } from "../element.ts";
import type { Style } from "../markdown/ast.ts";

const TAGS: Readonly<Record<Style, string>> = { bold: "b", italic: "i", underline: "u", strike: "s" };
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escapes = {
	pattern: /[&<>]/g,
	swap: (match: string) => ({ plain: match, markup: ENTITIES[match] ?? match }),
};

export const telegram: Dialect = {
	byLine: false,
	blankLines: true,
	wordEdge: "",
	text: escapes,
	lineStart: escapes,
	code: escapes,
	url: escapes,
	unsafeStart: undefined,
	style: (style) => element(`<${TAGS[style]}>`, `</${TAGS[style]}>`),
	heading: () => undefined,
	codeSpan: () => element("<code>", "</code>", { verbatim: true }),
	fence: (language) => {
		const name = languageName(language);
		if (name === "") return element("<pre>", "</pre>", { verbatim: true });
		return element(`<pre><code class="language-${name}">`, "</code></pre>", { verbatim: true });
	},
	link: (url) => (LINKABLE.test(url) ? element(`<a href="${attribute(url)}">`, "</a>") : undefined),
	quote: element("<blockquote>", "</blockquote>"),
	quotePrefix: (position) => ({
		rest: { plain: "> ", markup: position === "outer" ? "" : "&gt; " },
		onBlank: true,
		reopen: "",
	}),
	bullet: { plain: "- ", markup: "• " },
	alignsTables: true,
};

function attribute(url: string): string {
	return encodeUrl(url, /[\s\p{Cc}]/gu).replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}
