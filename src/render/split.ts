// Cuts a rendered text into parts. The law: each part is one slice of the whole text and the same slice of its plain
// twin; the slices follow one another, and between them nothing is lost but white space that no message could hold
// alone, or a line end where each line is a message. What a part has besides its slice is only the tokens that close
// what is open at its end and open it again at the start of the next.
import { secretNamesIn, type TextRange } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { chooseCut, firstVisible, type Uncut, type Window } from "./cut.ts";
import { reach, sizeOf } from "./measure.ts";
import type { Element, Mark, MessageLimit, Rendered, SplitPart } from "./types.ts";

export function split(whole: Rendered, limit: MessageLimit): SplitPart[] {
	const parts: SplitPart[] = [];
	const names = secretNamesIn(whole.plain);
	let name = 0;
	let point: SplitPoint = { at: 0, mark: 0, open: [] };
	while (point.at < whole.plain.length) {
		const seen = firstVisible(whole.plain, point.at);
		while ((names[name]?.to ?? seen + 1) <= seen) name++;
		const window = sparing(names, name, look(whole, limit, point), seen);
		const cut = seen < window.bound ? chooseCut(whole, point.at, seen, window) : point.at;
		if (cut > seen) {
			const next = advance(whole, point, cut);
			parts.push(partOf(whole, point, next));
			point = next;
			continue;
		}
		if (seen === point.at) throw tooSmall(limit);
		point = advance(whole, point, afterBlank(whole.plain, point.at, seen));
	}
	return parts;
}

/** A point between two characters of the plain twin: how many marks lie before it, and what is open there. */
interface SplitPoint {
	readonly at: number;
	readonly mark: number;
	readonly open: readonly Element[];
}

function look(whole: Rendered, { max, unit }: MessageLimit, start: SplitPoint): Window {
	const { plain, text, marks } = whole;
	const uncut: Uncut[] = [];
	let at = start.at;
	let textRoom = max - sizeOf(reopening(plain, start) + closing(start.open), unit);
	let plainRoom = max;
	const stop = whole.lineByLine ? lineEnd(plain, at, max) : plain.length;
	for (let index = start.mark; ; index++) {
		const mark = marks[index];
		const to = Math.min(stop, mark?.at ?? stop);
		const end = reach(plain, at, to, Math.min(textRoom, plainRoom), unit);
		const size = sizeOf(plain, unit, at, end);
		textRoom -= size;
		plainRoom -= size;
		at = end;
		if (end < to) return { bound: at, isEnd: false, uncut };
		if (!mark || mark.at > stop || (mark.at === stop && mark.kind !== "close"))
			return { bound: at, isEnd: true, uncut };
		const { skip, textAt, width, element } = mark;
		textRoom -= sizeOf(text, unit, textAt, textAt + width);
		if (element) textRoom += (mark.kind === "close" ? 1 : -1) * sizeOf(element.close, unit);
		plainRoom -= sizeOf(plain, unit, at, at + skip);
		if (textRoom < 0 || plainRoom < 0) return { bound: at, isEnd: false, uncut };
		const held = uncutAt(mark);
		if (held.wishedTo - held.from > 1) uncut.push(held);
		at += skip;
	}
}

/**
 * The window without cuts inside the name of a secret: the rest of it would begin the next message, where nothing hides it (I12). Only a
 * name that is longer than a message is cut. `first`: the first name that ends after `seen`.
 */
function sparing(names: readonly TextRange[], first: number, window: Window, seen: number): Window {
	const { bound, isEnd } = window;
	const near: TextRange[] = [];
	for (let at = first, one = names[at]; !isEnd && one && one.from < bound; one = names[++at]) near.push(one);
	const last = near.at(-1);
	if (!last) return window;
	const uncut: Uncut[] = [];
	const all = [...window.uncut, ...near.map(({ from, to }) => ({ from, to, wishedTo: to }))];
	for (const one of all.sort((a, b) => a.from - b.from)) {
		const before = uncut.at(-1);
		if (!before || before.to <= one.from) uncut.push(one);
		else
			uncut[uncut.length - 1] = {
				from: before.from,
				to: Math.max(before.to, one.to),
				wishedTo: Math.max(before.wishedTo, one.wishedTo),
			};
	}
	return { bound: last.to > bound && last.from > seen ? last.from : bound, isEnd, uncut };
}

