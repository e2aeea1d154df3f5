// Titles of sessions: one clean line, and the name of a successor.

const MAX = 100;
// Control, zero-width and bidi characters: they could hide what a title says or break the line it stands on.
const UNWANTED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const SUCCESSOR = /^(.*) #(\d{1,6})$/su;

/** The title as it is kept: at most 100 characters, "" when nothing is left of it. */
export function cleanTitle(text: string): string {
	const clean = text.replace(UNWANTED, " ").replace(/\s+/gu, " ").trim();
	return Array.from(clean).slice(0, MAX).join("").trimEnd();
}

/** `name` -> `name #2` -> `name #3`, within the length of a title. */
export function successorTitle(title: string): string {
	const [, name = title, n = "1"] = SUCCESSOR.exec(title) ?? [];
	const suffix = ` #${Number(n) + 1}`;
	return (
		Array.from(name)
			.slice(0, MAX - suffix.length)
			.join("") + suffix
	);
}
