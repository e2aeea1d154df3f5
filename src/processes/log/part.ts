// A part of a log as text, for somebody who reads it piece by piece: each goes on where the one before ended.
import { readableLength, terminalText } from "../../domain/index.ts";
import type { LogPiece } from "../types.ts";
import type { ReadLog } from "./reading.ts";
import { startOfLast } from "./start.ts";

export interface LogPart {
	readonly text: string;
	/** Where it begins, in bytes from the beginning of the output. */
	readonly from: number;
	/** What to ask for next. */
	readonly to: number;
	/** Bytes between what was asked for and `from`: they were cut out. */
	readonly lost: number;
	/** Where the log ended when it was read. */
	readonly size: number;
}

export interface LogPartOptions {
	/** A position, or the last so many lines. */
	readonly start: { readonly at: number } | { readonly lines: number };
	readonly limit: number;
	/** As it was printed; otherwise as a terminal would show it in the end. */
	readonly raw: boolean;
}

/** A character that is not whole yet is left for later, unless it never will be. */
export async function logPart(
	read: ReadLog,
	id: string,
	{
		start,
		limit,
		raw,
		ended,
		hideBytes,
	}: LogPartOptions & {
		readonly ended: boolean;
		/** Bytes keep their number. */
		readonly hideBytes: (bytes: Uint8Array) => Uint8Array;
	},
): Promise<LogPart> {
	const { size } = await read(id, { from: 0, limit: 0 });
	const at = "at" in start ? start.at : await startOfLast(read, id, start.lines, size);
	const piece = await read(id, { from: at, limit });
	const { from, lost, next } = piece;
	const data = await withoutHalves(read, id, piece, hideBytes);
	const isWhole = ended && next >= size;
	const length = isWhole ? data.length : readableLength(data);
	const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(data.subarray(0, length));
	return { text: raw ? text : terminalText(text), from, to: from + length, lost, size };
}

/** More than any secret has in any of its forms. */
const AROUND = 64 * 1024;

/** A secret that begins before the piece or ends after it would not be recognised in it: the bytes of one are hidden here. */
async function withoutHalves(
	read: ReadLog,
	id: string,
	{ from, next, data }: LogPiece,
	hideBytes: (bytes: Uint8Array) => Uint8Array,
): Promise<Uint8Array> {
	if (data.length === 0) return data;
	const earliest = Math.max(0, from - AROUND);
	const before = await read(id, { from: earliest, limit: from - earliest });
	const after = await read(id, { from: next, limit: AROUND });
	const left = before.next === from ? before.data : Buffer.alloc(0);
	const right = after.from === next ? after.data : Buffer.alloc(0);
	const hidden = hideBytes(Buffer.concat([left, data, right])).subarray(
		left.length,
		left.length + data.length,
	);
	return Buffer.compare(hidden, hideBytes(data)) === 0 ? data : hidden;
}
