// A process on pipes in this terminal: its output as safe lines, and one row below for input.

import { isRefusedByProcess, piecesBetween, startOfLast } from "../../../processes/index.ts";
import type { Attached, AttachOptions, Exits } from "./attachment.ts";
import { pressedAt } from "./detach-key.ts";
import { holdTerminal } from "./held-terminal.ts";
import { InputRow } from "./input-row.ts";
import { LineSplitter, shownLine } from "./shown-lines.ts";
import { cutMark } from "./text.ts";

/** Where the terminal does not say. */
const USUAL_ROWS = 24;
const USUAL_COLUMNS = 80;
const ERASE_ROW = "\r\x1b[K";

export function attachLines(
	{ backend, info, input, output, detachKey }: AttachOptions,
	exits: Exits,
): Attached {
	const { id } = info;
	const splitter = new LineSplitter();
	const row = new InputRow();
	let sending: Promise<void> = Promise.resolve();
	let isShown = true;

	const send = (work: () => Promise<void>) => {
		sending = sending.then(work).catch((error: unknown) => {
			if (!isRefusedByProcess(error)) return exits.fail(error);
			print([`[${(error as Error).message}]`]);
		});
	};
	/** Above the row; the program's unfinished last line precedes the input, like a prompt. */
	const print = (lines: readonly string[]) => {
		if (!isShown) return;
		const text = lines.map((line) => `${line}\r\n`).join("");
		output.write(
			ERASE_ROW + text + row.draw(shownLine(splitter.rest), (output.columns || USUAL_COLUMNS) - 1),
		);
	};
	const take = ({ lost, data }: { readonly lost: number; readonly data: Buffer }) => {
		const cut = lost > 0 ? [shownLine(splitter.end()), cutMark(lost)].filter((line) => line !== "") : [];
		print([...cut, ...splitter.push(data).map(shownLine)]);
	};
	const show = async () => {
		const read = backend.read.bind(backend);
		const { size } = await read(id, { from: 0, limit: 0 });
		const start = await startOfLast(read, id, Math.max(1, (output.rows || USUAL_ROWS) - 3), size);
		for await (const piece of piecesBetween(read, id, start, size)) take(piece);
		for await (const piece of backend.follow(id, { from: size })) take(piece);
		const rest = shownLine(splitter.end());
		if (rest !== "") print([rest]);
	};
	const onData = (typed: Buffer) => {
		const pressed = pressedAt(detachKey, typed);
		for (const entry of row.type(pressed < 0 ? typed : typed.subarray(0, pressed))) {
			if (entry.kind === "interrupt") exits.leave();
			else if (entry.kind === "end") send(() => backend.endInput(id));
			else {
				// As on any terminal: the line stays where it was typed.
				print([shownLine(splitter.end() + entry.text)]);
				send(() => backend.write(id, Buffer.from(`${entry.text}\n`)));
			}
		}
		print([]);
		if (pressed >= 0) exits.leave();
	};
	const onResize = () => print([]);

	const giveBack = holdTerminal(
		{ input, output },
		{ data: onData, end: () => exits.leave(), resize: onResize },
	);
	return {
		ended: show(),
		settle: () => sending,
		restore: () => {
			isShown = false;
			giveBack();
			output.write(ERASE_ROW);
		},
	};
}
