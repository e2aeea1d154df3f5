// Finds formulas in a text. Models write \( \), \[ \], $$ $$ and $ $, but a dollar sign is more often money. Pure.

/** Code, which is left unchanged, or a formula in one of its forms. */
const PARTS =
	/(```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`)|\\\[([\s\S]+?)\\\]|\\\(([^\n]+?)\\\)|(\$\$[\s\S]+?\$\$)|(?<![\\$\w])\$(?![\s$])([^$\n]*?[^\s\\$])\$(?![\d$\w])/g;

/** Matches something that prices and shell variables do not contain. */
const FORMULA = /[\\^_=<>{}+*|]|^[A-Za-z]\d?$|^\d*[A-Za-z]$/;

export function hasMath(text: string): boolean {
	return /[$\\]/.test(text) && mathMarked(text).isMath;
}

/** The same text with every formula between double dollar signs, the form that the parser reads. */
export function mathMarked(text: string): { readonly text: string; readonly isMath: boolean } {
	let isMath = false;
	const marked = text.replace(
		PARTS,
		(whole: string, code?: string, block?: string, inline?: string, dollars?: string, single?: string) => {
			if (code !== undefined || (single !== undefined && !FORMULA.test(single))) return whole;
			isMath = true;
			if (block !== undefined) return `\n$$\n${block.trim()}\n$$\n`;
			if (dollars !== undefined) return dollars;
			return `$$${(inline ?? single ?? "").trim()}$$`;
		},
	);
	return { text: marked, isMath };
}
