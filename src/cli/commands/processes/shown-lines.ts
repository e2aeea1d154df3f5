// A program's output as lines that are safe on any terminal: without colours and cursor moves, and with other control characters escaped.
import { terminalText } from "../../../domain/index.ts";
import { escapeText } from "../../io/output.ts";

/** A line without an end is taken apart here. */
const LONGEST_LINE = 64 * 1024;

/** One line, drawn. */
export function shownLine(line: string): string {
	return terminalText(line).replace(/[^\t]+/g, escapeText);
}

/** Bytes to lines. */
export class LineSplitter {
	readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
	#rest = "";

	/** The complete lines, as printed. */
	push(data: Uint8Array): string[] {
		const lines = (this.#rest + this.#decoder.decode(data, { stream: true })).split("\n");
		this.#rest = lines.pop() ?? "";
		while (this.#rest.length > LONGEST_LINE) {
			lines.push(this.#rest.slice(0, LONGEST_LINE));
			this.#rest = this.#rest.slice(LONGEST_LINE);
		}
		return lines;
	}

	/** The text without a line end yet. */
	get rest(): string {
		return this.#rest;
	}

	/** The same once nothing more comes, or something else comes first. */
	end(): string {
		const rest = this.#rest + this.#decoder.decode();
		this.#rest = "";
		return rest;
	}
}

/** Bytes to safe text immediately: a line is shown as far as known, unless it may still be overwritten. */
export class ShownOutput {
	readonly #lines = new LineSplitter();
	/** The shown part of the unfinished line. */
	#shown = "";

	push(data: Uint8Array): string {
		const lines = this.#lines.push(data);
		const whole = lines.map((line) => `${this.#next(shownLine(line))}\n`).join("");
		if (lines.length > 0) this.#shown = "";
		const { rest } = this.#lines;
		return HAS_CONTROLS.test(rest) ? whole : whole + this.#begin(shownLine(rest));
	}

	/** The held text; ends its line. */
	end(): string {
		const wasShown = this.#shown !== "";
		const rest = this.#next(shownLine(this.#lines.end()));
		return wasShown || rest !== "" ? `${rest}\n` : "";
	}

	/** The missing part of a line. If it changed, it is shown again. */
	#next(line: string): string {
		const shown = this.#shown;
		this.#shown = "";
		return line.startsWith(shown) ? line.slice(shown.length) : `\n${line}`;
	}

	#begin(line: string): string {
		const more = this.#next(line);
		this.#shown = line;
		return more;
	}
}

const HAS_CONTROLS = /[\p{Cc}--[\t]]/v;
