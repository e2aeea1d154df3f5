// Character references. HTML knows two thousand names; here are those that answers use. Another name stays as written.

const NAMED: Readonly<Record<string, string>> = {
	amp: "&",
	lt: "<",
	gt: ">",
	quot: '"',
	apos: "'",
	nbsp: "\u00a0",
	ensp: "\u2002",
	emsp: "\u2003",
	thinsp: "\u2009",
	shy: "\u00ad",
	copy: "©",
	reg: "®",
	trade: "™",
	deg: "°",
	plusmn: "±",
	times: "×",
	divide: "÷",
	frac12: "½",
	frac14: "¼",
	frac34: "¾",
	sup2: "²",
	sup3: "³",
	micro: "µ",
	para: "¶",
	sect: "§",
	middot: "·",
	bull: "•",
	hellip: "…",
	ndash: "–",
	mdash: "—",
	lsquo: "‘",
	rsquo: "’",
	ldquo: "“",
	rdquo: "”",
	laquo: "«",
	raquo: "»",
	lsaquo: "‹",
	rsaquo: "›",
	cent: "¢",
	pound: "£",
	yen: "¥",
	euro: "€",
	larr: "←",
	uarr: "↑",
	rarr: "→",
	darr: "↓",
	harr: "↔",
	rArr: "⇒",
	hArr: "⇔",
	le: "≤",
	ge: "≥",
	ne: "≠",
	asymp: "≈",
	equiv: "≡",
	minus: "−",
	infin: "∞",
	radic: "√",
	sum: "∑",
	prod: "∏",
	part: "∂",
	int: "∫",
	forall: "∀",
	exist: "∃",
	isin: "∈",
	empty: "∅",
	cap: "∩",
	cup: "∪",
	and: "∧",
	or: "∨",
	check: "✓",
	cross: "✗",
	star: "☆",
	hearts: "♥",
	alpha: "α",
	beta: "β",
	gamma: "γ",
	delta: "δ",
	Delta: "Δ",
	epsilon: "ε",
	theta: "θ",
	lambda: "λ",
	mu: "μ",
	pi: "π",
	sigma: "σ",
	Sigma: "Σ",
	phi: "φ",
	omega: "ω",
	Omega: "Ω",
	zwnj: "\u200c",
	zwj: "\u200d",
	not: "¬",
	ordm: "º",
	ordf: "ª",
	sup1: "¹",
	iquest: "¿",
	iexcl: "¡",
	Oslash: "Ø",
	oslash: "ø",
	AElig: "Æ",
	aelig: "æ",
	szlig: "ß",
};

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/y;

/** The reference that starts at `at`, if any: its length and its character. */
export function referenceAt(text: string, at: number): { length: number; value: string } | undefined {
	REFERENCE.lastIndex = at;
	const match = REFERENCE.exec(text);
	if (!match) return undefined;
	const [whole, decimal, hex, name] = match;
	if (name !== undefined) {
		const value = Object.hasOwn(NAMED, name) ? NAMED[name] : accented(name);
		return value === undefined ? undefined : { length: whole.length, value };
	}
	const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(decimal, 10);
	return { length: whole.length, value: characterOf(code) };
}

/** Every reference in a text, resolved. */
export function decodeReferences(text: string): string {
	if (!text.includes("&")) return text;
	return text.replaceAll(/&[#\w]{1,32};/g, (whole) => referenceAt(whole, 0)?.value ?? whole);
}

const ACCENTS: Readonly<Record<string, string>> = {
	grave: "\u0300",
	acute: "\u0301",
	circ: "\u0302",
	tilde: "\u0303",
	uml: "\u0308",
	ring: "\u030a",
	caron: "\u030c",
	cedil: "\u0327",
};

/** A letter with an accent, as eacute. */
function accented(name: string): string | undefined {
	const [, letter = "", accent = ""] = /^([A-Za-z])([a-z]+)$/.exec(name) ?? [];
	const sign = Object.hasOwn(ACCENTS, accent) ? ACCENTS[accent] : undefined;
	const whole = sign === undefined ? "" : (letter + sign).normalize("NFC");
	return whole.length === 1 ? whole : undefined;
}

/** Resolves backslash escapes and references, as in link targets and info strings. */
export function unescapeText(text: string): string {
	return text.replace(/\\([!-/:-@[-`{-~])|&[#\w]{2,33};/g, (match, escaped: string | undefined) => {
		return escaped ?? referenceAt(match, 0)?.value ?? match;
	});
}

function characterOf(code: number): string {
	const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
	return valid ? String.fromCodePoint(code) : "\ufffd";
}
