// A chat on a terminal. The record above is ordinary text that the terminal scrolls; only a few rows at the bottom are redrawn: the
// streaming answer, the activity, and the input box. Incoming events never disturb typing.
import { emitKeypressEvents, type Key as TerminalKey } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../time/index.ts";
import { createEditor, type Effect, reduce, replaceText } from "./editor.ts";
import type { Complete } from "./editor-state.ts";
import type { ChatEvent } from "./events.ts";
import { createKeyReader } from "./keys.ts";
import { layOut } from "./layout.ts";
import { LiveRegion } from "./live-region.ts";
import { Pacer } from "./pacer.ts";
import { onOneLine } from "./printable.ts";
import { ChatRecord } from "./record.ts";
import { createPaint, type Line, lineColumns, span } from "./style.ts";

export interface ChatTerminalOptions {
	/** In raw mode while the chat is open, if supported. */
	readonly input: Readable & { setRawMode?(isRaw: boolean): unknown };
	/** Emits `resize` when its size has changed. */
	readonly output: Writable;
	readonly colour: boolean;
	readonly columns: () => number;
	readonly rows: () => number;
	readonly clock: Clock;
	readonly complete: Complete;
	/** Lines sent in earlier runs, oldest first. */
	readonly history?: readonly string[];
	/** A line to keep for later runs. */
	readonly onHistory?: (line: string) => void;
	readonly onSubmit: (text: string) => void;
	/** Ctrl-C with an empty box. */
	readonly onInterrupt: () => void;
	/** Ctrl-C once more within two seconds, Ctrl-D in an empty box, or the end of the input. */
	readonly onLeave: () => void;
}

export interface ChatTerminal {
	show(event: ChatEvent): void;
	/** Puts a text into the box; Ctrl-Y restores the previous one. */
	setInput(text: string): void;
	/** The line below the box. */
	status(text: string | null): void;
	/** Leaves the record on the screen and restores the terminal. Later calls do nothing. */
	close(): void;
}

const LEAVE_MS = 2000;
/** While being resized a terminal reports many sizes; drawing waits for the last. */
const RESIZING_MS = 100;
/** A terminal may report its new size this much later; text written meanwhile was laid out for that size. */
const STILL_MS = 300;
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
const EMPTY_SCREEN = "\x1b[H\x1b[2J";

export function createChatTerminal(options: ChatTerminalOptions): ChatTerminal {
	const { input, output, clock } = options;
	const paint = createPaint(options.colour);
	const region = new LiveRegion();
	const record = new ChatRecord({
		columns: options.columns,
		colour: options.colour,
		clock,
		onChange: () => pacer.draw(),
	});
	const readKey = createKeyReader();
	let editor = createEditor(options.history);
	let status: string | null = null;
	let interruptedAt: number | null = null;
	let isOpen = true;

	const frame = () => {
		const columns = Math.max(1, options.columns());
		const { lines, cursor } = layOut(
			{ ...record.live(), editor, status: statusLine() },
			columns,
			options.rows(),
		);
		const rows = lines.map((line) => ({ text: paint(line), width: lineColumns(line) }));
		return region.draw({ above: record.take().map(paint), rows, cursor }, columns);
	};
	const pacer = new Pacer({ output, clock, frame });

	const statusLine = (): Line | null => {
		if (interruptedAt !== null) return [span("Ctrl-C again to leave", "warn")];
		return status === null ? null : [span(`  ${onOneLine(status)}`, "dim")];
	};
	const interrupt = () => {
		if (interruptedAt !== null) {
			options.onLeave();
			return;
		}
		const at = clock.monotonic();
		interruptedAt = at;
		clock.after(LEAVE_MS, () => {
			if (interruptedAt === at) interruptedAt = null;
			pacer.draw();
		});
		options.onInterrupt();
	};
	const run = (effect: Effect) => {
		switch (effect.kind) {
			case "submit":
				return options.onSubmit(effect.text);
			case "remember":
				return options.onHistory?.(effect.text);
			case "interrupt":
				return interrupt();
			case "leave":
				return options.onLeave();
			case "clear":
				region.forget();
				return pacer.write(EMPTY_SCREEN);
		}
	};
	const onKeypress = (typed: string | undefined, terminalKey: TerminalKey) => {
		const key = readKey(typed, terminalKey);
		if (!key || !isOpen) return;
		const step = reduce(editor, key, options.complete);
		editor = step.state;
		if (key.kind !== "interrupt") interruptedAt = null;
		for (const effect of step.effects) if (isOpen) run(effect);
		pacer.draw();
	};
	const onResize = () => {
		if (!pacer.isHeld) region.resized(pacer.stillFor >= STILL_MS);
		pacer.hold(RESIZING_MS);
	};
	const onEnd = () => options.onLeave();

	emitKeypressEvents(input);
	input.setRawMode?.(true);
	input.on("keypress", onKeypress);
	input.on("end", onEnd);
	output.on("resize", onResize);
	input.resume();
	pacer.write(PASTE_ON);
	pacer.draw();

	return {
		show: (event) => {
			if (!isOpen) return;
			record.show(event);
			pacer.draw();
		},
		setInput: (text) => {
			editor = replaceText(editor, text);
			pacer.draw();
		},
		status: (text) => {
			status = text;
			pacer.draw();
		},
		close: () => {
			if (!isOpen) return;
			isOpen = false;
			record.close();
			pacer.stop();
			const left = record.take().map((line) => `${paint(line)}\r\n`);
			pacer.write(region.erase(Math.max(1, options.columns())) + left.join("") + PASTE_OFF);
			input.off("keypress", onKeypress);
			input.off("end", onEnd);
			output.off("resize", onResize);
			input.setRawMode?.(false);
			input.pause();
		},
	};
}
