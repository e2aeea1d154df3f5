// Text that came from an agent, and how it is shown to a human: short, on one line, with nothing in it that acts.

/** Stands for a piece of text that cannot be seen before the command runs. No word of a shell can hold it. */
export const UNKNOWN = "\0";

const SEGMENT_LIMIT = 200;
const OPERAND_LIMIT = 80;

export function shownSegment(text: string): string {
	return inert(text, SEGMENT_LIMIT);
}

export function shownOperand(text: string): string {
	return inert(text, OPERAND_LIMIT);
}

/** Controls, marks of direction and the like become visible, so that nothing reads as what it is not. */
function inert(text: string, limit: number): string {
	const visible = text
		.slice(0, limit * 2)
		.replaceAll(UNKNOWN, "…")
		.replace(/\s+/g, " ")
		.replace(/\p{C}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
	if (visible.length <= limit) return visible;
	return `${visible.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
