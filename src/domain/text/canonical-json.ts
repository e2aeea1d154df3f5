// JSON in one form only (RFC 8785): equal values have equal bytes. Values without such a form are refused.

/** Deeper nesting is no argument of any action, and would use up the stack. */
const DEEPEST = 64;

export type Canonical =
	| { readonly kind: "json"; readonly text: string }
	| { readonly kind: "refused"; readonly problem: string };

export function canonicalJson(value: unknown): Canonical {
	try {
		return { kind: "json", text: write(value, 0) };
	} catch (error) {
		if (error instanceof NoForm) return { kind: "refused", problem: error.message };
		throw error;
	}
}

class NoForm extends Error {}

function write(value: unknown, depth: number): string {
	if (depth > DEEPEST) throw new NoForm(`is nested deeper than ${DEEPEST} levels`);
	if (typeof value === "string") return quoted(value);
	if (value === null || typeof value === "boolean") return String(value);
	if (typeof value === "number") {
		if (!Number.isFinite(value)) throw new NoForm("contains a number that is not finite");
		// ECMAScript's number format is the one that RFC 8785 requires.
		return JSON.stringify(value);
	}
	if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(",")}]`;
	if (typeof value !== "object") throw new NoForm(`contains a ${typeof value}, which JSON does not have`);
	const members = Object.entries(value)
		// By UTF-16 units, which is how ECMAScript compares strings.
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, inner]) => `${quoted(name)}:${write(inner, depth + 1)}`);
	return `{${members.join(",")}}`;
}

function quoted(text: string): string {
	if (!text.isWellFormed()) throw new NoForm("contains half of a surrogate pair");
	return JSON.stringify(text);
}
