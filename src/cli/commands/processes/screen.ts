// A process on a terminal, shown on this one: bytes both ways, and the size. Its last screen is shown first; a full-screen program is
// made to redraw.

import { once } from "node:events";
import {
	drawnSoFar,
	fitTerminal,
	isRefusedByProcess,
	type PtySize,
	resizeTerminal,
	TerminalModes,
} from "../../../processes/index.ts";
import type { Attached, AttachOptions, Exits } from "./attachment.ts";
import { pressedAt } from "./detach-key.ts";
import { holdTerminal } from "./held-terminal.ts";
import { cutMark } from "./text.ts";

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
			if (isRefusedByProcess(error)) output.write(BELL);
			else exits.fail(error);
		});
	};
	const onData = (typed: Buffer) => {
		const pressed = pressedAt(detachKey, typed);
		const data = pressed < 0 ? typed : typed.subarray(0, pressed);
		if (data.length > 0) send(() => backend.write(id, data));
		if (pressed >= 0) exits.leave();
	};
	const onResize = () => send(() => resizeTerminal(backend, id, sizeOf(output)));

	const put = async (data: Buffer) => {
		if (isShown && !output.write(data)) await once(output, "drain");
	};
	const show = async () => {
		const { data: drawn, at } = await drawnSoFar(backend.read.bind(backend), id, modes);
		await put(drawn);
		if (!isShown) return;
		// Only now, so that drawings for this size come after earlier ones.
		send(() => fitTerminal(backend, id, info.pty, sizeOf(output)));
		for await (const { lost, data } of backend.follow(id, { from: at })) {
			if (lost > 0) await put(Buffer.from(`\r\n${cutMark(lost)}\r\n`));
			if (isShown) modes.see(data);
			await put(data);
		}
	};

	const giveBack = holdTerminal(
		{ input, output },
		{ data: onData, end: () => exits.leave(), resize: onResize },
	);
	return {
		ended: show(),
		settle: async () => {
			// A redraw for the program's own size is not for this terminal.
			isShown = false;
			output.off("resize", onResize);
			const before = info.pty;
			if (before) send(() => resizeTerminal(backend, id, before));
			await sending;
		},
		restore: () => {
			isShown = false;
			giveBack();
			output.write(`${modes.undo()}\r\n`);
		},
	};
}

/** A terminal that does not know its size says 0. */
function sizeOf({ rows, columns }: { readonly rows: number; readonly columns: number }): PtySize {
	return { rows: rows || 24, cols: columns || 80 };
}
