// Everything the CLI prints goes through here. Text is untrusted at this door: whatever could move the cursor,
// change a colour or fake a line is written as an escape, so only this file lays out lines and colours.
import colours from "picocolors";

/** The part of a process that is written to. */
export interface Streams {
	readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
	readonly stderr: { write(text: string): unknown };
	readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OutputOptions {
	readonly json: boolean;
	/** Applied to everything printed; the place where known secrets are taken out. */
	readonly hide?: (text: string) => string;
}

export interface Output {
	readonly json: boolean;
	heading(text: string): void;
	line(text?: string): void;
	/** Label, value and, if any, a remark; one line each, the values in one column. */
	pairs(rows: readonly (readonly [label: string, value: string, remark?: string])[]): void;
	/** Aligned under a heading on a terminal; when piped, one row a line with tabs between the cells and no heading. */
	table(head: readonly string[], rows: readonly (readonly string[])[]): void;
	/** JSON, in several lines or in one. */
	value(value: unknown, shape?: "lines" | "line"): void;
	/** On stderr, so that it never mixes with results. */
	warn(text: string): void;
}

export function createOutput(
	{ stdout, stderr, env }: Streams,
	{ json, hide = (text) => text }: OutputOptions,
): Output {
	const terminal = stdout.isTTY === true;
	const { bold, dim } = colours.createColors(wantsColour(terminal, env));
	const clean = (text: string) => escapeText(hide(text));
	const write = (line: string) => stdout.write(`${line.trimEnd()}\n`);

	return {
		json,
		heading: (text) => write(bold(clean(text))),
		line: (text = "") => write(clean(text)),
		pairs: (rows) => {
			const labels = widest(rows.map(([label]) => clean(label)));
			const values = widest(rows.map(([, value]) => clean(value)));
			for (const [label, value, remark] of rows) {
				const shown =
					remark === undefined ? clean(value) : `${pad(clean(value), values)}  ${dim(clean(remark))}`;
				write(`  ${dim(pad(clean(label), labels))}  ${shown}`);
			}
		},
		table: (head, rows) => {
			const cells = rows.map((row) => row.map(clean));
			if (!terminal) {
				for (const row of cells) stdout.write(`${row.join("\t")}\n`);
				return;
			}
			const widths = head.map((name, column) => widest([name, ...cells.map((row) => row[column] ?? "")]));
			const lay = (row: readonly string[]) =>
				row.map((cell, column) => pad(cell, widths[column] ?? 0)).join("  ");
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
	};
}

/** Control characters, line separators, bidi and zero-width characters, unpaired surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Each unprintable character as \uXXXX, or as \u{XXXXX} beyond the basic plane. */
export function escapeText(text: string): string {
	return text.replace(UNPRINTABLE, (character) => {
		const hex = (character.codePointAt(0) ?? 0).toString(16);
		return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
	});
}

/** The same within JSON, where line feeds outside of strings are layout and an escape is always four digits. */
function escapeJson(json: string): string {
	return json.replace(UNPRINTABLE, (character) => {
		if (character === "\n") return character;
		return character
			.split("")
			.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
			.join("");
	});
}

/** https://no-color.org: NO_COLOR wins; FORCE_COLOR is for a pager that understands colours. */
function wantsColour(terminal: boolean, env: Streams["env"]): boolean {
	if (env.NO_COLOR) return false;
	return Boolean(env.FORCE_COLOR) || (terminal && env.TERM !== "dumb");
}

function pad(text: string, width: number): string {
	return text + " ".repeat(Math.max(0, width - columns(text)));
}

function widest(texts: readonly string[]): number {
	return Math.max(0, ...texts.map(columns));
}

const WIDE =
	/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u;

/** Columns on a terminal: marks take none, East Asian letters and emoji two. */
function columns(text: string): number {
	let count = 0;
	for (const character of text) count += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
	return count;
}
