// A log on disk: files named by the position of their first byte. `log.0` is the head and stays; the others are the tail, and the oldest
// is deleted when a new one starts. A gap between two files means cut bytes. So a log can be read without its host.
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { KeryxError } from "../../errors.ts";
import { processFolder } from "../files.ts";
import type { LogPiece } from "../types.ts";

export function logFile(folder: string, start: number): string {
	return join(folder, `log.${start}`);
}

export interface ReadLogOptions {
	readonly home: string;
	readonly id: string;
	readonly from: number;
	readonly limit: number;
}

/** Stops at a gap; the next read says how many bytes are missing. A limit of 0 returns only the size. */
export async function readLog({ home, id, from, limit }: ReadLogOptions): Promise<LogPiece> {
	for (const [field, value] of Object.entries({ from, limit }))
		if (!Number.isSafeInteger(value) || value < 0)
			throw new KeryxError("argument.invalid", `${field} must be a number of bytes`, { field });
	const folder = processFolder(home, id);
	for (;;) {
		try {
			return await readPiece(folder, from, limit);
		} catch (error) {
			// A tail file was deleted between listing and reading: list again.
			if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
			await stat(folder).catch((cause) => {
				throw new KeryxError("process.unknown", `there is no process ${id}`, { cause });
			});
		}
	}
}

/** Bytes of a log that were cut or refused by the disk. None if there is no log. */
export async function lostBytes(home: string, id: string): Promise<number> {
	try {
		const segments = await logSegments(processFolder(home, id));
		return (segments.at(-1)?.end ?? 0) - segments.reduce((kept, { start, end }) => kept + end - start, 0);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
		throw error;
	}
}

/** How much was written to a log so far, including cut bytes. */
export async function logSize(folder: string): Promise<number> {
	return (await logSegments(folder)).at(-1)?.end ?? 0;
}

interface Segment {
	readonly start: number;
	readonly end: number;
}

async function readPiece(folder: string, asked: number, limit: number): Promise<LogPiece> {
	const segments = await logSegments(folder);
	const size = segments.at(-1)?.end ?? 0;
	const first = segments.findIndex(({ end }) => end > asked);
	const from = Math.max(asked, segments[first]?.start ?? size);
	const parts: Buffer[] = [];
	let next = from;
	for (const { start, end } of first < 0 ? [] : segments.slice(first)) {
		const wanted = Math.min(limit - (next - from), end - next);
		if (start > next || wanted === 0) break;
		const part = await readPart(logFile(folder, start), next - start, wanted);
		parts.push(part);
		next += part.length;
	}
	return { from, data: Buffer.concat(parts), lost: from - asked, next, size };
}

/** Listed from the oldest: a file with a successor no longer grows. */
async function logSegments(folder: string): Promise<Segment[]> {
	const starts = (await readdir(folder))
		.flatMap((name) => /^log\.(\d+)$/.exec(name)?.[1] ?? [])
		.map(Number)
		.sort((a, b) => a - b);
	const segments: Segment[] = [];
	for (const start of starts)
		segments.push({ start, end: start + (await stat(logFile(folder, start))).size });
	return segments;
}

async function readPart(file: string, position: number, length: number): Promise<Buffer> {
	const handle = await open(file, "r");
	try {
		const buffer = Buffer.allocUnsafe(length);
		let filled = 0;
		while (filled < length) {
			const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
			if (bytesRead === 0) break;
			filled += bytesRead;
		}
		return buffer.subarray(0, filled);
	} finally {
		await handle.close();
	}
}
