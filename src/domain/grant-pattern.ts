// Which arguments a grant covers. A pattern is the arguments as JSON, with * for anything within one value: it never spans values, so
// that nothing can be added to what a human allowed. Pure.

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Null if the pattern is valid; otherwise the problem. */
export function grantPatternProblem(pattern: string): string | null {
	const parsed = read(pattern);
	return parsed !== undefined && typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
		? null
		: 'pattern must be the arguments as JSON, such as {"command":"npm run *"}';
}

/** The same names on both sides, and each value matches. An invalid pattern covers nothing. */
export function coversArguments(pattern: string, details: Readonly<Record<string, unknown>>): boolean {
	const parsed = read(pattern);
	return parsed !== undefined && fits(parsed, details as Json);
}

function read(text: string): Json | undefined {
	try {
		return JSON.parse(text) as Json;
	} catch {
		return undefined;
	}
}

function fits(pattern: Json, value: Json): boolean {
	// Alone it matches any single value without nested ones.
	if (pattern === "*") return typeof value !== "object" || value === null;
	if (typeof pattern === "string") return typeof value === "string" && fitsText(pattern, value);
	if (typeof pattern !== "object" || pattern === null) return pattern === value;
	if (typeof value !== "object" || value === null || Array.isArray(pattern) !== Array.isArray(value))
		return false;
	const [wanted, given] = [Object.entries(pattern), value as Readonly<Record<string, Json>>];
	return (
		wanted.length === Object.keys(value).length &&
		wanted.every(([key, inner]) => Object.hasOwn(given, key) && fits(inner as Json, given[key] as Json))
	);
}

/** Linear: each piece is looked for once, from where the last one ended. */
function fitsText(pattern: string, text: string): boolean {
	const [first = "", ...rest] = pattern.split("*");
	if (!text.startsWith(first)) return false;
	if (rest.length === 0) return text === first;
	const last = rest.pop() as string;
	let from = first.length;
	for (const piece of rest) {
		const at = text.indexOf(piece, from);
		if (at < 0) return false;
		from = at + piece.length;
	}
	return text.length - last.length >= from && text.endsWith(last);
}
