// Joining a process on a terminal: what it has drawn so far, and resizing. For local terminals and the page alike.
import { setTimeout as delay } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ProcessBackend } from "../backend.ts";
import type { PtySize } from "../types.ts";
import type { ReadLog } from "./reading.ts";
import { replayable } from "./replay.ts";
import { allBetween, piecesBetween } from "./start.ts";
import type { TerminalModes } from "./terminal-modes.ts";

/** Of the output so far. */
const REPLAYED = 128 * 1024;

export interface Drawn {
	/** For a fresh terminal. It suppresses that terminal's replies. */
	readonly data: Buffer;
	/** Where the output continues. */
	readonly at: number;
}

/** `modes` has then seen everything before `at`. */
export async function drawnSoFar(read: ReadLog, id: string, modes: TerminalModes): Promise<Drawn> {
	const { size } = await read(id, { from: 0, limit: 0 });
	const from = Math.max(0, size - REPLAYED);
	// An alternate screen and key modes may have been requested long ago.
	for await (const { data } of piecesBetween(read, id, 0, from)) modes.see(data);
	const before = Buffer.from(modes.redo());
	const end = Buffer.concat((await allBetween(read, id, from, size)).map(({ data }) => data));
	const drawn = replayable(end, { fromMiddle: from > 0 });
	modes.see(drawn);
	return { data: Buffer.concat([before, drawn]), at: size };
}

/** A program ignores a size it already has: so another size is set first, with a pause, because two quick changes look like none. */
export async function fitTerminal(
	backend: ProcessBackend,
	id: string,
	now: PtySize | null,
	size: PtySize,
): Promise<void> {
	if (now?.rows === size.rows && now.cols === size.cols) {
		const printed = async () => (await backend.read(id, { from: 0, limit: 0 })).size;
		const before = await printed();
		await resizeTerminal(backend, id, { ...size, rows: size.rows > 1 ? size.rows - 1 : size.rows + 1 });
		for (let looks = 0; looks < NOTICES_MS / LOOK_MS && (await printed()) === before; looks++)
			await delay(LOOK_MS);
	}
	await resizeTerminal(backend, id, size);
}

/** A program that has not drawn by then does not redraw on resize. */
const NOTICES_MS = 1000;
const LOOK_MS = 20;

/** One that has just ended has no size. */
export async function resizeTerminal(backend: ProcessBackend, id: string, size: PtySize): Promise<void> {
	await backend.resize(id, size).catch((error: unknown) => {
		if (!isRefusedByProcess(error)) throw error;
	});
}

/** One that has just ended accepts nothing, which is reported elsewhere; one that does not read must not block this. */
export function isRefusedByProcess(error: unknown): boolean {
	return (
		error instanceof KeryxError &&
		["process.input_closed", "process.input_full", "process.ended", "process.unknown"].includes(error.code)
	);
}
