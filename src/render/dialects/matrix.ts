// The HTML of a formatted body in Matrix. Quotes nest there, and headings are shown. Line breaks stay line breaks here; the channel
// writes them as tags.
import type { Dialect } from "../dialect.ts";
import { element } from "../element.ts";
import type { Style } from "../markdown/ast.ts";
import { telegram } from "./telegram.ts";

const TAGS: Readonly<Record<Style, string>> = { bold: "strong", italic: "em", underline: "u", strike: "del" };

export const matrix: Dialect = {
	...telegram,
	style: (style) => element(`<${TAGS[style]}>`, `</${TAGS[style]}>`),
	heading: (level) => element(`<h${level}>`, `</h${level}>`),
};
