// Private keys as in files: a header line, then lines of base64. Only such lines match: text about these files stays,
// and so does everything after a key that was cut off.

/** The longest block, from its first character. Text after that is not checked, so that a stream can continue. */
const LONGEST = 16 * 1024;
const FIRST_LINE = /-----BEGIN [A-Z0-9 ]{0,64}?PRIVATE KEY(?: BLOCK)?-----/g;
const LAST_LINE = /-----END [A-Z0-9 ]{0,64}?PRIVATE KEY(?: BLOCK)?-----/g;
/** A line of a key. Words are shorter. */
const LINE = /[A-Za-z0-9+/=]{32,}/g;
const LINE_LENGTH = 32;
/** The key starts within this distance of the first line: there may be headers, and quote marks. */
const FARTHEST = 400;
/** The next line, after anything a program or a mail puts between two lines. */
const NEXT = /(?:\\[nrt]|[\s"'`,>|\\]| \+ ){0,32}[A-Za-z0-9+/=]{32,}/y;
/** The rest of a key, alone on its line. */
const REST = /[ "'`,>|]{0,32}(?:\n|\\n)[\s"'`,>|]{0,32}[A-Za-z0-9+/=]{1,31}(?=\s*(?:[\r\n"'`\\]|$))/y;
const LONGEST_FIRST_LINE = 128;
/** May become a first line. */
const MAY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,96}-{0,4}$/;

interface Stretch {
	readonly from: number;
	readonly to: number;
}

/** What follows a first line. open: undecided, because the text continues. */
type Block = { readonly kind: "key"; readonly to: number } | { readonly kind: "none" | "open" };

/** The text with each key replaced. */
export function maskKeyBlocks(text: string, mask: string): string {
	let masked = "";
	let at = 0;
	for (const { from, to } of keysIn(text).keys) {
		masked += text.slice(at, from) + mask;
		at = to;
	}
	return masked + text.slice(at);
}

/** For a text that continues: where the first undecided block starts, or null; and where the last key ends. */
export function openBlock(text: string): { readonly from: number | null; readonly after: number } {
	const { keys, open } = keysIn(text, "goes on");
	const after = keys.at(-1)?.to ?? 0;
	const begins = open ?? text.slice(-LONGEST_FIRST_LINE).search(MAY_BEGIN);
	if (open !== null || begins < 0) return { from: open, after };
	return { from: Math.max(0, text.length - LONGEST_FIRST_LINE) + begins, after };
}

function keysIn(
	text: string,
	goesOn?: "goes on",
): { readonly keys: readonly Stretch[]; readonly open: number | null } {
	const [first, last, line] = [
		new Finder(FIRST_LINE, text),
		new Finder(LAST_LINE, text),
		new Finder(LINE, text),
	];
	const keys: Stretch[] = [];
	for (let found = first.from(0); found; ) {
		const block = blockAt(text, found, last.from(found.to), line.from(found.to), goesOn !== undefined);
		if (block.kind === "open") return { keys, open: found.from };
		if (block.kind === "key") keys.push({ from: found.from, to: block.to });
		found = first.from(block.kind === "key" ? block.to : found.to);
	}
	return { keys, open: null };
}

function blockAt(
	text: string,
	first: Stretch,
	last: Stretch | null,
	line: Stretch | null,
	goesOn: boolean,
): Block {
	const limit = first.from + LONGEST;
	const ends = last !== null && last.to <= limit;
	const begins = line !== null && line.from - first.to <= FARTHEST && !(ends && last.from < line.from);
	if (ends) return begins ? { kind: "key", to: last.to } : { kind: "none" };
	const isDecided =
		!goesOn || text.length >= limit || (!begins && text.length - first.to >= FARTHEST + LINE_LENGTH);
	if (!isDecided) return { kind: "open" };
	return begins ? { kind: "key", to: endOfLines(text.slice(0, limit), line.to) } : { kind: "none" };
}

/** For a key without a last line. */
function endOfLines(text: string, firstEnds: number): number {
	let to = Math.min(firstEnds, text.length);
	for (const pattern of [NEXT, REST]) {
		pattern.lastIndex = to;
		while (pattern.test(text)) {
			to = pattern.lastIndex;
			if (pattern === REST) break;
		}
	}
	return to;
}

/** Looks for one pattern from offsets that only grow: no part of the text is read twice. */
class Finder {
	readonly #pattern: RegExp;
	readonly #text: string;
	#found: Stretch | null = { from: -1, to: -1 };

	constructor(pattern: RegExp, text: string) {
		this.#pattern = pattern;
		this.#text = text;
	}

	from(offset: number): Stretch | null {
		if (this.#found && this.#found.from < offset) {
			this.#pattern.lastIndex = offset;
			const match = this.#pattern.exec(this.#text);
			this.#found = match && { from: match.index, to: this.#pattern.lastIndex };
		}
		return this.#found;
	}
}
