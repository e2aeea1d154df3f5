// Text without any markup. Both twins are the same.
import { both, type Dialect, NO_ESCAPES } from "../dialect.ts";
import { element } from "../element.ts";

export const plain: Dialect = {
	byLine: false,
	blankLines: true,
	wordEdge: "",
	text: NO_ESCAPES,
	lineStart: NO_ESCAPES,
	code: NO_ESCAPES,
	url: NO_ESCAPES,
	unsafeStart: undefined,
	style: (style) => (style === "strike" ? element("~~", "~~") : undefined),
	heading: () => undefined,
	codeSpan: () => undefined,
	fence: () => undefined,
	link: () => undefined,
	quote: undefined,
	quotePrefix: () => ({ rest: both("> "), onBlank: true, reopen: "" }),
	bullet: both("- "),
	alignsTables: true,
};
