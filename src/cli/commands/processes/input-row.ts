// One row to write a line in, with the keys of any terminal: what is longer than the row shows its end.
import { columns, graphemes } from "../../io/width.ts";
import { shownLine } from "./shown-lines.ts";

export type Entry =
	| { readonly kind: "line"; readonly text: string }
	/** Ctrl-D in an empty row. */
	| { readonly kind: "end" }
	/** Ctrl-C */
	| { readonly kind: "interrupt" };

// biome-ignore lint/suspicious/noControlCharactersInRegex: what keys without a letter send
const OTHER_KEYS = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?/gsu;

export class InputRow {
	readonly #decoder = new TextDecoder();
	#text = "";

	/** The entries that the typed bytes make. */
	type(typed: Uint8Array): Entry[] {
		const entries: Entry[] = [];
		for (const character of this.#decoder.decode(typed, { stream: true }).replace(OTHER_KEYS, "")) {
			const entry = this.#press(character);
			if (entry) entries.push(entry);
		}
		return entries;
	}

	#press(character: string): Entry | null {
		switch (character) {
			case "\r":
			case "\n": {
				const text = this.#text;
				this.#text = "";
				return { kind: "line", text };
			}
			case "\x03":
				return { kind: "interrupt" };
			case "\x04":
				return this.#text === "" ? { kind: "end" } : null;
			case "\b":
			case "\x7f":
				this.#text = graphemes(this.#text).slice(0, -1).join("");
				return null;
			case "\x15":
				this.#text = "";
				return null;
			case "\x17":
				this.#text = this.#text.replace(/\S*\s*$/, "");
				return null;
			default:
				if (character >= " " || character === "\t") this.#text += character;
				return null;
		}
	}

	/** The prompt and the text: the end of both, if they are too wide. */
	draw(before: string, width: number): string {
		const parts = graphemes(`${before}${shownLine(this.#text)}`.replaceAll("\t", "    "));
		let [from, taken] = [parts.length, 0];
		for (; from > 0; from--) {
			taken += columns(parts[from - 1] ?? "");
			if (taken > width) break;
		}
		return parts.slice(from).join("");
	}
}
