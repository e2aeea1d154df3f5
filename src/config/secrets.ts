// What looks like a secret, known or not: it may be in the wrong place.

/** Replaces anything that looks like a key, token or password by `***`. */
export function hideSecretLike(text: string): string {
	return SECRET_LIKE.reduce((hidden, pattern) => hidden.replace(pattern, "***"), text);
}

const SECRET_LIKE = [
	/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g,
	// The password in an address such as https://user:password@host.
	/(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
	// The prefixes that providers give their tokens.
	/\b(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|npm|hf|xox[abeoprs]|xapp)[-_][\w-]{10,}/g,
	/\bAKIA[0-9A-Z]{16}\b/g,
	/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
	/\b\d{6,12}:[\w-]{30,}/g,
	// Anything long and random: hexadecimal, or capitals, small letters and digits mixed. A file path is neither.
	/\b[0-9a-f]{32,}\b/gi,
	/(?<![\w+/=.~-])(?!\/)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*\d)[\w+/=-]{24,}/g,
];
