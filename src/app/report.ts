// What Keryx tells whoever runs it, while it runs. The terminal prints it; a program that embeds Keryx may log it.

export interface Report {
	/** Something is wrong, or needs attention. */
	warn(text: string): void;
	/** For information. */
	note(text: string): void;
}
