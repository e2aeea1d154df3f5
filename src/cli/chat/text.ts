// Positions in a text as a person sees it: characters, words, lines. Offsets are in UTF-16 units, always between two characters.
import { stripVTControlCharacters } from "node:util";
import { columns, columnsOf } from "../io/width.ts";

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Valid message text: no control characters except line feeds and tabs, no lone surrogates. */
export function typable(text: string): string {
	return stripVTControlCharacters(text.replace(/\r\n?/g, "\n"))
		.toWellFormed()
		.replace(/[^\P{Cc}\n\t]/gu, "");
}

/** The first position between two characters at or after `at`. */
export function offsetFrom(text: string, at: number): number {
	if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
	const { start, end } = characterAt(text, at);
	return start === at ? at : end;
}

export function before(text: string, at: number): number {
	return at <= 0 ? 0 : characterAt(text, at - 1).start;
}

export function after(text: string, at: number): number {
	return at >= text.length ? text.length : characterAt(text, at).end;
}

export function wordBefore(text: string, at: number): number {
	const left = text.slice(0, at);
	const word = /[\p{L}\p{N}\p{M}_]+[^\p{L}\p{N}\p{M}_]*$/u.exec(left);
	return word ? characterAt(text, word.index).start : 0;
}

export function wordAfter(text: string, at: number): number {
	const word = /[\p{L}\p{N}\p{M}_]+/gu;
	word.lastIndex = at;
	const found = word.exec(text);
	return found ? offsetFrom(text, found.index + found[0].length) : text.length;
}

/** The start of the previous word; only white space separates words. */
export function blankBefore(text: string, at: number): number {
	const kept = text.slice(0, at).replace(/\S*\s*$/u, "").length;
	return kept === 0 ? 0 : offsetFrom(text, kept);
}

export function lineStart(text: string, at: number): number {
	return at <= 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
	const end = text.indexOf("\n", at);
	return end < 0 ? text.length : end;
}

/** A position's column in its line. */
export function columnOf(text: string, at: number): number {
	return columns(text.slice(lineStart(text, at), at));
}

/** The position in the line around `at` with the same column, or the line's end. */
export function offsetAt(text: string, at: number, column: number): number {
	const end = lineEnd(text, at);
	let offset = lineStart(text, at);
	for (let used = 0; offset < end; ) {
		const next = after(text, offset);
		used += columnsOf(text.slice(offset, next));
		if (used > column) break;
		offset = next;
	}
	return offset;
}

function characterAt(text: string, at: number): { start: number; end: number } {
	// A character never reaches over a line's end, so only the line has to be looked at.
	if (text[at] === "\n") return { start: at, end: at + 1 };
	const from = lineStart(text, at);
	const found = characters.segment(text.slice(from, lineEnd(text, at))).containing(at - from);
	if (!found) return { start: at, end: at };
	return { start: from + found.index, end: from + found.index + found.segment.length };
}
