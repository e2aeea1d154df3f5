// Reads a log for people: the new part, the end, both ends, or lines. Bytes become text: whole characters, without colours, as a terminal
// would finally show them. Work and memory are limited whatever a program printed.
import { firstOf, lastOf, readableLength, terminalText } from "../../domain/index.ts";
import type { ProcessMachine } from "../machine.ts";
import { type HideBytes, withoutHalves } from "./halves.ts";

export type ReadLog = ProcessMachine["read"];

const PIECE = 256 * 1024;
/** Bytes read per requested character: colours take space, too. */
const BYTES_PER_CHARACTER = 16;
const LONGEST_LINE = 20_000;

export interface NewOutput {
	readonly text: string;
	/** Read up to this byte. */
	readonly to: number;
	/** Some of the new output is only in the log. */
	readonly cut: boolean;
}

/** Hides secrets in a text before it is cut: part of a secret would remain otherwise. */
type Hide = (text: string) => string;

interface Hiding {
	readonly hide: Hide;
	/** For what is read: a secret may lie across its edges. */
	readonly hideBytes: HideBytes;
}

/** Output from a position on: only its end if longer than `most`. An incomplete character is left for later. */
export async function newOutput(
	read: ReadLog,
	id: string,
	{
		from,
		most,
		ended,
		hide,
		hideBytes,
	}: Hiding & { readonly from: number; readonly most: number; readonly ended: boolean },
): Promise<NewOutput> {
	const { size } = await read(id, { from, limit: 1 });
	const start = Math.max(from, size - most * BYTES_PER_CHARACTER);
	const { data, lost } = await bytesWithin(read, id, { from: start, to: size, hideBytes });
	const readable = ended ? data.length : readableLength(data);
	const text = hide(terminalText(decode(data.subarray(0, readable), start > from)));
	const shown = lastOf(text, most);
	return {
		text: shown,
		to: size - (data.length - readable),
		cut: start > from || lost > 0 || shown.length < text.length,
	};
}

/** The end of all output. */
export async function tailOf(
	read: ReadLog,
	id: string,
	options: Hiding & { readonly most: number },
): Promise<NewOutput> {
	return newOutput(read, id, { ...options, from: 0, ended: true });
}

export interface WholeOutput {
	readonly text: string;
	readonly truncated: boolean;
}

/** All of it, or its beginning (40 %) and end (60 %) with a mark in between. */
export async function bothEnds(
	read: ReadLog,
	id: string,
	{
		most,
		mark,
		hide,
		hideBytes,
	}: Hiding & {
		readonly most: number;
		/** `isKept`: the log has what is left out here. */
		readonly mark: (leftOut: string, isKept: boolean) => string;
	},
): Promise<WholeOutput> {
	const { size } = await read(id, { from: 0, limit: 1 });
	const head = Math.floor(most * 0.4);
	const tail = most - head;
	const window = most * BYTES_PER_CHARACTER;
	if (size <= 2 * window) {
		const { data, lost } = await bytesBetween(read, id, 0, size);
		const text = hide(terminalText(decode(data, false)));
		if (text.length <= most && lost === 0) return { text, truncated: false };
		const over = text.length > most ? [`${text.length - most} characters`] : [];
		const left = [...over, ...(lost > 0 ? [`${lost} bytes missing from the log`] : [])].join(", and ");
		return { text: joined(firstOf(text, head), lastOf(text, tail), mark(left, lost === 0)), truncated: true };
	}
	const start = await bytesWithin(read, id, { from: 0, to: window, hideBytes });
	const end = await bytesWithin(read, id, { from: size - window, to: size, hideBytes });
	const first = hide(terminalText(decode(start.data, false)));
	const last = hide(terminalText(decode(end.data, true)));
	const [begins, ends] = [firstOf(first, head), lastOf(last, tail)];
	const left = `about ${size - Buffer.byteLength(begins) - Buffer.byteLength(ends)} bytes`;
	return { text: joined(begins, ends, mark(left, true)), truncated: true };
}