/** The end of the line, searched only as far as a part can reach: a character is at most two units. */
function lineEnd(plain: string, from: number, max: number): number {
	const found = plain.slice(from, from + 2 * max + 1).indexOf("\n");
	return found < 0 ? plain.length : from + found;
}

/** Only visible markup may, if necessary, be separated from the text after it. */
function uncutAt({ at, skip, width, glue }: Mark): Uncut {
	const end = at + skip;
	const wishedTo = glue === "next" ? end + 1 : end;
	return { from: glue === "previous" ? at - 1 : at, to: width > 0 ? end : wishedTo, wishedTo };
}

/** The same point further on: past every mark before `at`, and past what is closed exactly there. */
function advance({ marks }: Rendered, start: SplitPoint, at: number): SplitPoint {
	const open = [...start.open];
	let index = start.mark;
	for (let mark = marks[index]; mark && isBefore(mark, at); mark = marks[++index]) {
		if (!mark.element) continue;
		if (mark.kind === "open") open.push(mark.element);
		else open.pop();
	}
	return { at, mark: index, open };
}

function isBefore(mark: Mark, at: number): boolean {
	return mark.at < at || (mark.at === at && mark.kind === "close" && mark.skip === 0);
}

function partOf(whole: Rendered, from: SplitPoint, to: SplitPoint): SplitPart {
	const textRange = [textAt(whole, from), textAt(whole, to)] as const;
	const plainRange = [from.at, to.at] as const;
	const slice = whole.text.slice(...textRange);
	const opened = reopening(whole.plain, from);
	const isVerbatim = to.open.at(-1)?.verbatim ?? false;
	const closed = isVerbatim && slice.endsWith("\n") ? closing(to.open).replace(/^\n/, "") : closing(to.open);
	const isAtEnd = isVerbatim || closed === "";
	const closedAt = isAtEnd ? slice.length : beforeTrailingSpace(whole, to, slice, textRange[0]);
	const text = opened + slice.slice(0, closedAt) + closed + slice.slice(closedAt);
	return { text, plain: whole.plain.slice(...plainRange), opened, closed, closedAt, textRange, plainRange };
}

/** Where the closing tokens go: many platforms do not recognise one after a space. */
function beforeTrailingSpace({ marks }: Rendered, to: SplitPoint, slice: string, start: number): number {
	const last = marks[to.mark - 1];
	const afterTokens = last ? last.textAt + last.width - start : 0;
	return Math.max(afterTokens, slice.trimEnd().length);
}

function reopening(plain: string, { at, open }: SplitPoint): string {
	const isMidLine = at > 0 && plain[at - 1] !== "\n";
	return open.map(({ reopen, resume }) => (isMidLine ? reopen + resume : reopen)).join("");
}

function closing(open: readonly Element[]): string {
	return open
		.map(({ close }) => close)
		.reverse()
		.join("");
}

/** The offset in the markup for a point. */
function textAt({ marks }: Rendered, { at, mark }: SplitPoint): number {
	const last = marks[mark - 1];
	return last ? at - last.at - last.skip + last.textAt + last.width : at;
}

/** Omitted white space ends before the indent of the next line. */
function afterBlank(plain: string, at: number, seen: number): number {
	const line = plain.slice(at, seen).lastIndexOf("\n") + 1;
	return line > 0 ? at + line : seen;
}

function tooSmall({ max, unit }: MessageLimit): KeryxError {
	return new KeryxError(
		"argument.invalid",
		`limit.max is ${max} ${unit}, too small for a single character of this text`,
		{
			field: "limit.max",
		},
	);
}
