// The text inside a block: emphasis, code, links, breaks. Every scan is bounded or remembered, so the cost follows
// the length of the text whatever it holds.
import type { Definition, Inline } from "./ast.ts";
import {
	append,
	type Delimiter,
	type DelimiterList,
	delimiter,
	matchEmphasis,
	meaningOf,
} from "./emphasis.ts";
import { referenceAt } from "./entities.ts";
import { inlineTargetAt, labelAt, normalizeLabel } from "./link-syntax.ts";
import { trimSpaceEnd } from "./space.ts";
import { pairTags } from "./tags.ts";

export type Definitions = ReadonlyMap<string, Definition>;

interface Bracket {
	readonly kind: "bracket";
	readonly image: boolean;
	readonly position: number;
	/** Where the text after the bracket begins. */
	readonly from: number;
	readonly below: Delimiter | undefined;
	/** Another bracket followed, so its text is not a label. */
	hasInner: boolean;
}

type Piece = Inline | Delimiter | Bracket;

interface State {
	readonly text: string;
	readonly definitions: Definitions;
	readonly pieces: Piece[];
	readonly delimiters: DelimiterList;
	readonly brackets: Bracket[];
	/** Brackets below this height are outside a finished link and start no other one. */
	spentBrackets: number;
	ticks: Ticks | undefined;
}

