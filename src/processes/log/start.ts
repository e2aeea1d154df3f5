// Finds where the last lines of a log start, from its end: the cost depends only on what is shown.

import type { LogPiece } from "../types.ts";
import type { ReadLog } from "./reading.ts";

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;

/** The position before the last n lines. An unfinished line counts. */
export async function startOfLast(read: ReadLog, id: string, lines: number, size: number): Promise<number> {
	if (lines === 0) return size;
	let missing = lines;
	for (let [to, chunk] = [size, CHUNK]; to > 0; ) {
		const from = Math.max(0, to - chunk);
		const pieces = await allBetween(read, id, from, to);
		for (const { data, from: at } of pieces.toReversed())
			for (let offset = data.lastIndexOf(NEWLINE); offset >= 0; offset = before(data, offset)) {
				// A newline at the very end ends the last line; it does not start another.
				if (at + offset === size - 1) continue;
				if (--missing === 0) return at + offset + 1;
			}
		// Gaps are skipped, however large.
		chunk = pieces.every(({ data }) => data.length === 0) ? chunk * 2 : CHUNK;
		to = from;
	}
	return 0;
}

function before(data: Buffer, offset: number): number {
	return offset === 0 ? -1 : data.lastIndexOf(NEWLINE, offset - 1);
}

/** For a part that is known to be short. */
export async function allBetween(read: ReadLog, id: string, from: number, to: number): Promise<LogPiece[]> {
	const pieces: LogPiece[] = [];
	for await (const piece of piecesBetween(read, id, from, to)) pieces.push(piece);
	return pieces;
}

/** The log in pieces, each with the cut bytes before it. */
export async function* piecesBetween(
	read: ReadLog,
	id: string,
	from: number,
	to: number,
): AsyncGenerator<LogPiece> {
	for (let at = from; at < to; ) {
		const piece = await read(id, { from: at, limit: Math.min(CHUNK, to - at) });
		if (piece.from >= to || piece.next <= at) return;
		const data = piece.data.subarray(0, to - piece.from);
		yield { ...piece, data, next: piece.from + data.length };
		at = piece.next;
	}
}
