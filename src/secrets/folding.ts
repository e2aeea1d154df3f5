// What each character counts as in the search for secrets. Text changes after hiding: accents and wide letters are folded for search,
// invisible characters are removed from titles. None of this may reveal an unrecognised secret, so a text is searched as if all
// of it had been done.

/** How a text is read: see reading.ts. */
export type Manner = "strict" | "loose" | "squeezed";

/** Counts as nothing: a line break, a control or format character, or a mark on the previous letter. */
export const SKIPPED = 0;

export interface Folding {
	/** By UTF-16 unit: the unit it counts as, or SKIPPED. */
	readonly units: Uint16Array;
	/** Units that count as several. */
	readonly several: ReadonlyMap<number, string>;
	/** Whether two units form one character. */
	readonly hasPairs: boolean;
}

const UNITS = 65_536;
const LINE_BREAKS = [10, 13];
/** In the loose reading, escapes and Markdown's marks for emphasis and code do not count. */
const MARKS = "\\\\*_~`";
/** White space, folded. */
const WHITE = " \t\v\f\u1680\u2028\u2029";
/** Tabs and similar are white space; the readings differ in what that counts as. */
const INVISIBLE = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]|[\p{Cc}--[\t\n\v\f]]/gv;
/** In between are scripts without case and compatibility forms, and surrogates. */
const FOLDED = [
	[0, 0x3400],
	[0xa000, 0xac00],
	[0xf900, UNITS],
] as const;

const made = new Map<string, Folding>();

/** For texts, or for bytes with one unit each. The table is built once, on first use. */
export function foldingFor(kind: "text" | "bytes", manner: Manner): Folding {
	const name = `${kind} ${manner}`;
	const known = made.get(name);
	if (known) return known;
	const folding = manner === "strict" ? strictFolding(kind) : looser(foldingFor(kind, "strict"), manner);
	made.set(name, folding);
	return folding;
}

function strictFolding(kind: "text" | "bytes"): Folding {
	return kind === "text" ? textFolding() : { units: byteUnits(), several: new Map(), hasPairs: false };
}

function looser(strict: Folding, manner: Manner): Folding {
	const units = strict.units.slice();
	const isPassed = new Uint8Array(UNITS);
	for (const mark of manner === "squeezed" ? MARKS + WHITE : MARKS) isPassed[mark.charCodeAt(0)] = 1;
	for (let unit = 0; unit < UNITS; unit++) if (isPassed[units[unit] as number]) units[unit] = SKIPPED;
	return { ...strict, units };
}

/** The folding of characters of any number of units. */
export function folded(characters: string): string {
	return characters.normalize("NFKD").replace(INVISIBLE, "").toUpperCase().toLowerCase();
}

function textFolding(): Folding {
	const units = new Uint16Array(UNITS);
	for (let unit = 0; unit < UNITS; unit++) units[unit] = unit;
	const several = new Map<number, string>();
	for (const [from, to] of FOLDED) {
		// Many at once, one per line: a call for each takes five times as long.
		let lines = "";
		for (let unit = from; unit < to; unit++)
			lines += LINE_BREAKS.includes(unit) ? "\n" : `${String.fromCharCode(unit)}\n`;
		for (const [at, line] of folded(lines).split("\n").slice(0, -1).entries()) {
			units[from + at] = line.length === 1 ? line.charCodeAt(0) : line === "" ? SKIPPED : from + at;
			if (line.length > 1) several.set(from + at, line);
		}
	}
	return { units, several, hasPairs: true };
}

/** Which characters the bytes form is unknown: only case is folded. */
function byteUnits(): Uint16Array {
	const units = new Uint16Array(UNITS);
	for (let unit = 0; unit < UNITS; unit++) {
		const small = unit < 256 ? String.fromCharCode(unit).toUpperCase().toLowerCase() : "";
		units[unit] = small.length === 1 && small.charCodeAt(0) < 256 ? small.charCodeAt(0) : unit;
	}
	for (const unit of LINE_BREAKS) units[unit] = SKIPPED;
	return units;
}
