// xterm on an element: what a program draws, and the keys for it. Loaded when a process is opened, not before.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Size } from "./link.ts";
import { onThemeChange, screenTheme } from "./screen-theme.ts";

export interface ScreenOptions {
	readonly container: HTMLElement;
	/** Without a terminal of its own a program knows no carriage returns, and its size is ours. */
	readonly pty: boolean;
	onKeys(data: string): void;
	/** There is room for this much now. */
	onRoom(size: Size): void;
	/** The keys that leave were pressed. */
	onLeave(): void;
}

export interface Screen {
	write(data: Uint8Array | string, drawn?: () => void): void;
	reset(): void;
	setSize(size: Size): void;
	/** No more keys are taken. */
	freeze(): void;
	focus(): void;
	close(): void;
}

export function openScreen({ container, pty, onKeys, onRoom, onLeave }: ScreenOptions): Screen {
	const terminal = new Terminal({
		// What the tool gives a program, where nobody says otherwise; one that has ended tells no size any more.
		...(pty && { cols: 120, rows: 30 }),
		fontFamily: '"JetBrains Mono", ui-monospace, monospace',
		fontSize: 13,
		lineHeight: 1.15,
		scrollback: 10_000,
		convertEol: !pty,
		disableStdin: !pty,
		cursorBlink: false,
		cursorInactiveStyle: pty ? "outline" : "none",
		// A link in what a program prints leads nowhere: its text is there to be copied.
		linkHandler: { activate: () => undefined },
		theme: screenTheme(),
	});
	const fit = new FitAddon();
	terminal.loadAddon(fit);
	terminal.open(container);
	terminal.attachCustomKeyEventHandler((event) => {
		if (!(event.ctrlKey && event.key === "]")) return true;
		if (event.type === "keydown") onLeave();
		return false;
	});
	terminal.onData(onKeys);
	terminal.onBinary(onKeys);
	const measure = () => {
		const room = fit.proposeDimensions();
		if (!room || !Number.isFinite(room.cols) || !Number.isFinite(room.rows)) return;
		if (!pty) terminal.resize(room.cols, room.rows);
		onRoom(room);
	};
	const room = new ResizeObserver(measure);
	room.observe(container);
	const forgetTheme = onThemeChange(() => {
		terminal.options.theme = screenTheme();
	});
	// The cells are as wide as the font, which may come later.
	void document.fonts.load('13px "JetBrains Mono"').then(measure, () => undefined);
	return {
		write: (data, drawn) => terminal.write(data, drawn),
		reset: () => terminal.reset(),
		setSize: ({ cols, rows }) => terminal.resize(cols, rows),
		freeze: () => {
			terminal.options.disableStdin = true;
			terminal.options.cursorInactiveStyle = "none";
			terminal.blur();
		},
		focus: () => terminal.focus(),
		close: () => {
			room.disconnect();
			forgetTheme();
			terminal.dispose();
		},
	};
}
