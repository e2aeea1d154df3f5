// Patterns for file names, one part of a path at a time.
import { BELOW, SOME, UNKNOWN } from "../text.ts";

/** Longer names are taken to match: no file that matters has one, and the work is the product of both lengths. */
const LONGEST = 200;

export function isPattern(part: string): boolean {
	return /[*?[(]/.test(part) || part.includes(UNKNOWN) || part.includes(SOME) || part.includes(BELOW);
}

/**
 * Whether some name matches both patterns: `*` any text, `?` one character. A set in brackets counts as any one character, a group in
 * parentheses and a piece that is not seen as any text. Upper and lower case are the same: some file systems take either.
 */
export function mayMeet(left: string, right: string): boolean {
	if (left.length > LONGEST || right.length > LONGEST) return true;
	const a = units(left);
	const b = units(right);
	// A pattern for names finds hidden ones only if it begins with a dot.
	if (isHidden(a) !== isHidden(b)) return false;
	let row = new Array<boolean>(b.length + 1).fill(false);
	row[0] = true;
	for (let j = 1; j <= b.length; j++) row[j] = row[j - 1] === true && b[j - 1] === "*";
	for (const unit of a) {
		const next = new Array<boolean>(b.length + 1).fill(false);
		next[0] = row[0] === true && unit === "*";
		for (let j = 1; j <= b.length; j++) {
			const other = b[j - 1] as string;
			if (unit === "*" || other === "*") next[j] = row[j] === true || next[j - 1] === true;
			else next[j] = row[j - 1] === true && (unit === "?" || other === "?" || unit === other);
		}
		row = next;
	}
	return row[b.length] === true;
}

function isHidden(units: readonly string[]): boolean {
	return units[0] === ".";
}

function units(pattern: string): string[] {
	const found: string[] = [];
	for (let at = 0; at < pattern.length; at++) {
		const char = pattern[at] as string;
		const open = char === "[" ? "]" : char === "(" ? ")" : null;
		const close = open ? pattern.indexOf(open, at + 2) : -1;
		if (close > 0) {
			found.push(char === "[" ? "?" : "*");
			at = close;
		} else if (char === UNKNOWN || char === SOME || char === BELOW) found.push("*");
		else if (!(/[@!+]/.test(char) && pattern[at + 1] === "(")) found.push(char.toLowerCase());
	}
	return found;
}
