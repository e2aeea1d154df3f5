// A project's .gitignore rules, by git's semantics, but in limited time: git reads a pipe of that name forever, and some patterns
// backtrack for minutes. Only regular files are read, and matching takes time proportional to pattern times name.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { KeryxError } from "../errors.ts";
import { fullPath, type RawPath } from "./names.ts";

export const IGNORE_FILE = ".gitignore";
const MAX_BYTES = 1024 * 1024;
/** For one scan of a workspace: one or two seconds. */
const MAX_STEPS = 100_000_000;
/** A character class is stored as one flag per byte. */
const BYTES = 256;
/** The cost of searching for a pattern's required text, and how many characters of a name count as one step. */
const SEARCH_STEPS = 4;
const SEARCHED = 32;
/** The required text is cut to this length, so that no pattern makes the search slow. */
const LONGEST_NEEDED = 8;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** One symbol of a pattern, or a wildcard. */
type Token =
	| { readonly kind: "only"; readonly code: number }
	/** A flag for each byte. */
	| { readonly kind: "one"; readonly accepts: Uint8Array }
	/** Any number of characters; `slash`: including /. */
	| { readonly kind: "many"; readonly slash: boolean }
	/** Nothing, or whole folders with the / after them. */
	| { readonly kind: "folders" };

interface Rule {
	readonly negative: boolean;
	readonly folderOnly: boolean;
	/** Matches against the last part of a path. */
	readonly nameOnly: boolean;
	/** A pattern without special characters. */
	readonly literal: string | null;
	/** Every match contains this text. It alone excludes most names. */
	readonly needed: string;
	readonly tokens: readonly Token[];
}

/** The time that one scan may spend on patterns. */
export interface IgnoreBudget {
	steps: number;
}

export function ignoreBudget(): IgnoreBudget {
	return { steps: MAX_STEPS };
}

/** The rules of one folder, which override those of its parents. Read on first use. */
export class IgnoreRules {
	readonly #root: string;
	/** Ends with /; '' for the workspace. */
	readonly #folder: string;
	readonly #above: IgnoreRules | null;
	#rules: readonly Rule[] | undefined;

	constructor(root: string, folder: string, above: IgnoreRules | null) {
		this.#root = root;
		this.#folder = folder;
		this.#above = above;
	}

