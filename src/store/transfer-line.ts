// Writes or refuses a line of an export. Separate from the format, so that the store's threads start without the schema library.
import { KeryxError } from "../errors.ts";
import type { ExportLine } from "./transfer-format.ts";

/** One line with its end. Characters that some readers treat as line ends are escaped. */
export function toLine(record: ExportLine): string {
	return `${JSON.stringify(record).replace(/[\u0085\u2028\u2029]/g, escaped)}\n`;
}

function escaped(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function invalidLine(
	number: number,
	message: string,
	options: { field?: string; hint?: string; cause?: unknown } = {},
): KeryxError {
	return new KeryxError("import.invalid", `line ${number}: ${message}`, options);
}
