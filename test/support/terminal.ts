// A real terminal with a person in front of it: a program on a PTY, and an emulator that draws its output.
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { expect } from "vitest";

export interface RealTerminal {
	readonly pid: number;
	/** The rows of the screen, without trailing empty ones. */
	rows(): string[];
	/** As left by a program. */
	modes(): { readonly screen: "normal" | "alternate"; readonly pastes: boolean; readonly mouse: string };
	type(text: string): void;
	resize(columns: number, rows: number): void;
	/** Resolves once the screen shows it. */
	shows(text: string | RegExp): Promise<void>;
	/** The program's exit code. */
	readonly ended: Promise<number>;
	close(): void;
}

export function openTerminal(
	argv: readonly string[],
	{
		columns = 80,
		rows = 24,
		env,
	}: {
		readonly columns?: number;
		readonly rows?: number;
		readonly env: Readonly<Record<string, string>>;
	},
): RealTerminal {
	const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
	const [file = "", ...args] = argv;
	const pty = spawn(file, args, { cols: columns, rows, name: "xterm-256color", env: { ...env } });
	// The terminal's own answers go to the program, like everything typed.
	screen.onData((answer) => pty.write(answer));
	pty.onData((data) => screen.write(data));
	let hasEnded = false;
	const ended = new Promise<number>((resolve) =>
		pty.onExit(({ exitCode }) => {
			hasEnded = true;
			resolve(exitCode);
		}),
	);
	const visible = () => {
		const { active } = screen.buffer;
		const lines = Array.from({ length: screen.rows }, (_, row) =>
			(active.getLine(active.viewportY + row)?.translateToString(true) ?? "").trimEnd(),
		);
		while (lines.at(-1) === "") lines.pop();
		return lines;
	};
	return {
		pid: pty.pid,
		rows: visible,
		modes: () => ({
			screen: screen.buffer.active.type,
			pastes: screen.modes.bracketedPasteMode,
			mouse: screen.modes.mouseTrackingMode,
		}),
		type: (text) => pty.write(text),
		resize: (to, height) => {
			screen.resize(to, height);
			pty.resize(to, height);
		},
		shows: (text) => {
			const shown = expect.poll(() => visible().join("\n"), { interval: 10 });
			return typeof text === "string" ? shown.toContain(text) : shown.toMatch(text);
		},
		ended,
		close: () => {
			if (!hasEnded) pty.kill("SIGKILL");
			screen.dispose();
		},
	};
}
