/** An instant as clocks show it where the reader is, with the zone's name. */
export function inYourZone(instant: string): string {
	return new Intl.DateTimeFormat(undefined, {
		dateStyle: "medium",
		timeStyle: "short",
	}).format(new Date(instant));
}

export function yourZone(): string {
	return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
