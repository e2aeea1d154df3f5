// Lengths of text in a platform's unit (UTF-16 units, bytes or characters). No offset returned here splits a character.
import type { LimitUnit } from "./types.ts";

/** The length of `text` between two offsets, in the platform's unit. */
export function sizeOf(text: string, unit: LimitUnit, from = 0, to = text.length): number {
	if (unit === "utf16") return to - from;
	if (unit === "bytes") return Buffer.byteLength(text.slice(from, to));
	let count = 0;
	for (let at = from; at < to; at += stepAt(text, at)) count++;
	return count;
}

/** The furthest offset up to `to` that `room` units from `from` on can hold; never inside a surrogate pair. */
export function reach(text: string, from: number, to: number, room: number, unit: LimitUnit): number {
	if (unit === "utf16") {
		const end = Math.min(to, from + Math.max(0, room));
		return end < to && end > from && splitsPair(text, end) ? end - 1 : end;
	}
	let at = from;
	for (let left = room; at < to; ) {
		const step = stepAt(text, at);
		left -= unit === "bytes" ? bytesOf(text.charCodeAt(at), step) : 1;
		if (left < 0) return at;
		at += step;
	}
	return at;
}

/** True if a cut at `at` would part the two halves of one character. */
export function splitsPair(text: string, at: number): boolean {
	return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function stepAt(text: string, at: number): 1 | 2 {
	return isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1)) ? 2 : 1;
}

function bytesOf(code: number, step: 1 | 2): number {
	if (step === 2) return 4;
	if (code < 0x80) return 1;
	return code < 0x800 ? 2 : 3;
}

function isHigh(code: number): boolean {
	return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
	return code >= 0xdc00 && code <= 0xdfff;
}
