// Markdown for platforms that read it: the source unchanged. Only fenced code is closed and reopened at a cut.
import { languageName } from "./dialect.ts";
import { parseBlocks } from "./markdown/blocks.ts";
import type { Fence } from "./markdown/raw.ts";
import { sizeOf } from "./measure.ts";
import type { Mark, MessageLimit, Rendered } from "./types.ts";

/** What starts a block in the source: a cut before it in the middle of a line would create one. */
const UNSAFE_START = / {0,3}(?:`{3}|~{3}|(?:#{1,6}|[-+*>]|\d{1,9}[.)])(?:\s|$)|>|[-=*_]{3})/y;

export function passThrough(source: string, limit: MessageLimit): Rendered {
	const { fences, starts } = parseBlocks(source);
	return {
		text: source,
		plain: source,
		marks: fences.flatMap((fence) => marksOf(fence, source, limit)),
		blocks: starts,
		unsafeStart: UNSAFE_START,
		lineByLine: false,
	};
}

/** The text that closes a fence still open at the end; "" if none is. */
export function missingFence(source: string): string {
	const last = parseBlocks(source).fences.at(-1);
	return last && last.to === last.bodyTo && last.to === source.length ? closingLine(last) : "";
}

function marksOf(fence: Fence, source: string, { max, unit }: MessageLimit): Mark[] {
	const { from, bodyFrom, bodyTo, to } = fence;
	const isClosed = to > bodyTo;
	if (bodyFrom >= bodyTo)
		return isClosed && sizeOf(source, unit, from, to) <= max / 2 ? [mark("swap", from, to)] : [];
	const element = {
		open: source.slice(from, bodyFrom),
		close: closingLine(fence),
		reopen: `${fence.inside.map(markerOf).join("")}${fence.marker}${languageName(fence.language)}\n`,
		resume: indentOf(fence),
		verbatim: true,
	};
	const tokens = element.open + element.reopen + element.resume + element.close + source.slice(bodyTo, to);
	if (sizeOf(tokens, unit) > max / 2) return [];
	const opening: Mark = { ...mark("open", from, bodyFrom), glue: "next", element };
	return isClosed ? [opening, { ...mark("close", bodyTo, to), glue: "previous", element }] : [opening];
}

function mark(kind: Mark["kind"], from: number, to: number): Mark {
	return { kind, at: from, skip: to - from, textAt: from, width: to - from, glue: "none" };
}

function closingLine(fence: Fence): string {
	return `\n${indentOf(fence)}${fence.marker}`;
}

/** The prefix of a line inside the same quotes and list items. */
function indentOf({ inside }: Fence): string {
	return inside.map((one) => (one === "quote" ? "> " : " ".repeat(one))).join("");
}

/** Reopens such a quote or list item: for an item, with a marker of the same width. */
function markerOf(one: "quote" | number): string {
	if (one === "quote") return "> ";
	if (one <= 5) return `-${" ".repeat(one - 1)}`;
	return `${"1".padStart(Math.min(9, one - 2), "0")}.`.padEnd(one);
}
