// How a text names a secret: `${secret:NAME}`.

/**
 * Any name, also escaped by markup, once or twice; in a cut text, the start of one. Nothing else: a backslash belongs to it only before a
 * sign that markup escapes, since what follows a name may be a line break that JSON has written as `\\n`, and then a command.
 */
export const SECRET_NAME = /\\{0,2}\$\\{0,2}\{secret:(?:\w|\\{1,2}_)*(?:\\{0,2}\})?/g;

export interface TextRange {
	readonly from: number;
	readonly to: number;
}

/** In order. A text must not be cut inside one: its second half would no longer be recognised, and not be hidden. */
export function secretNamesIn(text: string): readonly TextRange[] {
	if (!text.includes("secret:")) return NONE;
	return Array.from(text.matchAll(SECRET_NAME), ({ 0: { length }, index }) => ({
		from: index,
		to: index + length,
	}));
}

const NONE: readonly TextRange[] = [];
