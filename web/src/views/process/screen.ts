// xterm on an element: shows a program's output and sends it keys. Loaded only when a process is opened.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Size } from "./link.ts";
import { onThemeChange, screenTheme } from "./screen-theme.ts";

export interface ScreenOptions {
	readonly container: HTMLElement;
	/** Without its own terminal, a program sends no carriage returns, and its size is the screen's. */
	readonly pty: boolean;
	onKeys(data: string): void;
	/** The element now has room for this size. */
	onRoom(size: Size): void;
	/** The keys to leave the terminal were pressed. */
	onLeave(): void;
}

export interface Screen {
	write(data: Uint8Array | string, drawn?: () => void): void;
	reset(): void;
	setSize(size: Size): void;
	/** Stops taking keys. */
	freeze(): void;
	focus(): void;
	close(): void;
}

export function openScreen({ container, pty, onKeys, onRoom, onLeave }: ScreenOptions): Screen {
	const terminal = new Terminal({
		// The tool's default size for a program. An ended program no longer reports its size.
		...(pty && { cols: 120, rows: 30 }),
		fontFamily: '"JetBrains Mono", ui-monospace, monospace',
		fontSize: 13,
		lineHeight: 1.15,
		scrollback: 10_000,
		convertEol: !pty,
		disableStdin: !pty,
		cursorBlink: false,
		cursorInactiveStyle: pty ? "outline" : "none",
		// Links in a program's output do nothing. Their text can be copied.
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
	// The width of a cell depends on the font, which may load later.
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
