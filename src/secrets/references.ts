// Character references of HTML and Markdown: by number, or by name for characters that secrets contain.

/** From the `&` on, without the semicolon: `&NewLine`, `&#x10ffff`. */
export const LONGEST_REFERENCE = 9;

const NAMES = new Map(
	Object.entries({
		"!": "excl",
		'"': "quot QUOT",
		"#": "num",
		$: "dollar",
		"%": "percnt",
		"&": "amp AMP",
		"'": "apos",
		"(": "lpar",
		")": "rpar",
		"*": "ast midast",
		"+": "plus",
		",": "comma",
		".": "period",
		"/": "sol",
		":": "colon",
		";": "semi",
		"<": "lt LT",
		"=": "equals",
		">": "gt GT",
		"?": "quest",
		"@": "commat",
		"[": "lsqb lbrack",
		"\\": "bsol",
		"]": "rsqb rbrack",
		"^": "Hat",
		_: "lowbar UnderBar",
		"`": "grave",
		"{": "lcub lbrace",
		"|": "verbar vert",
		"}": "rcub rbrace",
		"\t": "Tab",
		"\n": "NewLine",
		" ": "nbsp ensp emsp",
		"": "shy zwj zwnj",
	}).flatMap(([character, names]) => names.split(" ").map((name) => [name, character] as const)),
);

/** The character; undefined if there is none. */
export function referenced(reference: string): string | undefined {
	const [, hex, decimal] = /^&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(reference) ?? [];
	if (hex === undefined && decimal === undefined) return NAMES.get(reference.slice(1));
	const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
	return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code).toWellFormed() : undefined;
}
