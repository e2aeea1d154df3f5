// White space as Markdown means it: spaces and tabs. A no-break space is text, which JavaScript's trim does not know.

export function trimSpace(text: string): string {
	const end = trimSpaceEnd(text);
	let from = 0;
	while (from < end.length && isSpace(end.charCodeAt(from))) from++;
	return end.slice(from);
}

export function trimSpaceEnd(text: string): string {
	let end = text.length;
	while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
	return text.slice(0, end);
}

function isSpace(code: number): boolean {
	return code === 0x20 || code === 0x09;
}
