// Projects a transcript to what a model is shown. Pure. Hidden rows are left out, a valid summary replaces what it covers, every tool
// call has exactly one result, refused attachments are left out, and nothing else changes.
import type { Content, Message, Part, ToolCall } from "../message.ts";
import { inlineUntrusted } from "../text/untrusted.ts";
import { quoteLine } from "./added-lines.ts";

export type PromptMessage =
	/** A person's words, or (kind note) Keryx's own about what happened. */
	| { readonly role: "user"; readonly kind: "person" | "note"; readonly content: Content }
	| {
			readonly role: "assistant";
			readonly content: Content;
			readonly toolCalls: readonly ToolCall[];
			readonly reasoning?: unknown;
	  }
	| {
			readonly role: "tool";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly content: Content;
			readonly isError: boolean;
	  };

const NO_CALLS: readonly ToolCall[] = [];
const NO_RESULTS: ReadonlyMap<string, Message> = new Map();

export const INTERRUPTED_RESULT = "interrupted: the outcome of this call is unknown";

/**
 * `shared`: several people speak, so each message starts with its author's name. `without`: attachments to leave out, in addition to
 * those permanently left out.
 */
export function promptHistory(
	rows: readonly Message[],
	{ shared, without }: { readonly shared: boolean; readonly without?: ReadonlySet<string> },
): PromptMessage[] {
	const visible = standingRows(rows);
	const leftOut = leftOutOf(rows, without);
	const results = resultsIn(visible);
	const history: PromptMessage[] = [];
	const show = (message: PromptMessage) => history.push(withoutAttachments(message, leftOut));
	for (const row of visible) {
		if (row.kind === "left_out") continue;
		if (row.kind === "sent") show({ role: "user", kind: "note", content: sentNote(row) });
		else if (row.role === "user") show({ role: "user", kind: "person", content: withAuthor(row, shared) });
		else if (row.role === "meta" || row.role === "system")
			show({ role: "user", kind: "note", content: row.content });
		else if (row.role === "assistant") {
			show(said(row));
			for (const call of row.toolCalls ?? NO_CALLS) show(resultOf(call, row, results));
		}
	}
	return history;
}

/** By call. */
function resultsIn(rows: readonly Message[]): ReadonlyMap<string, Message> {
	let results: Map<string, Message> | undefined;
	for (const row of rows) {
		if (row.role !== "tool" || !row.toolCallId) continue;
		results ??= new Map();
		results.set(callKey(row, row.toolCallId), row);
	}
	return results ?? NO_RESULTS;
}

/** As a note, not as the agent's own turn: it did not write this in this exchange, and no provider accepts a history that starts so. */
function sentNote({ content, sentFrom, createdAt }: Message): Content {
	const at = new Date(createdAt).toISOString().slice(0, 16).replace("T", " ");
	const line = `At ${at} UTC you sent this message to this chat, from ${inlineUntrusted(sentFrom?.where ?? "") || "elsewhere"}:`;
	if (typeof content === "string") return `${line}\n${content}`;
	return [{ type: "text", text: line }, ...content];
}

/** A prompt's rows, in order: a valid summary is where its covered rows were. */
export function standingRows(rows: readonly Message[]): readonly Message[] {
	const visible = rows.some(({ hidden }) => hidden) ? rows.filter(({ hidden }) => !hidden) : rows;
	return visible.some(isSummary) ? withSummaries(visible, rows) : visible;
}

/** Refused attachments stay out, even if the row about the refusal is covered. */
function leftOutOf(rows: readonly Message[], without: ReadonlySet<string> = new Set()): ReadonlySet<string> {
	const leftOut = new Set(without);
	for (const row of rows) if (!row.hidden) for (const blob of row.leavesOut ?? []) leftOut.add(blob);
	return leftOut;
}

function withoutAttachments<Shown extends PromptMessage>(
	message: Shown,
	leftOut: ReadonlySet<string>,
): Shown {
	const isOut = (part: Part) => part.type !== "text" && (part.sent !== undefined || leftOut.has(part.blob));
	if (typeof message.content === "string" || !message.content.some(isOut)) return message;
	const content = message.content.map((part): Part => {
		if (part.type === "text" || !isOut(part)) return part;
		const name = inlineUntrusted(part.name ?? "");
		if (part.sent) return { type: "text", text: `[${part.type}${name && ` ${name}`}: sent to the chat]` };
		return {
			type: "text",
			text: `[${part.type}${name && ` ${name}`}: left out, the model's provider did not accept it]`,
		};
	});
	return { ...message, content };
}

function said({ content, toolCalls = NO_CALLS, reasoning }: Message): PromptMessage {
	if (reasoning === undefined) return { role: "assistant", content, toolCalls };
	return { role: "assistant", content, toolCalls, reasoning };
}

/** Each call is answered at once; so a result that nobody asked for is left out. */
function resultOf(
	{ id, name }: ToolCall,
	row: Message,
	results: ReadonlyMap<string, Message>,
): PromptMessage {
	const result = results.get(callKey(row, id));
	return {
		role: "tool",
		toolCallId: id,
		toolName: name,
		content: result?.content ?? INTERRUPTED_RESULT,
		isError: result ? result.isError === true : true,
	};
}

/** Call ids are the provider's and unique within a turn only. */
export function callKey(row: Message, call: string): string {
	return `${row.turn ?? row.session} ${call}`;
}

function isSummary({ kind }: Message): boolean {
	return kind === "summary";
}

/** Newest summary first: it may cover an older one. One that covers a hidden row does not count. */
function withSummaries(visible: readonly Message[], all: readonly Message[]): Message[] {
	let rows = [...visible];
	for (const summary of visible.filter(isSummary).reverse()) {
		if (!rows.includes(summary)) continue;
		const covered = (row: Message) => row !== summary && isCovered(row, summary);
		const broken = all.some((row) => row.hidden && covered(row));
		const first = rows.findIndex(covered);
		const others = rows.filter((row) => row !== summary);
		if (broken || first < 0) {
			rows = others;
			continue;
		}
		const before = others.slice(0, others.findIndex(covered));
		rows = [...before, summary, ...others.slice(before.length).filter((row) => !covered(row))];
	}
	return rows;
}

export function isCovered(row: Message, summary: Message): boolean {
	return (summary.covers ?? []).some(
		(range) => row.session === range.session && row.seq >= range.fromSeq && row.seq <= range.toSeq,
	);
}

/** A message not addressed to the agent is marked wherever it appears; names appear only if several people speak. */
function withAuthor(row: Message, shared: boolean): Content {
	if (!row.observed && !shared && !row.quoted) return row.content;
	const name = inlineUntrusted(row.author?.name ?? "") || "someone";
	const author = row.observed ? `[${name}, not to you] ` : shared ? `[${name}] ` : "";
	const prefix = row.quoted ? `${quoteLine(row.quoted)}\n${author}` : author;
	if (typeof row.content === "string") return prefix + row.content;
	return [{ type: "text", text: prefix.trimEnd() }, ...row.content];
}
