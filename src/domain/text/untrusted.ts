// The exit for untrusted text into a prompt (I11): one token on one line, short, with nothing invisible.

const MAX_CODE_POINTS = 240;
const ELLIPSIS = "...";

// Cc is C0, DEL and C1. U+0085 is a line separator and becomes visible below.
const CONTROLS = /[\p{Cc}--[\n\t\u0085]]/gv;
// Line separators and whatever has no width: bidi controls, joiners, tags, fillers, annotations. U+FE0E and U+FE0F stay,
// they choose between the text and the picture form of a sign.
const INVISIBLE = /[[\u0085\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]--[\ufe0e\ufe0f]]/gv;

/** The text without control characters, trimmed, at most 240 code points; "" counts as absent. Not safe to print yet. */
export function cleanUntrusted(text: string, most = MAX_CODE_POINTS): string {
	const clean = text.toWellFormed().replace(/\r\n?/g, "\n").replace(CONTROLS, " ").trim();
	if (clean.length <= most) return clean;
	// A code point has at most two units, so this part of the text is enough to see whether it is too long.
	const points = Array.from(clean.slice(0, 2 * (most + 1)));
	if (points.length <= most) return clean;
	return points.slice(0, most - ELLIPSIS.length).join("") + ELLIPSIS;
}

/** A text of many lines: no control characters but line breaks and tabs, and nothing invisible. */
export function visibleUntrusted(text: string): string {
	return text.toWellFormed().replace(/\r\n?/g, "\n").replace(CONTROLS, " ").replace(INVISIBLE, "");
}

/** A JSON string: valid JSON, one line, everything invisible as \uXXXX; by default at most 240 code points of the text. */
export function quoteUntrusted(text: string, most = MAX_CODE_POINTS): string {
	return JSON.stringify(cleanUntrusted(text, most)).replace(INVISIBLE, escaped);
}

/** For `[name]` before a message: one line, no quotes, no square brackets. "" when nothing is left of the name. */
export function inlineUntrusted(text: string): string {
	return cleanUntrusted(text)
		.replace(/[\n\t]+/g, " ")
		.replaceAll("[", "(")
		.replaceAll("]", ")")
		.replace(INVISIBLE, escaped);
}

function escaped(character: string): string {
	let result = "";
	for (let index = 0; index < character.length; index++) {
		result += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
	}
	return result;
}
