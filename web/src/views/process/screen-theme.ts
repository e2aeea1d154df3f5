// The terminal in the page's colours. xterm needs them as numbers, so each token is resolved by drawing it once.
import type { ITheme } from "@xterm/xterm";

/** The sixteen terminal colours, readable on the page's background. */
const LIGHT = {
	black: "#1f2a30",
	red: "#b3261e",
	green: "#1f7a3d",
	yellow: "#8a5a00",
	blue: "#1f5fa8",
	magenta: "#8b3a8f",
	cyan: "#0d7377",
	white: "#5b676d",
	brightBlack: "#66727a",
	brightRed: "#c4372c",
	brightGreen: "#2a7f46",
	brightYellow: "#946200",
	brightBlue: "#2a6cb8",
	brightMagenta: "#9b489f",
	brightCyan: "#107c80",
	brightWhite: "#3c474d",
} as const satisfies ITheme;
const DARK = {
	black: "#3a464c",
	red: "#f08a80",
	green: "#7fcf97",
	yellow: "#e0b464",
	blue: "#86b6f0",
	magenta: "#d79add",
	cyan: "#6fcfcb",
	white: "#c9d2d6",
	brightBlack: "#8b989e",
	brightRed: "#ffa79e",
	brightGreen: "#9be3b0",
	brightYellow: "#f2cb85",
	brightBlue: "#a6ccff",
	brightMagenta: "#e9b5ee",
	brightCyan: "#8fe6e1",
	brightWhite: "#f0f4f5",
} as const satisfies ITheme;

export function screenTheme(): ITheme {
	const token = tokens();
	const ground = token("--raised");
	return {
		...(isDark(ground) ? DARK : LIGHT),
		background: ground,
		foreground: token("--ink"),
		cursor: token("--accent"),
		cursorAccent: ground,
		selectionBackground: token("--selected"),
		scrollbarSliderBackground: token("--line"),
		scrollbarSliderHoverBackground: token("--line-strong"),
		scrollbarSliderActiveBackground: token("--line-strong"),
		overviewRulerBorder: ground,
	};
}

/** Calls `then` when the theme changes, by choice or by the system. */
export function onThemeChange(then: () => void): () => void {
	const chosen = new MutationObserver(then);
	chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
	const system = matchMedia("(prefers-color-scheme: dark)");
	system.addEventListener("change", then);
	return () => {
		chosen.disconnect();
		system.removeEventListener("change", then);
	};
}

function tokens(): (name: string) => string {
	const probe = document.createElement("span");
	const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	return (name) => {
		probe.style.color = `var(${name})`;
		document.body.append(probe);
		const { color } = getComputedStyle(probe);
		probe.remove();
		if (!pen) return "#000000";
		pen.fillStyle = color;
		pen.fillRect(0, 0, 1, 1);
		const [red = 0, green = 0, blue = 0] = pen.getImageData(0, 0, 1, 1).data;
		return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
	};
}

function isDark(colour: string): boolean {
	const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
	return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
}
