// A project's .gitignore rules, by git's semantics, but in limited time: git reads a pipe of that name forever, and some patterns
// backtrack for minutes. Only regular files are read, and matching takes time proportional to pattern times name.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { KeryxError } from "../errors.ts";
import { fullPath, type RawPath } from "./names.ts";

export const IGNORE_FILE = ".gitignore";
const MAX_BYTES = 1024 * 1024;
/** Of one look at a workspace: about a second. */
const MAX_STEPS = 30_000_000;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** One symbol of a pattern, or a wildcard. */
type Token =
	| { readonly kind: "one"; readonly accepts: (code: number) => boolean }
	/** Any number of characters; `slash` where / is one of them. */
	| { readonly kind: "many"; readonly slash: boolean }
	/** Nothing, or whole folders with the / behind them. */
	| { readonly kind: "folders" };

interface Rule {
	readonly negative: boolean;
	readonly folderOnly: boolean;
	/** It is held against the last part of a path. */
	readonly nameOnly: boolean;
	/** A pattern without any special sign. */
	readonly literal: string | null;
	readonly tokens: readonly Token[];
}

/** The time that one look may spend on patterns. */
export interface IgnoreBudget {
	steps: number;
}

export function ignoreBudget(): IgnoreBudget {
	return { steps: MAX_STEPS };
}

/** The rules of one folder, which come before those of the folders above. Read when they are first asked. */
export class IgnoreRules {
	readonly #root: string;
	/** Ends with /; that of the workspace is ''. */
	readonly #folder: string;
	readonly #above: IgnoreRules | null;
	#rules: readonly Rule[] | undefined;

	constructor(root: string, folder: string, above: IgnoreRules | null) {
		this.#root = root;
		this.#folder = folder;
		this.#above = above;
	}

	/** Throws checkpoint.failed where the rules are too large, or take too long. No folder that the path is in is ignored. */
	ignores(path: RawPath, isFolder: boolean, budget: IgnoreBudget): boolean {
		this.#rules ??= readRules(this.#root, `${this.#folder}${IGNORE_FILE}` as RawPath);
		const within = path.slice(this.#folder.length);
		const name = within.slice(within.lastIndexOf("/") + 1);
		for (let n = this.#rules.length - 1; n >= 0; n--) {
			const rule = this.#rules[n] as Rule;
			if (rule.folderOnly && !isFolder) continue;
			if (isMatch(rule, rule.nameOnly ? name : within, budget)) return !rule.negative;
			if (budget.steps < 0) throw tooMuch(`${this.#folder}${IGNORE_FILE}`, "its patterns take too long");
		}
		return this.#above?.ignores(path, isFolder, budget) ?? false;
	}
}

/** Of what is no regular file there are none. */
function readRules(root: string, path: RawPath): readonly Rule[] {
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
		return parseRules(buffer.toString("latin1", 0, length));
	} finally {
		closeSync(file);
	}
}

function tooMuch(path: string, why: string): KeryxError {
	return new KeryxError("checkpoint.failed", `the rules in ${path} are ignored: ${why}`);
}

/** One character per byte. */
function parseRules(text: string): readonly Rule[] {
	const rules: Rule[] = [];
	for (const line of text.replace(/^\xef\xbb\xbf/, "").split("\n")) {
		const rule = parseRule(trimmed(line.endsWith("\r") ? line.slice(0, -1) : line));
		if (rule) rules.push(rule);
	}
	return rules;
}

/** Spaces at the end do not count, unless a backslash stands before them. */
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

