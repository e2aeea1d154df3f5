// Titles of sessions: one clean line, and the name of a successor.

const MAX = 100;
// An emoji of several parts keeps what joins them; everywhere else such a character could hide something.
const EMOJI =
	/\p{RI}\p{RI}|\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,6}\u{E007F}|\p{Emoji}\p{EMod}?\uFE0F?\u20E3?(?:\u200D\p{Extended_Pictographic}\p{EMod}?\uFE0F?)*/u;
// Control, zero-width and bidi characters: they could hide a title's text or break its line.
const UNWANTED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const UNWANTED_OUTSIDE = new RegExp(`(${EMOJI.source})|${UNWANTED.source}`, "gu");
/** Fillers and selectors are invisible, and so is the blank of Braille. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;
const SUCCESSOR = /^(.*) #(\d{1,6})$/su;
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The stored form: at most 100 characters, composed, "" if nothing of it is visible. */
export function cleanTitle(text: string): string {
	const clean = text
		.normalize("NFC")
		.replace(UNWANTED_OUTSIDE, (_, emoji: string | undefined) => emoji ?? " ")
		.replace(/\s+/gu, " ")
		.trim();
	return VISIBLE.test(clean) ? cutTitle(clean, MAX) : "";
}

/** At most this many code points. A visible character is not split, unless it alone is longer. */
export function cutTitle(text: string, most: number): string {
	if (text.length <= most) return text;
	let end = 0;
	let points = 0;
	for (const { segment, index } of characters.segment(text)) {
		points += Array.from(segment).length;
		if (points > most) break;
		end = index + segment.length;
	}
	const cut = end === 0 ? Array.from(text).slice(0, most).join("") : text.slice(0, end);
	return cut.trimEnd();
}

/** `name` -> `name #2` -> `name #3`, within the length of a title. */
export function successorTitle(title: string): string {
	const [, name = title, n = "1"] = SUCCESSOR.exec(title) ?? [];
	const suffix = ` #${Number(n) + 1}`;
	return cutTitle(name, MAX - suffix.length) + suffix;
}
