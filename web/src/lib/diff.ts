// Lines of a diff, from a unified diff or from two texts.

export interface DiffLine {
	readonly kind: "same" | "added" | "removed" | "hunk" | "note";
	readonly text: string;
	/** Line numbers in the old and the new text; absent if the line is not in that text. */
	readonly old?: number;
	readonly new?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
/** Above this many pairs of lines to compare, all old lines are shown as removed, then all new ones as added. */
const MOST_PAIRS = 4_000_000;

/** Parses the diff of one file. Lines before the first hunk are left out. */
export function unifiedLines(text: string): readonly DiffLine[] {
	const lines: DiffLine[] = [];
	let old = 0;
	let now = 0;
	let inHunk = false;
	for (const line of text.replace(/\n$/, "").split("\n")) {
		const hunk = HUNK.exec(line);
		if (hunk) {
			inHunk = true;
			old = Number(hunk[1]);
			now = Number(hunk[2]);
			lines.push({ kind: "hunk", text: line });
			continue;
		}
		if (!inHunk) continue;
		const rest = line.slice(1);
		if (line.startsWith("+")) lines.push({ kind: "added", text: rest, new: now++ });
		else if (line.startsWith("-")) lines.push({ kind: "removed", text: rest, old: old++ });
		else if (line.startsWith("\\")) lines.push({ kind: "note", text: rest.trim() });
		else lines.push({ kind: "same", text: rest, old: old++, new: now++ });
	}
	return lines;
}

/** Every line of both texts, in order. */
export function linesBetween(before: string, after: string): readonly DiffLine[] {
	const a = splitLines(before);
	const b = splitLines(after);
	let start = 0;
	while (start < a.length && start < b.length && a[start] === b[start]) start++;
	let end = 0;
	while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
	const same = (old: number, now: number): DiffLine => ({
		kind: "same",
		text: a[old] ?? "",
		old: old + 1,
		new: now + 1,
	});
	return [
		...Array.from({ length: start }, (_, n) => same(n, n)),
		...changes(a.slice(start, a.length - end), b.slice(start, b.length - end), start),
		...Array.from({ length: end }, (_, n) => same(a.length - end + n, b.length - end + n)),
	];
}

function splitLines(text: string): readonly string[] {
	return text === "" ? [] : text.split("\n");
}

function changes(a: readonly string[], b: readonly string[], from: number): DiffLine[] {
	const removed = (n: number): DiffLine => ({ kind: "removed", text: a[n] ?? "", old: from + n + 1 });
	const added = (n: number): DiffLine => ({ kind: "added", text: b[n] ?? "", new: from + n + 1 });
	if (a.length * b.length > MOST_PAIRS) return [...a.map((_, n) => removed(n)), ...b.map((_, n) => added(n))];
	const longest = commonLengths(a, b);
	const width = b.length + 1;
	const lines: DiffLine[] = [];
	let i = 0;
	let j = 0;
	while (i < a.length || j < b.length) {
		if (i < a.length && j < b.length && a[i] === b[j]) {
			lines.push({ kind: "same", text: a[i] ?? "", old: from + i + 1, new: from + j + 1 });
			i++;
			j++;
		} else if (
			j >= b.length ||
			(i < a.length && (longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0))
		)
			lines.push(removed(i++));
		else lines.push(added(j++));
	}
	return lines;
}

/** For each pair of positions, the number of lines that the remaining texts have in common. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array {
	const width = b.length + 1;
	const longest = new Uint32Array((a.length + 1) * width);
	for (let i = a.length - 1; i >= 0; i--)
		for (let j = b.length - 1; j >= 0; j--)
			longest[i * width + j] =
				a[i] === b[j]
					? (longest[(i + 1) * width + j + 1] ?? 0) + 1
					: Math.max(longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0);
	return longest;
}
