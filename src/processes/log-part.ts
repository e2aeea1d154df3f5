// A part of a log as text, for somebody who reads it piece by piece: each goes on where the one before ended.
import { readableLength, terminalText } from "../domain/index.ts";
import { startOfLast } from "./log-start.ts";
import type { ReadLog } from "./reading.ts";

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
	{ start, limit, raw, ended }: LogPartOptions & { readonly ended: boolean },
): Promise<LogPart> {
	const { size } = await read(id, { from: 0, limit: 0 });
	const at = "at" in start ? start.at : await startOfLast(read, id, start.lines, size);
	const { from, data, lost, next } = await read(id, { from: at, limit });
	const isWhole = ended && next >= size;
	const length = isWhole ? data.length : readableLength(data);
	const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(data.subarray(0, length));
	return { text: raw ? text : terminalText(text), from, to: from + length, lost, size };
}
