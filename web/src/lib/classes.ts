/** Class names that hold, as one attribute. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
	return names.filter(Boolean).join(" ");
}
