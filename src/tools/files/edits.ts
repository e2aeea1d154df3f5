// Exact replacements in a text, all or none. Pure.

export interface Edit {
	readonly old: string;
	readonly new: string;
	/** Every occurrence; otherwise there must be exactly one. */
	readonly all: boolean;
}

export interface Edited {
	readonly text: string;
	readonly replaced: number;
	/** Line of each replacement in the new text, in the order of the edits; the first 20. */
	readonly lines: readonly number[];
}

const MOST_LINES = 20;

/** Each edit sees the result of earlier ones. */
export function applyEdits(before: string, edits: readonly Edit[]): Edited | { readonly problem: string } {
	let text = before;
	let replaced = 0;
	const marks: string[] = [];
	for (const [index, edit] of edits.entries()) {
		const { old, with: replacement } = inLineEndings(text, edit);
		const pieces = text.split(old);
		const count = edit.all ? pieces.length - 1 : occurrences(text, old);
		const name = edits.length === 1 ? "old" : `old of edit ${index + 1}`;
		if (old === replacement) return { problem: `${name} and its new text are the same.` };
		if (count === 0) return { problem: `${name} was not found.${hint(text, old)}` };
		if (count > 1 && !edit.all)
			return {
				problem: `${name} occurs ${count} times (lines ${linesOf(text, old).join(", ")}). Add lines around it so that it occurs once, or set all.`,
			};
		text = pieces.join(replacement);
		replaced += count;
		marks.push(replacement);
	}
	const lines = marks.flatMap((mark) => (mark === "" ? [] : linesOf(text, mark).slice(0, MOST_LINES)));
	return { text, replaced, lines: [...new Set(lines)].slice(0, MOST_LINES) };
}

/** A file with CRLF line endings keeps them, however the edit is written. */
function inLineEndings(text: string, { old, new: replacement }: Edit): { old: string; with: string } {
	const isCrlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
	if (!isCrlf && (text.includes(old) || !text.includes("\r\n"))) return { old, with: replacement };
	const crlf = (part: string) => part.replaceAll(/\r?\n/g, "\r\n");
	return { old: crlf(old), with: crlf(replacement) };
}

/** Overlapping ones count, too: it is unclear which is meant. */
function occurrences(text: string, part: string): number {
	let count = 0;
	for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count++;
	return count;
}

function linesOf(text: string, part: string): number[] {
	const lines: number[] = [];
	let line = 1;
	let from = 0;
	for (let at = text.indexOf(part); at >= 0 && lines.length < MOST_LINES; at = text.indexOf(part, at + 1)) {
		for (let end = text.indexOf("\n", from); end >= 0 && end < at; end = text.indexOf("\n", end + 1)) line++;
		from = at;
		lines.push(line);
	}
	return lines;
}

/** The usual reasons: different spaces, or a copied line number. */
function hint(text: string, old: string): string {
	const squeezed = (part: string) => part.replaceAll(/\s+/g, " ").trim();
	if (squeezed(old) !== "" && squeezed(text).includes(squeezed(old)))
		return " The same text with other spaces or line breaks is there: copy it exactly.";
	if (/^\s*\d+\t/m.test(old)) return " Leave out the line numbers that read_file shows.";
	return " Read the file and copy the text exactly.";
}
