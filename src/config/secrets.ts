// Guards I12 for what the configuration prints: known secrets, and what looks like one, never appear in it.

/** Shorter values would hide ordinary words all over the output. */
export const SHORTEST_HIDDEN = 6;

/** Replaces each value of the named variables by `${secret:NAME}`, also where it stands in JSON with escapes. */
export function secretHider(
	names: readonly string[],
	env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
	const nameOf = new Map(
		names.flatMap((name) => {
			const value = env[name] ?? "";
			return [value, JSON.stringify(value).slice(1, -1)].map((spelling) => [spelling, name] as const);
		}),
	);
	// A secret may contain another: the longest goes first, or its rest would stay readable.
	const values = [...nameOf.keys()]
		.filter((value) => value.length >= SHORTEST_HIDDEN)
		.toSorted((a, b) => b.length - a.length);
	if (values.length === 0) return (text) => text;
	// All in one pass, so that the text put in is not searched again.
	const any = new RegExp(
		values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"),
		"g",
	);
	return (text) => text.replace(any, (value) => `\${secret:${nameOf.get(value)}}`);
}

/** Replaces whatever looks like a key, token or password by `***`: it may have been put where it does not belong. */
export function hideSecretLike(text: string): string {
	return SECRET_LIKE.reduce((hidden, pattern) => hidden.replace(pattern, "***"), text);
}

const SECRET_LIKE = [
	/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g,
	// The password in an address such as https://user:password@host.
	/(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
	// The marks that providers put in front of their tokens.
	/\b(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|npm|hf|xox[abeoprs]|xapp)[-_][\w-]{10,}/g,
	/\bAKIA[0-9A-Z]{16}\b/g,
	/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
	/\b\d{6,12}:[\w-]{30,}/g,
	// Anything long that no person would have made up: hexadecimal, or capitals, small letters and digits mixed.
	// A path of a file is neither.
	/\b[0-9a-f]{32,}\b/gi,
	/(?<![\w+/=.~-])(?!\/)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*\d)[\w+/=-]{24,}/g,
];
