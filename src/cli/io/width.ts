// Text width on a terminal, by grapheme, so that an emoji of several code points counts once, as two columns.

const ASCII = /^[\x20-\x7e]*$/;
const WIDE =
	/^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f|^[#*\d]\ufe0f\u20e3/u;
const NOTHING = /^[\p{M}\p{Cf}]+$/u;

/** Created when first needed: most commands print ASCII, and this is expensive. */
let characters: Intl.Segmenter | undefined;

function segments(text: string): Intl.Segments {
	characters ??= new Intl.Segmenter("en", { granularity: "grapheme" });
	return characters.segment(text);
}

/** The characters as a reader sees them. */
export function graphemes(text: string): string[] {
	if (ASCII.test(text)) return text.split("");
	return Array.from(segments(text), ({ segment }) => segment);
}

/** Columns on a terminal: marks take none, East Asian letters and emoji two. */
export function columns(text: string): number {
	if (ASCII.test(text)) return text.length;
	let count = 0;
	for (const { segment } of segments(text)) count += columnsOf(segment);
	return count;
}

/** The same for one character as a reader sees it. */
export function columnsOf(grapheme: string): 0 | 1 | 2 {
	if (grapheme.length === 1 && grapheme < "\u0300") return 1;
	if (WIDE.test(grapheme)) return 2;
	return NOTHING.test(grapheme) ? 0 : 1;
}

/** At most this many columns; a cut is marked. */
export function cut(text: string, width: number): string {
	if (columns(text) <= width) return text;
	let shown = "";
	let taken = 0;
	for (const one of graphemes(text)) {
		taken += columnsOf(one);
		if (taken > width - 1) break;
		shown += one;
	}
	return `${shown}…`;
}