const SPECIAL = /[\\`*_[\]<&\n]|\$(?=\\?\{secret:)|!\[|~~|\bhttps?:\/\/|\bwww\.(?=\w)/gi;
const URL_BODY = /[^\s<>[\]`\u3000-\u303f\uff00-\uffef]+/y;
/** The name of a secret, also escaped. Its underscores are no emphasis: with markup inside, it could not be hidden (I12). */
const SECRET_NAME = /\$\\?\{secret:(?:\w|\\_)*(?:\\?\})?/y;
const AUTOLINK = /<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>\p{Cc}]*)>/uy;
const MAIL = /<([\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8})>/y;
const TAG =
	/<(?:\/[A-Za-z][A-Za-z0-9-]*\s*|[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*\/?)>/y;

export function parseInline(text: string, definitions: Definitions): Inline[] {
	const state: State = {
		text,
		definitions,
		pieces: [],
		delimiters: { first: undefined, last: undefined },
		brackets: [],
		spentBrackets: 0,
		ticks: undefined,
	};
	let at = 0;
	while (at < text.length) {
		SPECIAL.lastIndex = at;
		const next = SPECIAL.exec(text)?.index ?? text.length;
		if (next > at) state.pieces.push(plainText(text.slice(at, next)));
		at = next < text.length ? step(state, next) : next;
	}
	matchEmphasis(state.delimiters, undefined);
	return pairTags(settle(state.pieces));
}

/** Parses what begins at the special character at `at`; returns where it ends. */
function step(state: State, at: number): number {
	const { text, pieces } = state;
	const char = text.charAt(at);
	switch (char) {
		case "\\":
			return backslash(state, at);
		case "\n":
			return lineEnd(state, at);
		case "`":
			return codeSpan(state, at);
		case "*":
		case "_":
		case "~":
			return run(state, at, char);
		case "!":
			return openBracket(state, at, true);
		case "[":
			return openBracket(state, at, false);
		case "]":
			return closeBracket(state, at);
		case "<":
			return angle(state, at);
		case "$":
			return secretName(state, at);
		case "&": {
			const reference = referenceAt(text, at);
			pieces.push(plainText(reference?.value ?? char));
			return at + (reference?.length ?? 1);
		}
		default:
			return bareUrl(state, at);
	}
}

function backslash(state: State, at: number): number {
	const { text, pieces } = state;
	const next = text.charAt(at + 1);
	if (next === "$" && matchAt(SECRET_NAME, text, at + 1)) return secretName(state, at + 1);
	if (next === "\n") {
		pieces.push({ kind: "break" });
		return skipIndent(text, at + 2);
	}
	const escapes = /[!-/:-@[-`{-~]/.test(next);
	pieces.push(plainText(escapes ? next : "\\"));
	return at + (escapes ? 2 : 1);
}

function secretName({ text, pieces }: State, at: number): number {
	const name = matchAt(SECRET_NAME, text, at)?.[0] ?? "$";
	pieces.push(plainText(name.replaceAll("\\", "")));
	return at + name.length;
}

function lineEnd({ text, pieces }: State, at: number): number {
	const last = pieces.at(-1);
	const isHard = text.endsWith("  ", at);
	if (last?.kind === "text") pieces[pieces.length - 1] = plainText(trimSpaceEnd(last.value));
	if (isHard) pieces.push({ kind: "break" });
	else pieces.push(plainText("\n"));
	return skipIndent(text, at + 1);
}

function run(state: State, at: number, char: string): number {
	const { text, pieces } = state;
	let end = at + 1;
	while (text[end] === char) end++;
	if (char === "~" && end - at !== 2) {
		pieces.push(plainText(text.slice(at, end)));
		return end;
	}
	const added = delimiter(text, at, end, pieces.length);
	pieces.push(added);
	append(state.delimiters, added);
	return end;
}

function openBracket(state: State, at: number, image: boolean): number {
	const from = at + (image ? 2 : 1);
	const outer = state.brackets.at(-1);
	if (outer) outer.hasInner = true;
	const bracket: Bracket = {
		kind: "bracket",
		image,
		position: state.pieces.length,
		from,
		below: state.delimiters.last,
		hasInner: false,
	};
	state.brackets.push(bracket);
	state.pieces.push(bracket);
	return from;
}

function closeBracket(state: State, at: number): number {
	const { pieces, brackets } = state;
	const opener = brackets.pop();
	const isSpent = opener && !opener.image && brackets.length < state.spentBrackets;
	state.spentBrackets = Math.min(state.spentBrackets, brackets.length);
	const target = opener && !isSpent ? targetOf(state, opener, at) : undefined;
	if (!opener || !target) {
		pieces.push(plainText("]"));
		return at + 1;
	}
	pieces[opener.position] = { kind: "link", url: target.url, image: opener.image };
	matchEmphasis(state.delimiters, opener.below);
	pieces.push({ kind: "unlink", image: opener.image });
	// A link may be in an image's text but not in another link's.
	if (!opener.image) state.spentBrackets = brackets.length;
	return Math.max(target.end, at + 1);
}

function targetOf(state: State, opener: Bracket, at: number): { url: string; end: number } | undefined {
	const { text, definitions } = state;
	const inline = inlineTargetAt(text, at + 1);
	if (inline) return { url: inline.value, end: inline.end };
	if (definitions.size === 0) return undefined;
	const explicit = labelAt(text, at + 1);
	if (!explicit && opener.hasInner) return undefined;
	const label = explicit?.value ?? normalizeLabel(text.slice(opener.from, Math.min(at, opener.from + 1000)));
	const definition = definitions.get(label);
	if (!definition) return undefined;
	definition.used = true;
	const isCollapsed = !explicit && text.startsWith("[]", at + 1);
	return { url: definition.url, end: explicit?.end ?? at + (isCollapsed ? 3 : 1) };
}

function codeSpan(state: State, at: number): number {
	const { text, pieces } = state;
	let from = at + 1;
	while (text[from] === "`") from++;
	state.ticks ??= indexTicks(text);
	const end = nextTicks(state.ticks, from - at, from);
	if (end === undefined) {
		pieces.push(plainText(text.slice(at, from)));
		return from;
	}
	const inner = text.slice(from, end).replaceAll("\n", " ");
	const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && /[^ ]/.test(inner);
	pieces.push({ kind: "code", value: isPadded ? inner.slice(1, -1) : inner });
	return end + from - at;
}

/** The offsets of the backtick runs by length, and how far each list has been read. */
type Ticks = Map<number, { readonly positions: number[]; read: number }>;

function indexTicks(text: string): Ticks {
	const ticks: Ticks = new Map();
	for (const { 0: found, index } of text.matchAll(/`+/g)) {
		const known = ticks.get(found.length);
		if (known) known.positions.push(index);
		else ticks.set(found.length, { positions: [index], read: 0 });
	}
	return ticks;
}

function nextTicks(ticks: Ticks, length: number, from: number): number | undefined {
	const known = ticks.get(length);
	if (!known) return undefined;
	while ((known.positions[known.read] ?? Number.POSITIVE_INFINITY) < from) known.read++;
	return known.positions[known.read];
}

function angle({ text, pieces }: State, at: number): number {
	const link = matchAt(AUTOLINK, text, at);
	if (link?.[1] !== undefined) return pushLink(pieces, link[1], link[1], at + link[0].length);
	const mail = matchAt(MAIL, text, at);
	if (mail?.[1] !== undefined) return pushLink(pieces, `mailto:${mail[1]}`, mail[1], at + mail[0].length);
	const tag = matchAt(TAG, text, at);
	if (!tag) {
		pieces.push(plainText("<"));
		return at + 1;
	}
	pieces.push({ kind: "tag", value: tag[0] });
	return at + tag[0].length;
}

function bareUrl({ text, pieces }: State, at: number): number {
	const found = matchAt(URL_BODY, text, at)?.[0] ?? "";
	const value = trimUrl(found);
	pieces.push({ kind: "url", value });
	return at + value.length;
}

/** Punctuation that ends the sentence, not the address, and a closing parenthesis whose opening is before the address. */
function trimUrl(found: string): string {
	let open = found.split("(").length - found.split(")").length;
	let end = found.length;
	for (; end > 1; end--) {
		const last = found.charAt(end - 1);
		if (last === ")" && open < 0) open++;
		else if (!/[?!.,:;*_~'"|\\]/.test(last)) break;
	}
	return found.slice(0, end);
}

function pushLink(pieces: Piece[], url: string, label: string, end: number): number {
	pieces.push({ kind: "link", url, image: false }, plainText(label), { kind: "unlink", image: false });
	return end;
}

/** Turns unmatched brackets into text and runs into their tokens; merges adjacent texts. */
function settle(pieces: readonly Piece[]): Inline[] {
	const settled: Inline[] = [];
	for (const piece of pieces) {
		if (piece.kind === "bracket") pushText(settled, piece.image ? "![" : "[");
		else if (piece.kind === "text") pushText(settled, piece.value);
		else if (piece.kind !== "delimiter") settled.push(piece);
		else {
			for (const part of meaningOf(piece)) {
				if (part.kind === "text") pushText(settled, part.value);
				else settled.push(part);
			}
		}
	}
	return settled;
}

function pushText(settled: Inline[], value: string): void {
	const last = settled.at(-1);
	if (last?.kind === "text") settled[settled.length - 1] = plainText(last.value + value);
	else if (value !== "") settled.push(plainText(value));
}

function plainText(value: string): Inline {
	return { kind: "text", value };
}

function skipIndent(text: string, at: number): number {
	let end = at;
	while (text[end] === " " || text[end] === "\t") end++;
	return end;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
	pattern.lastIndex = at;
	return pattern.exec(text);
}
