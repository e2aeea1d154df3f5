// Discord's Markdown. Its plain text is Markdown too, so the plain twin keeps mentions inert as well.
import { both, type Dialect, type Escapes, encodeUrl, LINKABLE, languageName } from "../dialect.ts";
import { element } from "../element.ts";

const GAP = "\u200b";

// An @ that would notify someone, alone or together with the next piece.
const MENTION = "(?:(?<=<|^)@(?=[!&]?\\d)|@(?=everyone|here|[!&]?$))";
// Markers that Discord would take for formatting: not a lone * between spaces, not a lone _ inside a word.
const MARKER =
	"[\\\\`[]|(?<!\\s)\\*|\\*(?!\\s)|(?<!\\w)_|_(?!\\w)|(?<=_)_|_(?=_)|~(?=~)|(?<=~)~|\\|(?=\\|)|(?<=\\|)\\|";
const LINE_START = "^[-+#>](?=[-#>]{0,2} )|(?<=^\\d{1,9})\\.(?= )";

function swapText(match: string): { plain: string; markup: string } {
	return match === "@" ? both(`@${GAP}`) : { plain: match, markup: `\\${match}` };
}

const code: Escapes = {
	pattern: new RegExp(`${MENTION}|\`(?=\`)`, "gi"),
	swap: (match) => (match === "@" ? both(`@${GAP}`) : { plain: match, markup: `\`${GAP}` }),
};

export const discord: Dialect = {
	byLine: true,
	blankLines: true,
	wordEdge: "",
	text: { pattern: new RegExp(`${MENTION}|${MARKER}`, "gi"), swap: swapText },
	lineStart: { pattern: new RegExp(`${MENTION}|${LINE_START}|${MARKER}`, "gi"), swap: swapText },
	code,
	url: { pattern: new RegExp(MENTION, "gi"), swap: () => both("%40") },
	unsafeStart: /(?:#{1,3}|-#?|[*+]|>{1,3}|\d{1,9}\.) /y,
	style: (style) => {
		if (style === "bold") return element("**", "**");
		if (style === "underline") return element("__", "__");
		return style === "strike" ? element("~~", "~~") : element("*", "*");
	},
	heading: (level) => (level <= 3 ? element(`${"#".repeat(level)} `, "") : undefined),
	codeSpan: (value) => {
		if (!value.includes("`")) return element("`", "`", { verbatim: true });
		return element("`` ", " ``", { verbatim: true });
	},
	fence: (language) => element(`\`\`\`${languageName(language)}\n`, "\n```", { verbatim: true }),
	link: (url, label) => {
		if (!LINKABLE.test(url) || /^mailto:/i.test(url) || /https?:\/\//i.test(label)) return undefined;
		return element("[", `](${target(url)})`);
	},
	quote: undefined,
	// In a list item it is text: only at the start of a line does it quote.
	quotePrefix: (position) => ({ rest: both("> "), onBlank: true, reopen: position === "listed" ? "" : "> " }),
	bullet: both("- "),
	alignsTables: true,
};

function target(url: string): string {
	return encodeUrl(url, /[\s\p{Cc}()<>[\]\\]/gu).replace(/@(?=everyone|here)/gi, "%40");
}
