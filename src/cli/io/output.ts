// Everything the CLI prints. Text is untrusted here: anything that could move the cursor, change a colour or fake a line is escaped, so
// only this file lays out lines and colours.
import colours from "picocolors";
import { columns, cut } from "./width.ts";

/** The used part of a process. */
export interface Streams {
	readonly stdout: {
		write(text: string | Uint8Array): unknown;
		readonly isTTY?: boolean;
		readonly columns?: number;
	};
	readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
	readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OutputOptions {
	readonly json: boolean;
	/** Applied to all output; hides known secrets. */
	readonly hide?: (text: string) => string;
}

/** A piece of a line, bold if marked. */
export interface Piece {
	readonly text: string;
	readonly marked: boolean;
}

export interface Output {
	readonly json: boolean;
	/** A person reads it: results are laid out and may be cut. Otherwise they go complete to a file or program. */
	readonly isTerminal: boolean;
	/** A person reads notes and warnings; otherwise they may end in a log. */
	readonly notesAreSeen: boolean;
	heading(text: string): void;
	line(text?: string): void;
	/** One line with some of it in bold. */
	pieces(pieces: readonly Piece[]): void;
	/** A text of any number of lines, as it was written: spaces at the end and tabs stay. */
	text(text: string): void;
	/** Passed unchanged to a file or program; made safe only on a terminal. */
	raw(text: string): void;
	/** A unified diff. Coloured and safe on a terminal, otherwise unchanged, so that it can be applied. */
	patch(text: string): void;
	/** Label, value and, if any, a remark; one line each, the values in one column. */
	pairs(rows: readonly (readonly [label: string, value: string, remark?: string])[]): void;
	/**
	 * Aligned under a heading on a terminal; when piped, one row per line with tabs and no heading. On a narrow terminal `elastic`
	 * columns shrink.
	 */
	table(
		head: readonly string[],
		rows: readonly (readonly string[])[],
		options?: { readonly elastic?: readonly number[] },
	): void;
	/** JSON, in several lines or in one. */
	value(value: unknown, shape?: "lines" | "line"): void;
	/** On stderr, so that it never mixes with results. */
	warn(text: string): void;
	/** The same for non-warnings: what to do next if nothing was found. Nothing with --json. */
	note(text: string): void;
	/** Progress in one line that the next replaces; null ends it. Only if stderr is a terminal. */
	progress(text: string | null): void;
}

const NARROWEST = 8;
const USUAL_COLUMNS = 80;

export function createOutput(
	{ stdout, stderr, env }: Streams,
	{ json, hide = (text) => text }: OutputOptions,
): Output {
	const terminal = stdout.isTTY === true;
	const colour = wantsColour(terminal, env);
	const paints = colours.createColors(colour);
	const { bold, dim } = paints;
	const clean = (text: string) => escapeText(hide(text));
	const write = (line: string) => stdout.write(`${line.trimEnd()}\n`);
	const showsProgress = stderr.isTTY === true && !json && env.TERM !== "dumb";
	let progressShown = false;

	return {
		json,
		isTerminal: terminal,
		notesAreSeen: stderr.isTTY === true,
		heading: (text) => write(bold(clean(text))),
		line: (text = "") => write(clean(text)),
		pieces: (pieces) =>
			write(pieces.map(({ text, marked }) => (marked ? bold(clean(text)) : clean(text))).join("")),
		text: (text) => stdout.write(`${escapeLines(hide(text).replace(/\r\n?/g, "\n"))}\n`),
		raw: (text) => stdout.write(terminal ? escapeLines(text) : text),
		patch: (text) => {
			if (!terminal && !colour) {
				stdout.write(text);
				return;
			}
			let isHeading = true;
			for (const line of escapeLines(hide(text)).replace(/\n$/, "").split("\n")) {
				// Only headings begin so: every line of a file's content has something before it.
				if (/^(diff --git |@@)/.test(line)) isHeading = line.startsWith("d");
				const look = isHeading ? "bold" : PATCH_LOOKS[line[0] ?? ""];
				stdout.write(`${look ? paints[look](line) : line}\n`);
			}
		},
		pairs: (rows) => {
			const labels = widest(rows.map(([label]) => clean(label)));
			const values = widest(rows.map(([, value]) => clean(value)));
			for (const [label, value, remark] of rows) {
				const shown =
					remark === undefined ? clean(value) : `${pad(clean(value), values)}  ${dim(clean(remark))}`;
				write(`  ${dim(pad(clean(label), labels))}  ${shown}`);
			}
		},
		table: (head, rows, { elastic = [] } = {}) => {
			const cells = rows.map((row) => row.map(clean));
			if (!terminal) {
				for (const row of cells) stdout.write(`${row.join("\t")}\n`);
				return;
			}
			const natural = head.map((name, column) => widest([name, ...cells.map((row) => row[column] ?? "")]));
			const widths = fitted(natural, elastic, stdout.columns ?? USUAL_COLUMNS);
			const lay = (row: readonly string[]) =>
				row.map((cell, column) => pad(cut(cell, widths[column] ?? 0), widths[column] ?? 0)).join("  ");
			write(bold(lay(head).trimEnd()));
			for (const row of cells) write(lay(row));
		},
		value: (value, shape = "lines") => {
			const text = JSON.stringify(
				value,
				(_key, inner) => (typeof inner === "string" ? hide(inner) : inner),
				shape === "lines" ? 2 : 0,
			);
			stdout.write(`${escapeJson(text)}\n`);
		},
		warn: (text) => stderr.write(`keryx: warning: ${clean(text)}\n`),
		note: (text) => {
			if (!json) stderr.write(`${clean(text)}\n`);
		},
		progress: (text) => {
			if (!showsProgress || (text === null && !progressShown)) return;
			progressShown = text !== null;
			const line = text === null ? "" : cut(clean(text), (stderr.columns ?? USUAL_COLUMNS) - 1);
			stderr.write(`\r${line}\u001b[K`);
		},
	};
}

/** By the first character of a line of a unified diff. */
const PATCH_LOOKS: Readonly<Record<string, "cyan" | "green" | "red">> = {
	"@": "cyan",
	"+": "green",
	"-": "red",
};

/** Control characters, line separators, bidi and zero-width characters, unpaired surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Each unprintable character as \uXXXX, or as \u{XXXXX} beyond the basic plane. */
export function escapeText(text: string): string {
	return text.replace(UNPRINTABLE, (character) => {
		const hex = (character.codePointAt(0) ?? 0).toString(16);
		return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
	});
}

/** The same except for line feeds and tabs, which are harmless within a text. */
function escapeLines(text: string): string {
	return text.replace(/[^\n\t]+/g, escapeText);
}

/** The same within JSON, where line feeds outside of strings are layout and an escape is always four digits. */
export function escapeJson(json: string): string {
	return json.replace(UNPRINTABLE, (character) => {
		if (character === "\n") return character;
		return character
			.split("")
			.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
			.join("");
	});
}

/** https://no-color.org: NO_COLOR wins; FORCE_COLOR is for a pager that understands colours. */
export function wantsColour(terminal: boolean, env: Streams["env"]): boolean {
	if (env.NO_COLOR) return false;
	return Boolean(env.FORCE_COLOR) || (terminal && env.TERM !== "dumb");
}

/** The widest of the elastic columns gives way, column by column, until the row fits or nothing more can be taken. */
function fitted(natural: readonly number[], elastic: readonly number[], room: number): number[] {
	const widths = [...natural];
	const total = () => widths.reduce((sum, width) => sum + width + 2, -2);
	for (let over = total() - room; over > 0; over--) {
		const widestOne = elastic.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
		if (widestOne === undefined || (widths[widestOne] ?? 0) <= NARROWEST) break;
		widths[widestOne] = (widths[widestOne] ?? 0) - 1;
	}
	return widths;
}

function pad(text: string, width: number): string {
	return text + " ".repeat(Math.max(0, width - columns(text)));
}

function widest(texts: readonly string[]): number {
	return Math.max(0, ...texts.map(columns));
}