function joined(begins: string, ends: string, mark: string): string {
	return `${begins}\n${mark}\n${ends}`;
}

export interface LogLines {
	readonly lines: readonly string[];
	/** Of the kept output: lines in a cut part are unknown. */
	readonly total: number;
	/** Bytes that were cut out. */
	readonly lost: number;
	/** The index of the first line, from 0. */
	readonly first: number;
}

/** Lines from an offset on, from 0, or the last ones. A cut part is one line that says so. */
export async function logLines(
	read: ReadLog,
	id: string,
	{ offset, limit, hide }: { readonly offset?: number; readonly limit: number; readonly hide: Hide },
): Promise<LogLines> {
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
	const window: { readonly text: string; readonly isLine: boolean }[] = [];
	let total = 0;
	let lost = 0;
	let rest = "";
	const show = (text: string, isLine: boolean) => {
		if (offset === undefined || (total >= offset && total < offset + limit)) window.push({ text, isLine });
		if (window.length > limit) window.shift();
	};
	const add = (line: string) => {
		show(line.length > LONGEST_LINE ? `${firstOf(hide(line), LONGEST_LINE)}…` : line, true);
		total++;
	};
	for (let from = 0; ; ) {
		const piece = await read(id, { from, limit: PIECE });
		if (piece.lost > 0) {
			lost += piece.lost;
			// Half a character before the gap cannot continue after it.
			rest += decoder.decode();
			if (rest !== "") add(rest);
			show(`[${piece.lost} bytes were removed here]`, false);
			rest = "";
		}
		const parts = (rest + decoder.decode(piece.data, { stream: true })).split("\n");
		rest = parts.pop() ?? "";
		// An unfinished line is kept as far as it is shown. Hidden before it is cut: half of a secret would not be recognised.
		if (rest.length > 2 * LONGEST_LINE) rest = hide(rest).slice(0, 2 * LONGEST_LINE);
		for (const line of parts) add(line);
		if (piece.next >= piece.size || piece.next === from) break;
		from = piece.next;
	}
	rest += decoder.decode();
	if (rest !== "") add(rest);
	return {
		lines: window.map(({ text }) => terminalText(text)),
		total,
		lost,
		first:
			offset === undefined ? total - window.filter(({ isLine }) => isLine).length : Math.min(offset, total),
	};
}

/** The same without halves of secrets at the edges. */
async function bytesWithin(
	read: ReadLog,
	id: string,
	{ from, to, hideBytes }: { readonly from: number; readonly to: number; readonly hideBytes: HideBytes },
): Promise<{ readonly data: Buffer; readonly lost: number }> {
	const { data, lost } = await bytesBetween(read, id, from, to);
	// After a gap the positions are unknown.
	if (lost > 0) return { data, lost };
	const whole = await withoutHalves(read, id, { from, next: from + data.length, data }, hideBytes);
	return { data: Buffer.from(whole.buffer, whole.byteOffset, whole.length), lost };
}

async function bytesBetween(
	read: ReadLog,
	id: string,
	from: number,
	to: number,
): Promise<{ readonly data: Buffer; readonly lost: number }> {
	const pieces: Buffer[] = [];
	let lost = 0;
	for (let at = from; at < to; ) {
		const piece = await read(id, { from: at, limit: Math.min(PIECE, to - at) });
		lost += piece.lost;
		pieces.push(piece.data);
		if (piece.next <= at) break;
		at = piece.next;
	}
	return { data: Buffer.concat(pieces), lost };
}

/** `middle`: it may start within a character, whose rest is dropped. */
function decode(data: Buffer, middle: boolean): string {
	let start = 0;
	while (middle && start < 3 && ((data[start] ?? 0) & 0xc0) === 0x80) start++;
	return new TextDecoder("utf-8", { ignoreBOM: true }).decode(data.subarray(start));
}
