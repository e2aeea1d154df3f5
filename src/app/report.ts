// What Keryx tells whoever runs it, while it runs. The terminal prints it; a program that embeds Keryx may log it.
import { KeryxError } from "../errors.ts";

export interface Report {
	/** Something is wrong, or needs attention. */
	warn(text: string): void;
	/** For information. */
	note(text: string): void;
}

/** With the remedy, where it is known. */
export function wordsOf(error: unknown): string {
	if (error instanceof KeryxError) return `${error.message}; ${error.hint}`;
	return error instanceof Error ? error.message : String(error);
}
