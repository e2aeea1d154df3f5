// Text from an agent: placeholders for unseen pieces, and how it is shown to a human: short, on one line, and inert.

/** A piece of text that may be anything at all. No word of a shell can hold this character. */
export const UNKNOWN = "\0";

/** One word of letters, digits and `_ . , : @ % + = -` that starts with a letter or a digit: a number, a date, a hash, a user's name. */
export const SOME = "\uFDD0";

/** A relative path that stays below the folder it starts in: no leading `/` and no `..` in it. */
export const BELOW = "\uFDD1";

const SEGMENT_LIMIT = 200;
const OPERAND_LIMIT = 80;

export function shownSegment(text: string): string {
	return inert(text, SEGMENT_LIMIT);
}

export function shownOperand(text: string): string {
	return inert(text, OPERAND_LIMIT);
}

/** Makes control characters, direction marks and similar visible, so that no text looks like something else. */
function inert(text: string, limit: number): string {
	const visible = text
		.slice(0, limit * 2)
		.replaceAll(UNKNOWN, "…")
		.replaceAll(SOME, "…")
		.replaceAll(BELOW, "…")
		.replace(/\s+/g, " ")
		.replace(/\p{C}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
	if (visible.length <= limit) return visible;
	return `${visible.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