	/** Throws checkpoint.failed if the rules are too large or take too long. The path must not be in an ignored folder. */
	ignores(path: RawPath, isFolder: boolean, budget: IgnoreBudget): boolean {
		this.#rules ??= readRules(this.#root, `${this.#folder}${IGNORE_FILE}` as RawPath, budget);
		const within = path.slice(this.#folder.length);
		const name = within.slice(within.lastIndexOf("/") + 1);
		for (let n = this.#rules.length - 1; n >= 0; n--) {
			const rule = this.#rules[n] as Rule;
			if (rule.folderOnly && !isFolder) continue;
			if (isMatch(rule, rule.nameOnly ? name : within, budget)) return !rule.negative;
			if (budget.steps < 0) throw tooLong(`${this.#folder}${IGNORE_FILE}`);
		}
		return this.#above?.ignores(path, isFolder, budget) ?? false;
	}
}

/** Anything but a regular file has no rules. */
function readRules(root: string, path: RawPath, budget: IgnoreBudget): readonly Rule[] {
	let file: number;
	try {
		file = openSync(fullPath(root, path), FLAGS);
	} catch {
		return [];
	}
	try {
		const stats = fstatSync(file);
		if (!stats.isFile()) return [];
		const buffer = Buffer.alloc(MAX_BYTES + 1);
		let length = 0;
		for (;;) {
			const read = readSync(file, buffer, length, buffer.length - length, null);
			length += read;
			if (read === 0) break;
			if (length > MAX_BYTES) throw tooMuch(path, "it is larger than 1 MB");
		}
		const rules = parseRules(buffer.toString("latin1", 0, length), budget);
		if (budget.steps < 0) throw tooLong(path);
		return rules;
	} finally {
		closeSync(file);
	}
}

function tooMuch(path: string, why: string): KeryxError {
	return new KeryxError("checkpoint.failed", `the rules in ${path} cannot be followed: ${why}`);
}

function tooLong(path: string): KeryxError {
	return tooMuch(path, "its patterns take too long");
}

/** One character per byte. */
function parseRules(text: string, budget: IgnoreBudget): readonly Rule[] {
	const rules: Rule[] = [];
	budget.steps -= text.length;
	for (const line of text.replace(/^\xef\xbb\xbf/, "").split("\n")) {
		if (budget.steps < 0) break;
		const rule = parseRule(trimmed(line.endsWith("\r") ? line.slice(0, -1) : line), budget);
		if (rule) rules.push(rule);
	}
	return rules;
}

/** Trailing spaces do not count, except after a backslash. */
function trimmed(line: string): string {
	let end = line.length;
	while (end > 0 && line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
	return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
	let slashes = 0;
	while (line[at - 1 - slashes] === "\\") slashes++;
	return slashes % 2 === 1;
}

function parseRule(line: string, budget: IgnoreBudget): Rule | null {
	if (line === "" || line.startsWith("#")) return null;
	const negative = line.startsWith("!");
	let pattern = negative ? line.slice(1) : line;
	const folderOnly = pattern.endsWith("/");
	if (folderOnly) pattern = pattern.slice(0, -1);
	const nameOnly = !pattern.includes("/");
	if (pattern.startsWith("/")) pattern = pattern.slice(1);
	if (pattern === "") return null;
	const literal = /[*?[\\]/.test(pattern) ? null : pattern;
	const tokens = literal === null ? tokensOf(pattern, nameOnly, budget) : [];
	// git matches nothing with an invalid pattern.
	return tokens && { negative, folderOnly, nameOnly, literal, needed: neededBy(tokens), tokens };
}

/** The longest text between two wildcards, or its first part. */
function neededBy(tokens: readonly Token[]): string {
	let longest = "";
	let here = "";
	for (const token of tokens) {
		here = token.kind === "only" ? here + String.fromCharCode(token.code) : "";
		if (here.length > longest.length) longest = here;
		if (longest.length === LONGEST_NEEDED) break;
	}
	return longest;
}

function isMatch({ literal, needed, tokens }: Rule, text: string, budget: IgnoreBudget): boolean {
	budget.steps--;
	if (literal !== null) return literal === text;
	budget.steps -= SEARCH_STEPS + Math.floor(text.length / SEARCHED);
	return text.includes(needed) && isAccepted(tokens, text, budget);
}

/** Follows all ways through the pattern at once: `here[n]` means that the text so far can end before token n. */
function isAccepted(tokens: readonly Token[], text: string, budget: IgnoreBudget): boolean {
	let here = new Uint8Array(tokens.length + 1);
	let next = new Uint8Array(tokens.length + 1);
	here[0] = 1;
	skip(tokens, here);
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		let alive = false;
		next.fill(0);
		budget.steps -= tokens.length;
		if (budget.steps < 0) return false;
		for (let n = 0; n < tokens.length; n++) {
			if (here[n] === 0) continue;
			const token = tokens[n] as Token;
			if (token.kind === "folders") {
				// Within folders it stays in this state, and can leave it at each /.
				if (next[n] === 0) next[n] = INSIDE;
				if (code === SLASH) next[n + 1] = 1;
				alive = true;
			} else if (accepts(token, code)) {
				next[token.kind === "many" ? n : n + 1] = 1;
				alive = true;
			}
		}
		if (!alive) return false;
		skip(tokens, next);
		[here, next] = [next, here];
	}
	return here[tokens.length] === 1;
}

function accepts(token: Exclude<Token, { readonly kind: "folders" }>, code: number): boolean {
	if (token.kind === "only") return token.code === code;
	if (token.kind === "one") return token.accepts[code] === 1;
	return token.slash || code !== SLASH;
}

/** A state that may continue reading, but from which nothing is skipped. */
const INSIDE = 2;
const SLASH = 47;

/** Also skips tokens that may match nothing. */
function skip(tokens: readonly Token[], states: Uint8Array): void {
	for (let n = 0; n < tokens.length; n++)
		if (states[n] === 1 && isWildcard(tokens[n] as Token)) states[n + 1] = 1;
}

function isWildcard({ kind }: Token): boolean {
	return kind === "many" || kind === "folders";
}

/** Null: invalid. */
function tokensOf(pattern: string, nameOnly: boolean, budget: IgnoreBudget): readonly Token[] | null {
	const tokens: Token[] = [];
	// git compares the text before the first wildcard by itself, and takes what follows as a pattern of its own.
	const start = pattern.search(/[*?[\\]/);
	for (let at = 0; at < pattern.length; ) {
		const sign = pattern[at] as string;
		if (sign === "*") {
			const begin = at;
			while (pattern[at] === "*") at++;
			const isDouble = at - begin > 1;
			const opens = begin === start || pattern[begin - 1] === "/";
			const closes = at === pattern.length || pattern[at] === "/" || pattern.startsWith("\\/", at);
			if (isDouble && opens && closes && !nameOnly) {
				if (pattern[at] === "/") {
					tokens.push({ kind: "folders" });
					at++;
				} else tokens.push({ kind: "many", slash: true });
			} else tokens.push({ kind: "many", slash: false });
		} else if (sign === "?") {
			tokens.push({ kind: "one", accepts: ANY });
			at++;
		} else if (sign === "[") {
			budget.steps -= BYTES;
			const found = budget.steps < 0 ? null : classAt(pattern, at, budget);
			if (!found) return null;
			tokens.push({ kind: "one", accepts: found.accepts });
			at = found.end;
		} else {
			if (sign === "\\") at++;
			if (at === pattern.length) return null;
			tokens.push({ kind: "only", code: pattern.charCodeAt(at) });
			at++;
		}
	}
	return tokens;
}

interface CharacterClass {
	readonly accepts: Uint8Array;
	/** After its ]. */
	readonly end: number;
}

/** Every character except /. */
const ANY = new Uint8Array(BYTES).fill(1);
ANY[SLASH] = 0;

const NAMED: Readonly<Record<string, RegExp>> = {
	alnum: /[A-Za-z0-9]/,
	alpha: /[A-Za-z]/,
	blank: /[ \t]/,
	cntrl: /[^ -~\u0080-\u00ff]/,
	digit: /[0-9]/,
	graph: /[!-~]/,
	lower: /[a-z]/,
	print: /[ -~]/,
	punct: /[!-/:-@[-`{-~]/,
	space: /[ \t\n\v\f\r]/,
	upper: /[A-Z]/,
	xdigit: /[0-9A-Fa-f]/,
};

/** The class that starts at this [. Null if it has no end, or names an unknown class. */
function classAt(pattern: string, from: number, budget: IgnoreBudget): CharacterClass | null {
	let at = from + 1;
	const negated = pattern[at] === "!" || pattern[at] === "^";
	if (negated) at++;
	const accepted = new Uint8Array(BYTES);
	let previous: number | null = null;
	for (let first = true; first || pattern[at] !== "]"; first = false) {
		if (at >= pattern.length) return null;
		const named = pattern[at] === "[" ? NAME.exec(pattern.slice(at, at + LONGEST_NAME)) : null;
		if (named) {
			const letters = NAMED[named[1] as string];
			if (!letters) return null;
			budget.steps -= BYTES;
			for (let code = 0; code < BYTES; code++)
				if (letters.test(String.fromCharCode(code))) accepted[code] = 1;
			previous = null;
			at += named[0].length;
			continue;
		}
		const isRange: boolean =
			pattern[at] === "-" && previous !== null && at + 1 < pattern.length && pattern[at + 1] !== "]";
		if (isRange) at++;
		if (pattern[at] === "\\") at++;
		if (at >= pattern.length) return null;
		const code = pattern.charCodeAt(at++);
		const low = isRange ? (previous as number) : code;
		if (low <= code) accepted.fill(1, low, code + 1);
		previous = isRange ? null : code;
	}
	if (negated) for (let code = 0; code < BYTES; code++) accepted[code] = accepted[code] === 1 ? 0 : 1;
	accepted[SLASH] = 0;
	return { accepts: accepted, end: at + 1 };
}

const NAME = /^\[:([^\]]*):\]/;
const LONGEST_NAME = 16;
