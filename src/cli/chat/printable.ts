// The chat's only exit of text to the terminal. As strict as escapeText, except for joiners that emoji and some scripts need.
import { escapeText } from "../io/output.ts";

/** Letters that a joiner between them changes the shape of. */
const JOINED = [
	"Arabic",
	"Syriac",
	"Devanagari",
	"Bengali",
	"Gurmukhi",
	"Gujarati",
	"Oriya",
	"Tamil",
	"Telugu",
	"Kannada",
	"Malayalam",
	"Sinhala",
]
	.map((script) => `\\p{Script=${script}}`)
	.join("");
const KEPT = new RegExp(`\\p{RGI_Emoji}|(?<=[${JOINED}])(?:\\u200c|\\u200d)(?=[${JOINED}])`, "gv");
const MAY_BE_KEPT = /\u200c|\u200d|[\u{e0020}-\u{e007f}]/u;

const TAB = "    ";

/** One line: anything that could move the cursor or hide text is escaped; a tab is four spaces. */
export function printable(text: string): string {
	const spaced = text.replaceAll("\t", TAB);
	if (!MAY_BE_KEPT.test(spaced)) return escapeText(spaced);
	let shown = "";
	let at = 0;
	for (const kept of spaced.matchAll(KEPT)) {
		shown += escapeText(spaced.slice(at, kept.index)) + kept[0];
		at = kept.index + kept[0].length;
	}
	return shown + escapeText(spaced.slice(at));
}

/** The lines of a text, each printable. */
export function printableLines(text: string): string[] {
	return text.split(/\r\n|\r|\n/).map(printable);
}

/** A text of any number of lines as one line. */
export function onOneLine(text: string): string {
	return printable(text.replace(/\s+/g, " ").trim());
}
