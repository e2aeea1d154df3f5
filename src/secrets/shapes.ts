// Unlisted credentials, recognised by shape: provider keys, private key blocks, signed tokens. Only unmistakable shapes: anything that
// could be an id or a digest stays.
import { maskKeyBlocks, openBlock } from "./key-blocks.ts";

// Time follows the length of the text, whatever it is made of: a shape takes in all of a run of characters that it begins in, or begins
// at the start of one only, so that none is read again and again.
const SHAPES: readonly (readonly [kind: string, shape: RegExp, isOne?: (found: string) => boolean])[] = [
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
		maskKeyBlocks(text, "[masked private key]"),
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
	/** The last character before that: a shape may not begin within a word. */
	#before = "";
	/** Of what is held: it is a key that may go on for lines, not a run of characters. */
	#isBlock = false;
	/** What is held is looked at again when it has become so long, or its run has ended: not with every piece. */
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

	/** What was held back. */
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

/** It has grown by this part of it. */
const LOOK_AGAIN = 8;

function isRun(text: string): boolean {
	for (let at = 0; at < text.length; at++) if (!goesOn(text.charCodeAt(at))) return false;
	return true;
}

/** From here on it is not decided what the text is. */
function openFrom(text: string): { readonly from: number; readonly isBlock: boolean } {
	const block = openBlock(text);
	if (block.from !== null) return { from: block.from, isBlock: true };
	const rest = text.slice(block.after);
	const run = rest.slice(startOfLastRun(rest));
	const mayBegin =
		run.length <= LONGEST && (START.test(run) || STARTS.some((start) => endsWithStartOf(run, start)));
	return { from: mayBegin ? text.length - run.length : text.length, isBlock: false };
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

function endsWithStartOf(run: string, start: string): boolean {
	for (let length = Math.min(run.length, start.length - 1); length > 0; length--)
		if (run.endsWith(start.slice(0, length))) return true;
	return false;
}
