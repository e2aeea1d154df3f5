// {a,b} and {1..3}: one word of a command line that becomes several.

const LIMIT = 64;

/** The words, or null if they are unknown or too many. The text starts and ends with its braces. */
export function braceWords(text: string): string[] | null {
	if (/["'\\$`]/.test(text)) return null;
	const range = /^\{(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])\}$/.exec(text);
	if (range) return rangeWords(range[1] ?? "", range[2] ?? "");
	if (text.includes("..")) return null;
	return expand(text, 0);
}

function rangeWords(first: string, last: string): string[] | null {
	const numeric = /\d/.test(first);
	if (numeric !== /\d/.test(last)) return null;
	const from = numeric ? Number(first) : first.charCodeAt(0);
	const to = numeric ? Number(last) : last.charCodeAt(0);
	if (Math.abs(to - from) >= LIMIT) return null;
	const step = to < from ? -1 : 1;
	return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => {
		const value = from + index * step;
		return numeric ? String(value) : String.fromCharCode(value);
	});
}

/** Alternatives may hold braces themselves. */
function expand(text: string, depth: number): string[] | null {
	const open = text.indexOf("{");
	if (open < 0) return [text];
	if (depth > 8) return null;
	let level = 0;
	let start = open + 1;
	const choices: string[] = [];
	for (let index = open; index < text.length; index++) {
		const char = text[index];
		if (char === "{") level++;
		else if (char === "," && level === 1) {
			choices.push(text.slice(start, index));
			start = index + 1;
		} else if (char === "}" && --level === 0) {
			choices.push(text.slice(start, index));
			return combine(text.slice(0, open), choices, text.slice(index + 1), depth);
		}
	}
	return null;
}

function combine(before: string, choices: readonly string[], after: string, depth: number): string[] | null {
	if (choices.length < 2) return null;
	const rest = expand(after, depth + 1);
	if (!rest) return null;
	const words: string[] = [];
	for (const choice of choices) {
		const inner = expand(choice, depth + 1);
		if (!inner || words.length + inner.length * rest.length > LIMIT) return null;
		for (const middle of inner) for (const end of rest) words.push(before + middle + end);
	}
	return words;
}
