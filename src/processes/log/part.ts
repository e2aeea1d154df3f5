// A part of a log as text, for reading piece by piece: each continues where the previous ended.
import { readableLength, terminalText } from "../../domain/index.ts";
import { withoutHalves } from "./halves.ts";
import type { ReadLog } from "./reading.ts";
import { startOfLast } from "./start.ts";

export interface LogPart {
	readonly text: string;
	/** Its start, in bytes from the beginning of the output. */
	readonly from: number;
	/** The next position to read. */
	readonly to: number;
	/** Cut bytes between the requested position and `from`. */
	readonly lost: number;
	/** The log's end when it was read. */
	readonly size: number;
}

export interface LogPartOptions {
	/** A position, or the last n lines. */
	readonly start: { readonly at: number } | { readonly lines: number };
	readonly limit: number;
	/** As printed; otherwise as a terminal would finally show it. */
	readonly raw: boolean;
}

/** An incomplete character is left for later, unless it can never be completed. */
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
		/** The number of bytes stays the same. */
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
