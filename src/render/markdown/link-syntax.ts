// The pieces of link syntax that inline links and link definitions share. Every scan is bounded, so that a text full
// of half-written links costs no more than its length.
import { unescapeText } from "./entities.ts";

const MAX_NESTED_PARENTHESES = 32;
const MAX_TITLE = 1000;
const MAX_LABEL = 999;

const SPACE = /[ \t]*(?:\n[ \t]*)?/y;
const ANGLE_TARGET = /<((?:[^<>\n\\]|\\.){0,4096})>/y;
const TITLE = new RegExp(
	`"(?:[^"\\\\]|\\\\[^]){0,${MAX_TITLE}}"|'(?:[^'\\\\]|\\\\[^]){0,${MAX_TITLE}}'|\\((?:[^()\\\\]|\\\\[^]){0,${MAX_TITLE}}\\)`,
	"y",
);
const LABEL = new RegExp(`\\[((?:[^\\[\\]\\\\]|\\\\[^]){0,${MAX_LABEL}})\\]`, "y");
const REST_OF_LINE = /[ \t]*(?:\n|$)/y;

interface Found<Value> {
	readonly value: Value;
	readonly end: number;
}

/** `(target "title")`, from its opening parenthesis on. */
export function inlineTargetAt(text: string, at: number): Found<string> | undefined {
	if (text[at] !== "(") return undefined;
	let end = skip(SPACE, text, at + 1);
	const target = targetAt(text, end);
	if (target) end = target.end;
	const gap = skip(SPACE, text, end);
	const titleEnd = target && gap > end ? skip(TITLE, text, gap) : gap;
	if (titleEnd > gap) end = skip(SPACE, text, titleEnd);
	else end = gap;
	return text[end] === ")" ? { value: target?.value ?? "", end: end + 1 } : undefined;
}

/** `[label]`; undefined if it holds nothing but white space. */
export function labelAt(text: string, at: number): Found<string> | undefined {
	LABEL.lastIndex = at;
	const match = LABEL.exec(text);
	if (!match?.[1]?.trim()) return undefined;
	return { value: normalizeLabel(match[1]), end: LABEL.lastIndex };
}

/** `[label]: target "title"` up to and with its line end, where a paragraph's text may begin with one. */
export function definitionAt(text: string, at: number): Found<{ label: string; url: string }> | undefined {
	const label = labelAt(text, at);
	if (!label || text[label.end] !== ":") return undefined;
	const target = targetAt(text, skip(SPACE, text, label.end + 1));
	if (!target) return undefined;
	const value = { label: label.value, url: target.value };
	const gap = skip(SPACE, text, target.end);
	const titleEnd = gap > target.end ? skip(TITLE, text, gap) : gap;
	if (titleEnd > gap && matches(REST_OF_LINE, text, titleEnd))
		return { value, end: skip(REST_OF_LINE, text, titleEnd) };
	return matches(REST_OF_LINE, text, target.end)
		? { value, end: skip(REST_OF_LINE, text, target.end) }
		: undefined;
}

/** Labels are compared without regard to case and to how their white space is written. */
export function normalizeLabel(label: string): string {
	return label.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase();
}

function targetAt(text: string, at: number): Found<string> | undefined {
	if (text[at] === "<") {
		ANGLE_TARGET.lastIndex = at;
		const match = ANGLE_TARGET.exec(text);
		return match ? { value: unescapeText(match[1] ?? ""), end: ANGLE_TARGET.lastIndex } : undefined;
	}
	let depth = 0;
	let end = at;
	for (; end < text.length; end++) {
		const code = text.charCodeAt(end);
		if (code <= 0x20 || code === 0x7f) break;
		if (code === 0x5c && /[!-/:-@[-`{-~]/.test(text[end + 1] ?? "")) end++;
		else if (code === 0x28 && ++depth > MAX_NESTED_PARENTHESES) return undefined;
		else if (code === 0x29 && --depth < 0) break;
	}
	if (end === at || depth > 0) return undefined;
	return { value: unescapeText(text.slice(at, end)), end };
}

function skip(pattern: RegExp, text: string, at: number): number {
	pattern.lastIndex = at;
	return pattern.test(text) ? pattern.lastIndex : at;
}

function matches(pattern: RegExp, text: string, at: number): boolean {
	pattern.lastIndex = at;
	return pattern.test(text);
}
