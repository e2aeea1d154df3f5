// Credentials that nobody has named, known by their shape alone: keys of providers, private key blocks, signed tokens. Only shapes that
// say what they are: what might as well be an id or a digest stays.

// Time follows the length of the text, whatever it is made of: a shape takes in all of a run of characters that it begins in, or begins
// at the start of one only, so that none is read again and again.
const SHAPES: readonly (readonly [kind: string, shape: RegExp, isOne?: (found: string) => boolean])[] = [
	[
		"private key",
		/-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----|$)/g,
	],
	["AWS key", /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
	// At least one digit: there are words with dashes that begin alike.
	["provider key", /\bsk-[\w-]{20,}/g, hasDigit],
	["Stripe key", /\b[prs]k_(?:live|test)_[A-Za-z0-9]{16,}/g],
	["Google key", /\bAIza[\w-]{35}/g],
	["GitHub token", /\b(?:gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g],
	["GitLab token", /\bglpat-[\w-]{20,}/g],
	["npm token", /\bnpm_[A-Za-z0-9]{36,}/g],
	["Hugging Face token", /\bhf_[A-Za-z0-9]{30,}/g],
	["Slack token", /\b(?:xox[abeoprs]|xapp)-[\w-]{10,}/g, hasDigit],
	["signed token", /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g],
];

/** What every shape begins with. */
const STARTS = [
	...["-----BEGIN ", "AKIA", "ASIA", "sk-", "pk_", "rk_", "sk_", "AIza", "github_pat_", "glpat-"],
	...["gho_", "ghp_", "ghr_", "ghs_", "ghu_", "npm_", "hf_", "xox", "xapp-", "eyJ"],
];
const START = new RegExp(STARTS.join("|"));
/** A key that has not ended after so many characters is shown as far as it goes. */
const LONGEST = 16 * 1024;

/** The text with each of them named by its kind alone. Doing it again changes nothing. */
export function maskShapes(text: string): string {
	if (!START.test(text)) return text;
	return SHAPES.reduce(
		(masked, [kind, shape, isOne]) =>
			masked.replace(shape, (found) => (!isOne || isOne(found) ? `[masked ${kind}]` : found)),
		text,
	);
}

function hasDigit(text: string): boolean {
	return /\d/.test(text);
}

export function hasShape(text: string): boolean {
	return maskShapes(text) !== text;
}

/** Masks in a text that comes in pieces. What it answers is final; an end that may still become one is held back. */
export class MaskingStream {
	#held = "";

	push(text: string): string {
		const all = this.#held + text;
		const open = openFrom(all);
		this.#held = all.slice(open);
		return maskShapes(all.slice(0, open));
	}

	/** What was held back. */
	end(): string {
		const held = this.#held;
		this.#held = "";
		return maskShapes(held);
	}
}

const BLOCK_BEGINS = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/g;
const BLOCK_ENDS = /-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----/g;
/** One that has not ended, or the first line of what may be one. */
const OPEN_BLOCK = /-----BEGIN (?:(?:[A-Z0-9]+ )*PRIVATE KEY-----|[A-Z0-9 ]*-{0,4}$)/;

/** From here on it is not decided what the text is. */
function openFrom(text: string): number {
	const after = afterWholeBlocks(text);
	const rest = text.slice(after);
	const block = rest.search(OPEN_BLOCK);
	if (block >= 0 && rest.length - block <= LONGEST) return after + block;
	const run = rest.slice(startOfLastRun(rest));
	if (run.length > LONGEST) return text.length;
	const mayBegin = START.test(run) || STARTS.some((start) => endsWithStartOf(run, start));
	return mayBegin ? text.length - run.length : text.length;
}

/** Of characters that a shape may go on with; looked for from the end, and no further than one may reach. */
function startOfLastRun(text: string): number {
	let start = text.length;
	while (start > 0 && text.length - start <= LONGEST && goesOn(text.charCodeAt(start - 1))) start--;
	return start;
}

/** [\w.-], asked of every character of a stream. */
function goesOn(code: number): boolean {
	const isDigit = code >= 0x30 && code <= 0x39;
	const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
	return isLetter || isDigit || code === 0x5f || code === 0x2e || code === 0x2d;
}

/** Each part of the text is read once, however many blocks begin in it and never end. */
function afterWholeBlocks(text: string): number {
	let after = 0;
	for (;;) {
		const begun = matchEnd(BLOCK_BEGINS, text, after);
		const ended = begun === null ? null : matchEnd(BLOCK_ENDS, text, begun);
		if (ended === null) return after;
		after = ended;
	}
}

function matchEnd(pattern: RegExp, text: string, from: number): number | null {
	pattern.lastIndex = from;
	return pattern.test(text) ? pattern.lastIndex : null;
}

function endsWithStartOf(run: string, start: string): boolean {
	for (let length = Math.min(run.length, start.length - 1); length > 0; length--)
		if (run.endsWith(start.slice(0, length))) return true;
	return false;
}
