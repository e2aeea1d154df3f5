// Unlisted credentials, recognised by shape: provider keys, private key blocks, signed tokens. Only unmistakable shapes: anything that
// could be an id or a digest stays.
import { maskKeyBlocks, openBlock } from "./key-blocks.ts";

// Takes time proportional to the length of any text: a shape takes in the whole run of characters it starts in, or starts
// only at the start of a run, so that nothing is read repeatedly.
const SHAPES: readonly (readonly [kind: string, shape: RegExp, isOne?: (found: string) => boolean])[] = [
	["AWS key", /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
	// At least one digit: some words with dashes start like keys.
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

/** The starts of all shapes. */
const STARTS = [
	...["-----BEGIN ", "AKIA", "ASIA", "sk-", "pk_", "rk_", "sk_", "AIza", "github_pat_", "glpat-"],
	...["gho_", "ghp_", "ghr_", "ghs_", "ghu_", "npm_", "hf_", "xox", "xapp-", "eyJ"],
];
const START = new RegExp(STARTS.join("|"));
/** A key that has not ended after this many characters is shown so far. */
const LONGEST = 16 * 1024;

/** Replaces each with the name of its kind. Repeating it changes nothing. */
export function maskShapes(text: string): string {
	if (!START.test(text)) return text;
	return SHAPES.reduce(
		(masked, [kind, shape, isOne]) =>
			masked.replace(shape, (found) => (!isOne || isOne(found) ? `[masked ${kind}]` : found)),
		maskKeyBlocks(text, "[masked private key]"),
	);
}

function hasDigit(text: string): boolean {
	return /\d/.test(text);
}

export function hasShape(text: string): boolean {
	return maskShapes(text) !== text;
}

/** Masks in streamed text. Returned text is final; an end that may still become a credential is held back. */
export class MaskingStream {
	#held = "";
	/** The last character before the held text: no shape starts within a word. */
	#before = "";
	/** The held text is a key that may continue for lines, not a run of characters. */
	#isBlock = false;
	/** The held text is checked again at this length, or when its run ends: not with every piece. */
	#lookAt = 0;

	push(text: string): string {
		this.#held += text;
		if (this.#held.length < this.#lookAt && (this.#isBlock || isRun(text))) return "";
		const all = this.#held;
		const { from, isBlock } = openFrom(all);
		this.#held = all.slice(from);
		this.#isBlock = isBlock;
		this.#lookAt = this.#held.length + this.#held.length / LOOK_AGAIN;
		return this.#masked(all.slice(0, from));
	}

	/** The held rest. */
	end(): string {
		const held = this.#held;
		this.#held = "";
		this.#lookAt = 0;
		return this.#masked(held);
	}

	#masked(text: string): string {
		const before = this.#before;
		this.#before = text.at(-1) ?? before;
		return maskShapes(before + text).slice(before.length);
	}
}

/** Checked again after it has grown by one part in this many. */
const LOOK_AGAIN = 8;

function isRun(text: string): boolean {
	for (let at = 0; at < text.length; at++) if (!goesOn(text.charCodeAt(at))) return false;
	return true;
}

/** From here on the text is undecided. */
function openFrom(text: string): { readonly from: number; readonly isBlock: boolean } {
	const block = openBlock(text);
	if (block.from !== null) return { from: block.from, isBlock: true };
	const rest = text.slice(block.after);
	const run = rest.slice(startOfLastRun(rest));
	const mayBegin =
		run.length <= LONGEST && (START.test(run) || STARTS.some((start) => endsWithStartOf(run, start)));
	return { from: mayBegin ? text.length - run.length : text.length, isBlock: false };
}

/** Characters that a shape may continue with; searched from the end, at most as far as one can reach. */
function startOfLastRun(text: string): number {
	let start = text.length;
	while (start > 0 && text.length - start <= LONGEST && goesOn(text.charCodeAt(start - 1))) start--;
	return start;
}

/** [\w.-], tested for every character of a stream. */
function goesOn(code: number): boolean {
	const isDigit = code >= 0x30 && code <= 0x39;
	const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
	return isLetter || isDigit || code === 0x5f || code === 0x2e || code === 0x2d;
}

function endsWithStartOf(run: string, start: string): boolean {
	for (let length = Math.min(run.length, start.length - 1); length > 0; length--)
		if (run.endsWith(start.slice(0, length))) return true;
	return false;
}
