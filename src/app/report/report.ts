// Keryx's reports to its operator. The terminal prints them; an embedding program may log them.
import { KeryxError } from "../../errors.ts";

export interface Report {
	/** Something is wrong, or needs attention. */
	warn(text: string): void;
	/** For information. */
	note(text: string): void;
}

/** With the remedy, if known. */
export function wordsOf(error: unknown): string {
	if (error instanceof KeryxError) return `${error.message}; ${error.hint}`;
	return error instanceof Error ? error.message : String(error);
}
