// Estimates a prompt's size in tokens before a model counts it: the last count plus what was added, or else all of it by characters.
// Rather too high than too low: an oversized prompt is refused.
import type { Content, Message } from "../message.ts";
import type { SessionId } from "../types.ts";
import { type PromptMessage, promptHistory } from "./prompt-history.ts";

/** The overhead of a message: its role, its delimiters. */
const AROUND = 8;
/** The size of an image, a sound or a file is unknown before the model counts it. */
const ATTACHMENT = 2000;
/** The most tokens of one UTF-16 unit; a text's are rounded up. */
const MOST_OF_UNIT = 1.5;

/** A model's count, and the number of rows in the counted prompt. */
export interface Measure {
	readonly tokens: number;
	readonly rows: number;
}

export interface PromptSizeInput {
	readonly rows: readonly Message[];
	readonly shared: boolean;
	/** Tokens of what is no row: the system text, the tools. */
	readonly overheadTokens: number;
	readonly known: Measure | null;
}

export function promptSize({ rows, shared, overheadTokens, known }: PromptSizeInput): number {
	if (known) return known.tokens + historyTokens(promptHistory(rows.slice(known.rows), { shared }));
	return overheadTokens + historyTokens(promptHistory(rows, { shared }));
}

/**
 * At least `promptSize` without a count, from the lengths alone: it is asked before every step, and most prompts are far from the limit.
 * Infinite if a row has more than plain text.
 */
export function promptSizeAtMost({ rows, shared, overheadTokens }: Omit<PromptSizeInput, "known">): number {
	if (shared) return Number.POSITIVE_INFINITY;
	let units = 0;
	for (const { content, toolCalls, reasoning, quoted, observed, kind } of rows) {
		const isPlain = !toolCalls && reasoning === undefined && !quoted && !observed && kind !== "sent";
		if (!isPlain || typeof content !== "string") return Number.POSITIVE_INFINITY;
		units += content.length;
	}
	return overheadTokens + rows.length * (AROUND + 1) + units * MOST_OF_UNIT;
}

/**
 * The rows behind a session's last count: everything before the last row that a model finished. Null if the count is
 * outdated, because rows were hidden or covered since.
 */
export function lastMeasure(
	rows: readonly Message[],
	{ session, tokens }: { readonly session: SessionId; readonly tokens: number },
): Measure | null {
	const at = rows.findLastIndex(
		(row) => row.session === session && row.role === "assistant" && !UNCOUNTED.has(row.finishReason ?? ""),
	);
	if (tokens <= 0 || at < 0 || rows[at]?.hidden) return null;
	if (rows.slice(at).some((row) => row.kind === "summary")) return null;
	return { tokens, rows: at };
}

/** Rows after the last finished model step. */
const UNCOUNTED: ReadonlySet<string> = new Set(["error", "stopped", "clarify"]);

function historyTokens(history: readonly PromptMessage[]): number {
	return history.reduce((sum, message) => sum + messageTokens(message), 0);
}

function messageTokens(message: PromptMessage): number {
	const content = AROUND + contentTokens(message.content);
	if (message.role !== "assistant") return content;
	const calls = message.toolCalls.reduce(
		(sum, { name, input }) => sum + AROUND + textTokens(name) + dataTokens(input),
		0,
	);
	return content + calls + (message.reasoning === undefined ? 0 : dataTokens(message.reasoning));
}

function contentTokens(content: Content): number {
	if (typeof content === "string") return textTokens(content);
	return content.reduce((sum, part) => sum + (part.type === "text" ? textTokens(part.text) : ATTACHMENT), 0);
}

function dataTokens(data: unknown): number {
	return textTokens(JSON.stringify(data) ?? "");
}

/** By script: at most three letters of English are a token, fewer digits and marks; a sign of Chinese may be more than one. */
export function textTokens(text: string): number {
	let twelfths = 0;
	for (let at = 0; at < text.length; at++) {
		const unit = text.charCodeAt(at);
		if (unit < 0x80) twelfths += isWordy(unit) ? 4 : 8;
		else if (unit < 0x250) twelfths += 6;
		else if (unit < 0x2e80) twelfths += 9;
		// Half of a pair: an emoji, an ideogram that few fonts have.
		else if (unit >= 0xd800 && unit < 0xe000) twelfths += 18;
		else twelfths += 14;
	}
	return Math.ceil(twelfths / 12);
}

/** A letter of ASCII, or the space between words. */
function isWordy(unit: number): boolean {
	const lower = unit | 0x20;
	return (lower >= 0x61 && lower <= 0x7a) || unit === 0x20;
}
