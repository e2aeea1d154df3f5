// How each event looks in the record on the screen.
import type { EventOf } from "./events.ts";
import { onOneLine, printable, printableLines } from "./printable.ts";
import { type Line, lineColumns, type Span, span } from "./style.ts";
import { clipLine, wrapLine } from "./wrap.ts";

/** With less width a call next to its result says nothing; the result then goes below. */
const LEAST_CALL = 12;

const DIVIDER_COLUMNS = 72;

export function userLines({ author, text, mine }: EventOf<"user">, columns: number): Line[] {
	const lines = printableLines(text.trimEnd());
	if (mine) return hanging(span("> ", "mine"), lines, columns);
	const [first = "", ...more] = lines;
	const name = span(`${onOneLine(author ?? "") || "someone"}: `, "bold");
	return [[name, span(first)], ...more.map((line) => [span(line)])].flatMap((line) =>
		wrapLine(line, columns),
	);
}

export function noticeLines(text: string, columns: number): Line[] {
	return printableLines(text.trim()).flatMap((line) => wrapLine([span(line, "dim")], columns));
}

/** A divider with a text. */
export function boundaryLines(text: string, columns: number): Line[] {
	const width = Math.min(columns, DIVIDER_COLUMNS);
	const lines = wrapLine([span(onOneLine(text), "dim")], Math.max(1, width - 4));
	return lines.map((line, index) => {
		if (index < lines.length - 1) return [span(index === 0 ? "── " : "   ", "dim"), ...line];
		const rest = width - lineColumns(line) - 4;
		return [
			span(index === 0 ? "── " : "   ", "dim"),
			...line,
			span(` ${"─".repeat(Math.max(0, rest))}`, "dim"),
		];
	});
}

/** A running call. */
export function runningLine(call: EventOf<"call">, columns: number): Line {
	return clipLine([...nameOf(call.name), span(argumentsOf(call.args), "dim")], columns);
}

/** A call and its result in one line; in two if there is no room. A call without a result says so. */
export function callLines(
	call: Pick<EventOf<"call">, "name" | "args">,
	result: EventOf<"result"> | null,
	columns: number,
): Line[] {
	const left = [...nameOf(call.name), span(argumentsOf(call.args), "dim")];
	const right = outcomeOf(result);
	const room = columns - lineColumns(right) - 2;
	if (lineColumns(left) <= room || room >= Math.max(LEAST_CALL, columns / 2))
		return [[...clipLine(left, room), span("  "), ...right]];
	const short = clipLine(right, Math.floor(columns / 2));
	const leftColumns = columns - lineColumns(short) - 2;
	if (leftColumns >= LEAST_CALL) {
		const call = clipLine(left, leftColumns);
		return [[...call, span("  "), ...clipLine(right, columns - lineColumns(call) - 2)]];
	}
	return [clipLine(left, columns), [span("  "), ...clipLine(right, columns - 2)]];
}

function nameOf(name: string): Span[] {
	return [span("▸ ", "dim"), span(`${onOneLine(name)} `)];
}

function outcomeOf(result: EventOf<"result"> | null): Line {
	if (!result) return [span("no result", "warn")];
	const lines = result.text.trimEnd().split(/\r\n|\r|\n/);
	const first = onOneLine(lines.find((line) => line.trim() !== "") ?? "");
	const [waits] = /^waiting for confirmation \w+/.exec(first) ?? [];
	if (waits !== undefined) return [span("? ", "warn"), span(waits, "dim")];
	if (result.isError) return [span("✗ ", "bad"), span(first === "" ? "failed" : first, "bad")];
	const summary = lines.length > 1 ? `${lines.length} lines` : first === "" ? "no output" : first;
	return [span("✓ ", "good"), span(summary, "dim")];
}

/** The arguments, shortened: a single string alone, otherwise names with values. */
function argumentsOf(args: string): string {
	const value = parsed(args);
	if (value === undefined) return onOneLine(args);
	const entries = Object.entries(value);
	const [only] = entries;
	if (entries.length === 1 && typeof only?.[1] === "string") return onOneLine(only[1]);
	return entries
		.map(([name, one]) => onOneLine(`${name}=${typeof one === "string" ? one : JSON.stringify(one)}`))
		.join(" ");
}

function parsed(args: string): object | undefined {
	if (!args.trimStart().startsWith("{")) return undefined;
	try {
		const value: unknown = JSON.parse(args);
		return typeof value === "object" && value !== null ? value : undefined;
	} catch {
		return undefined;
	}
}

function hanging(first: Span, lines: readonly string[], columns: number): Line[] {
	const indent = span("  ");
	return lines
		.flatMap((line) => wrapLine([span(printable(line))], Math.max(1, columns - 2)))
		.map((line, index) => [index === 0 ? first : indent, ...line]);
}