function parseRule(line: string): Rule | null {
	if (line === "" || line.startsWith("#")) return null;
	const negative = line.startsWith("!");
	let pattern = negative ? line.slice(1) : line;
	const folderOnly = pattern.endsWith("/");
	if (folderOnly) pattern = pattern.slice(0, -1);
	const nameOnly = !pattern.includes("/");
	if (pattern.startsWith("/")) pattern = pattern.slice(1);
	if (pattern === "") return null;
	const literal = /[*?[\\]/.test(pattern) ? null : pattern;
	const tokens = literal === null ? tokensOf(pattern, nameOnly) : [];
	// Of a pattern that is not well formed git finds nothing.
	return tokens && { negative, folderOnly, nameOnly, literal, tokens };
}

function isMatch({ literal, tokens }: Rule, text: string, budget: IgnoreBudget): boolean {
	budget.steps--;
	return literal === null ? isAccepted(tokens, text, budget) : literal === text;
}

/** All ways through the pattern at once: `here[n]` says that what was read can end before token n. */
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
			if (
				token.kind === "one" ? token.accepts(code) : token.kind === "many" && (token.slash || code !== SLASH)
			) {
				next[token.kind === "one" ? n + 1 : n] = 1;
				alive = true;
			}
			// Inside of folders it stays where it is, and is through with each / that it meets.
			if (token.kind === "folders") {
				if (next[n] === 0) next[n] = INSIDE;
				if (code === SLASH) next[n + 1] = 1;
				alive = true;
			}
		}
		if (!alive) return false;
		skip(tokens, next);
		[here, next] = [next, here];
	}
	return here[tokens.length] === 1;
}

/** A state that may continue reading, but from which nothing is skipped. */
const INSIDE = 2;
const SLASH = 47;

/** What matches nothing, too, is passed without reading. */
function skip(tokens: readonly Token[], states: Uint8Array): void {
	for (let n = 0; n < tokens.length; n++)
		if (states[n] === 1 && (tokens[n] as Token).kind !== "one") states[n + 1] = 1;
}

/** Null: not well formed. */
function tokensOf(pattern: string, nameOnly: boolean): readonly Token[] | null {
	const tokens: Token[] = [];
	for (let at = 0; at < pattern.length; ) {
		const sign = pattern[at] as string;
		if (sign === "*") {
			const begin = at;
			while (pattern[at] === "*") at++;
			const isDouble = at - begin > 1;
			const opens = begin === 0 || pattern[begin - 1] === "/";
			const closes = at === pattern.length || pattern[at] === "/" || pattern.startsWith("\\/", at);
			if (isDouble && opens && closes && !nameOnly) {
				if (pattern[at] === "/") {
					tokens.push({ kind: "folders" });
					at++;
				} else tokens.push({ kind: "many", slash: true });
			} else tokens.push({ kind: "many", slash: false });
		} else if (sign === "?") {
			tokens.push({ kind: "one", accepts: (code) => code !== SLASH });
			at++;
		} else if (sign === "[") {
			const found = classAt(pattern, at);
			if (!found) return null;
			tokens.push({ kind: "one", accepts: (code) => code !== SLASH && found.accepts(code) });
			at = found.end;
		} else {
			if (sign === "\\") at++;
			if (at === pattern.length) return null;
			const only = pattern.charCodeAt(at);
			tokens.push({ kind: "one", accepts: (code) => code === only });
			at++;
		}
	}
	return tokens;
}

interface CharacterClass {
	readonly accepts: (code: number) => boolean;
	/** Behind its ]. */
	readonly end: number;
}

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

/** Of a [ at this place. Null where it has no end, or names what there is not. */
function classAt(pattern: string, from: number): CharacterClass | null {
	let at = from + 1;
	const negated = pattern[at] === "!" || pattern[at] === "^";
	if (negated) at++;
	const parts: ((code: number) => boolean)[] = [];
	let previous: number | null = null;
	for (let first = true; first || pattern[at] !== "]"; first = false) {
		if (at >= pattern.length) return null;
		const named = /^\[:([^\]]*):\]/.exec(pattern.slice(at, at + LONGEST_NAME));
		if (named) {
			const letters = NAMED[named[1] as string];
			if (!letters) return null;
			parts.push((code) => letters.test(String.fromCharCode(code)));
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
		parts.push((one) => one >= low && one <= code);
		previous = isRange ? null : code;
	}
	return { accepts: (code) => parts.some((part) => part(code)) !== negated, end: at + 1 };
}

const LONGEST_NAME = 16;
