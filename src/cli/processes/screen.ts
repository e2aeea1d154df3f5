// A process on a terminal of its own, shown on this one: bytes both ways, and the size. What it drew last is shown again first; a
// program that draws the whole screen is made to draw it anew.
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessBackend, PtySize } from "../../processes/index.ts";
import { type Attached, type AttachOptions, type Exits, isHarmless } from "./attachment.ts";
import { pressedAt } from "./detach-key.ts";
import { allBetween, piecesBetween } from "./log-start.ts";
import { replayable } from "./replay.ts";
import { TerminalModes } from "./terminal-modes.ts";
import { cutMark } from "./text.ts";

/** Of the output so far. */
const REPLAYED = 128 * 1024;
const BELL = "\x07";

export function attachScreen(options: AttachOptions, exits: Exits): Attached {
	const { backend, info, input, output, detachKey } = options;
	const { id } = info;
	const modes = new TerminalModes();
	let isShown = true;
	let sending: Promise<void> = Promise.resolve();

	/** In order, each after the one before. */
	const send = (work: () => Promise<void>) => {
		sending = sending.then(work).catch((error: unknown) => {
			if (isHarmless(error)) output.write(BELL);
			else exits.fail(error);
		});
	};
	const onData = (typed: Buffer) => {
		const place = pressedAt(detachKey, typed);
		const data = place < 0 ? typed : typed.subarray(0, place);
		if (data.length > 0) send(() => backend.write(id, data));
		if (place >= 0) exits.leave();
	};
	const onEnd = () => exits.leave();
	const onResize = () => send(() => resized(backend, id, sizeOf(output)));

	const put = async (data: Buffer) => {
		if (!isShown) return;
		modes.see(data);
		if (!output.write(data)) await once(output, "drain");
	};
	const show = async () => {
		const read = backend.read.bind(backend);
		const { size } = await read(id, { from: 0, limit: 0 });
		const from = Math.max(0, size - REPLAYED);
		// A screen of its own, keys that mean something else: it may have asked for them long ago.
		for await (const { data } of piecesBetween(read, id, 0, from)) modes.see(data);
		await put(Buffer.from(modes.redo()));
		const drawn = Buffer.concat((await allBetween(read, id, from, size)).map(({ data }) => data));
		await put(replayable(drawn, { fromMiddle: from > 0 }));
		if (!isShown) return;
		// Only now, so that what it draws for this size comes after what it drew for another.
		send(() => fitted(backend, id, info.pty, sizeOf(output)));
		for await (const { lost, data } of backend.follow(id, { from: size })) {
			if (lost > 0) await put(Buffer.from(`\r\n${cutMark(lost)}\r\n`));
			await put(data);
		}
	};

	input.setRawMode(true);
	input.on("data", onData);
	input.on("end", onEnd);
	output.on("resize", onResize);
	input.resume();
	return {
		ended: show(),
		settle: async () => {
			// What it draws for its own size again is not for this terminal.
			isShown = false;
			output.off("resize", onResize);
			const before = info.pty;
			if (before) send(() => resized(backend, id, before));
			await sending;
		},
		restore: () => {
			isShown = false;
			input.off("data", onData);
			input.off("end", onEnd);
			output.off("resize", onResize);
			input.setRawMode(false);
			input.pause();
			output.write(`${modes.undo()}\r\n`);
		},
	};
}

/**
 * Told of a size that it has already a program draws nothing: so it is told of another one first, and has a moment to notice. Two
 * changes in one moment are none to it.
 */
async function fitted(
	backend: ProcessBackend,
	id: string,
	now: PtySize | null,
	size: PtySize,
): Promise<void> {
	if (now?.rows === size.rows && now.cols === size.cols) {
		const printed = async () => (await backend.read(id, { from: 0, limit: 0 })).size;
		const before = await printed();
		await resized(backend, id, { ...size, rows: size.rows > 1 ? size.rows - 1 : size.rows + 1 });
		for (let looks = 0; looks < NOTICES_MS / LOOK_MS && (await printed()) === before; looks++)
			await delay(LOOK_MS);
	}
	await resized(backend, id, size);
}

/** Who has not drawn by then does not draw for a change of size. */
const NOTICES_MS = 1000;
const LOOK_MS = 20;

/** One that has just ended has no size to change. */
async function resized(backend: ProcessBackend, id: string, size: PtySize): Promise<void> {
	await backend.resize(id, size).catch((error: unknown) => {
		if (!isHarmless(error)) throw error;
	});
}

/** A terminal that does not know its size says 0. */
function sizeOf({ rows, columns }: { readonly rows: number; readonly columns: number }): PtySize {
	return { rows: rows || 24, cols: columns || 80 };
}
