// A program's output as read afterwards: no colours, no cursor moves, each line as a terminal would finally show it. Pure. Moves between
// lines are ignored: full-screen programs are not drawn.

const ESC = 0x1b;
const BELL = 0x07;
/** Longer sequences than this are not waited for at the end of a piece. */
const LONGEST_SEQUENCE = 256;
/** Lines are cut at this width; cursor moves further right are ignored. */
const WIDEST_MOVE = 10_000;

/** The text without escape sequences and control characters; a carriage return writes over its line, a backspace over a character. */
export function terminalText(text: string): string {
	if (!NEEDS_WORK.test(text)) return text;
	return text
		.split("\n")
		.map((line) => drawnLine(line))
		.join("\n");
}

const NEEDS_WORK = /[\p{Cc}--[\n\t]]/v;

function drawnLine(line: string): string {
	if (!NEEDS_WORK.test(line)) return line;
	const cells: string[] = [];
	let column = 0;
	for (let at = 0; at < line.length; ) {
		const code = line.charCodeAt(at);
		if (code === ESC || (code >= 0x80 && code <= 0x9f)) {
			const sequence = sequenceAt(line, at);
			column = applied(sequence.order, sequence.n, cells, column);
			at = sequence.end;
			continue;
		}
		if (code === 0x0d) column = 0;
		else if (code === 0x08) column = Math.max(0, column - 1);
		else if (code >= 0x20 && code !== 0x7f) {
			const character = String.fromCodePoint(line.codePointAt(at) as number);
			while (cells.length < column) cells.push(" ");
			cells[column++] = character;
			at += character.length;
			continue;
		} else if (code === 0x09) {
			while (cells.length < column) cells.push(" ");
			cells[column++] = "\t";
		}
		at++;
	}
	return cells.join("");
}

/** Moves and erases within the line; everything else changes no text. Answers the new column. */
function applied(order: string, n: number | null, cells: string[], column: number): number {
	switch (order) {
		case "K":
			if (n === null || n === 0) cells.length = Math.min(cells.length, column);
			else if (n === 2) cells.length = 0;
			else for (let cell = 0; cell < Math.min(cells.length, column + 1); cell++) cells[cell] = " ";
			return column;
		case "C":
			return Math.min(column + (n ?? 1), WIDEST_MOVE);
		case "D":
			return Math.max(0, column - (n ?? 1));
		case "G":
			return Math.min(Math.max(0, (n ?? 1) - 1), WIDEST_MOVE);
		default:
			return column;
	}
}

interface Sequence {
	/** The last character of a control sequence; "" for every other kind. */
	readonly order: string;
	readonly n: number | null;
	readonly end: number;
}

/** The escape sequence that starts here; an unfinished one takes the rest. */
function sequenceAt(text: string, start: number): Sequence {
	const c1 = text.charCodeAt(start) !== ESC;
	const kind = c1 ? String.fromCharCode(text.charCodeAt(start) - 0x40) : text.charAt(start + 1);
	const from = start + (c1 ? 1 : 2);
	if (kind === "[") return controlSequence(text, from);
	if (kind === "]" || kind === "P" || kind === "X" || kind === "^" || kind === "_")
		return { order: "", n: null, end: endOfString(text, from) };
	if (c1) return { order: "", n: null, end: from };
	// An escape with intermediates, such as the choice of a character set.
	let end = start + 1;
	while (end < text.length && isBetween(text.charCodeAt(end), 0x20, 0x2f)) end++;
	return { order: "", n: null, end: Math.min(text.length, end + 1) };
}

function controlSequence(text: string, from: number): Sequence {
	let end = from;
	while (end < text.length && isBetween(text.charCodeAt(end), 0x20, 0x3f)) end++;
	const first = /^\d{1,6}/.exec(text.slice(from, Math.min(end, from + 6)))?.[0];
	const ends = isBetween(text.charCodeAt(end), 0x40, 0x7e);
	return {
		order: ends ? text.charAt(end) : "",
		n: first === undefined ? null : Number(first),
		end: Math.min(text.length, ends ? end + 1 : end),
	};
}

/** Behind the bell or the string terminator; a line's end ends it, too. */
function endOfString(text: string, from: number): number {
	for (let at = from; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === BELL || code === 0x9c) return at + 1;
		if (code === ESC) return text.charAt(at + 1) === "\\" ? at + 2 : at;
	}
	return text.length;
}

function isBetween(code: number, least: number, most: number): boolean {
	return code >= least && code <= most;
}

/**
 * How much of a piece of output can be read by itself: without a character or escape sequence that continues in the next piece. The rest
 * is short, so that binary output is not held back.
 */
export function readableLength(data: Uint8Array): number {
	const whole = withoutCutCharacter(data);
	const from = Math.max(0, whole - LONGEST_SEQUENCE);
	const start = data.subarray(from, whole).lastIndexOf(ESC);
	if (start < 0) return whole;
	const rest = new TextDecoder("latin1").decode(data.subarray(from + start, whole));
	return isWhole(rest) ? whole : from + start;
}

function isWhole(sequence: string): boolean {
	const kind = sequence.charAt(1);
	if (kind === "") return false;
	if (kind === "[") return /^..[ -?]*[^ -?]/s.test(sequence);
	// A string may end with its terminator, whose escape was found.
	if ("]PX^_".includes(kind)) return sequence.includes("\u0007") || sequence.includes("\n");
	return /^.[ -/]*[^ -/]/s.test(sequence);
}

/** The start of an unfinished UTF-8 code point. */
function withoutCutCharacter(data: Uint8Array): number {
	for (let back = 1; back <= Math.min(3, data.length); back++) {
		const byte = data[data.length - back] as number;
		if ((byte & 0xc0) === 0x80) continue;
		const length = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
		return length > back && byte <= 0xf4 ? data.length - back : data.length;
	}
	return data.length;
}
