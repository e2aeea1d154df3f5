/** Joins class names, leaving out falsy ones. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
	return names.filter(Boolean).join(" ");
}
