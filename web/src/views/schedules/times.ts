/** An instant in the reader's time zone. */
export function inYourZone(instant: string): string {
	return new Intl.DateTimeFormat(undefined, {
		dateStyle: "medium",
		timeStyle: "short",
	}).format(new Date(instant));
}

export function yourZone(): string {
	return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
