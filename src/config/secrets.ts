// What looks like a secret, known or not: it may be in the wrong place.
import { HIDDEN } from "../secrets/index.ts";

/** Hides anything that looks like a key, token or password. */
export function hideSecretLike(text: string): string {
	return SECRET_LIKE.reduce((hidden, pattern) => hidden.replace(pattern, HIDDEN), text);
}

/** For everyone but the operator: hides the names of these variables (I12). */
export function hidingNames(names: readonly string[]): (text: string) => string {
	const any = names.filter((name) => name !== "").map((name) => name.replace(/[^\w]/g, "\\$&"));
	if (any.length === 0) return (text) => text;
	const pattern = new RegExp(`(?<!\\w)(?:${any.join("|")})(?!\\w)`, "g");
	return (text) => text.replace(pattern, HIDDEN);
}

/** The same for one setting, whatever the current names are: every variable that it names. `key`: dotted. */
export function hideVariablesIn(key: string, value: unknown): unknown {
	if (NAMES_VARIABLES.test(key)) return hideAll(value);
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map((item) => hideVariablesIn("", item));
	return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, hideVariablesIn(name, held)]));
}

/** A setting whose texts are names of variables, or a part of one. */
const NAMES_VARIABLES = /(?:^|\.)(?:secrets|env|env_pass|\w+_env)(?:$|\.)/;

function hideAll(value: unknown): unknown {
	if (typeof value === "string") return HIDDEN;
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(hideAll);
	return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, hideAll(held)]));
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
