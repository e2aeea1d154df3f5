/** Removes Markdown marks, for previews of one line. */
export function withoutMarks(text: string): string {
	return text
		.replace(/```[\w-]*\s?|\*\*|`|~~/g, "")
		.replace(/(^|\s)(?:#{1,6}|>)\s+/g, "$1")
		.replace(/\[([^\]]*)\]\([^)\s]*\)/g, "$1");
}
