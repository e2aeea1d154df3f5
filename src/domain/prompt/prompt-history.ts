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
	const leftOut = new Set([...leftOutOf(rows), ...(without ?? [])]);
	const results = new Map<string, Message>();
	for (const row of visible)
		if (row.role === "tool" && row.toolCallId) results.set(callKey(row, row.toolCallId), row);
	const history: PromptMessage[] = [];
	for (const row of visible) {
		if (row.kind === "left_out") continue;
		if (row.kind === "sent") history.push({ role: "user", kind: "note", content: sentNote(row) });
		else if (row.role === "user")
			history.push({ role: "user", kind: "person", content: withAuthor(row, shared) });
		else if (row.role === "meta" || row.role === "system")
			history.push({ role: "user", kind: "note", content: row.content });
		else if (row.role === "assistant") history.push(...withResults(row, results));
	}
	return history.map((message) => withoutAttachments(message, leftOut));
}

/** As a note, not as the agent's own turn: it did not write this in this exchange, and no provider accepts a history that starts so. */
function sentNote({ content, sentFrom, createdAt }: Message): Content {
	const at = new Date(createdAt).toISOString().slice(0, 16).replace("T", " ");
	const line = `At ${at} UTC you sent this message to this chat, from ${inlineUntrusted(sentFrom?.where ?? "") || "elsewhere"}:`;
	if (typeof content === "string") return `${line}\n${content}`;
	return [{ type: "text", text: line }, ...content];
}

/** A prompt's rows, in order: a valid summary is where its covered rows were. */
export function standingRows(rows: readonly Message[]): Message[] {
	return withSummaries(
		rows.filter((row) => !row.hidden),
		rows,
	);
}

/** Refused attachments stay out, even if the row about the refusal is covered. */
function leftOutOf(rows: readonly Message[]): ReadonlySet<string> {
	return new Set(rows.flatMap((row) => (row.hidden ? [] : (row.leavesOut ?? []))));
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

/** An assistant's message, each of its calls answered at once; a result that nobody asked for is left out by this. */
function withResults(row: Message, results: ReadonlyMap<string, Message>): PromptMessage[] {
	const toolCalls = row.toolCalls ?? [];
	const answers = toolCalls.map((call): PromptMessage => {
		const result = results.get(callKey(row, call.id));
		return {
			role: "tool",
			toolCallId: call.id,
			toolName: call.name,
			content: result?.content ?? INTERRUPTED_RESULT,
			isError: result ? result.isError === true : true,
		};
	});
	const assistant: PromptMessage = {
		role: "assistant",
		content: row.content,
		toolCalls,
		...(row.reasoning !== undefined && { reasoning: row.reasoning }),
	};
	return [assistant, ...answers];
}

/** Call ids are the provider's and unique within a turn only. */
export function callKey(row: Message, call: string): string {
	return `${row.turn ?? row.session} ${call}`;
}

/** Newest summary first: it may cover an older one. One that covers a hidden row does not count. */
function withSummaries(visible: readonly Message[], all: readonly Message[]): Message[] {
	let rows = [...visible];
	for (const summary of visible.filter((row) => row.kind === "summary").reverse()) {
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
	const name = inlineUntrusted(row.author?.name ?? "") || "someone";
	const author = row.observed ? `[${name}, not to you] ` : shared ? `[${name}] ` : "";
	const prefix = row.quoted ? `${quoteLine(row.quoted)}\n${author}` : author;
	if (prefix === "") return row.content;
	if (typeof row.content === "string") return prefix + row.content;
	return [{ type: "text", text: prefix.trimEnd() }, ...row.content];
}
