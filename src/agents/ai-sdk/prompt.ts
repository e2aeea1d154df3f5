// Builds the provider's prompt: system, the rows, the notes last. A pure function of the input, so that everything before the notes is
// byte for byte the start of the next turn's prompt: prompt caches depend on that.
import type {
	LanguageModelV4FilePart,
	LanguageModelV4Message,
	LanguageModelV4TextPart,
	LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { type Content, contentText, type PromptMessage } from "../../domain/index.ts";
import type { StepInput } from "../types.ts";
import {
	type Attachment,
	longestRequest,
	type ReadBlob,
	type ShownFile,
	showAttachments,
} from "./attachments.ts";
import { callPart, partsWithReasoning } from "./reasoning.ts";
import type { Target } from "./targets.ts";

/** A file in a request, as bytes or as text. */
export interface SentAttachment {
	readonly digest: string;
	readonly mediaType: string;
	readonly bytes: number;
	readonly part: LanguageModelV4FilePart | LanguageModelV4TextPart;
}

export interface Prompt {
	readonly messages: LanguageModelV4Message[];
	/** The newest last. */
	readonly attachments: readonly SentAttachment[];
}

type Parts = (LanguageModelV4TextPart | LanguageModelV4FilePart)[];

export async function buildPrompt(input: StepInput, target: Target, readBlob: ReadBlob): Promise<Prompt> {
	const shown = await shownIn(input, target, readBlob);
	const convert = (content: Content): Parts => {
		const parts: Parts = [];
		for (const part of typeof content === "string" ? [{ type: "text" as const, text: content }] : content) {
			// Providers refuse an empty text.
			if (part.type === "text" && part.text.trim() === "") continue;
			parts.push(part.type === "text" ? part : (shown.get(part) as ShownFile).part);
		}
		return parts;
	};
	const rows: LanguageModelV4Message[] = [];
	// Results directly follow their calls, so their attachments come after the last of them.
	let brought: Parts = [];
	for (const [row, message] of input.history.entries()) {
		if (message.role === "tool") {
			const parts = convert(message.content);
			rows.push({ role: "tool", content: [resultPart(message, parts)] });
			brought.push(...parts.filter((part) => part.type === "file"));
		}
		if (input.history[row + 1]?.role !== "tool" && brought.length > 0) {
			rows.push({
				role: "user",
				content: [{ type: "text", text: note("attachments of the results above:") }, ...brought],
			});
			brought = [];
		}
		if (message.role === "user")
			rows.push({ role: "user", content: spoken(message, convert(message.content)) });
		if (message.role === "assistant") rows.push(...assistantMessage(message, target));
	}
	const last = lastMessage(input.notes, rows);
	const marked = target.provider === "anthropic" ? withCacheMarks(rows) : rows;
	const attachments = [...shown]
		.reverse()
		.filter(([, { bytes }]) => bytes > 0)
		.map(([{ blob, mediaType }, one]) => ({ digest: blob, mediaType, ...one }));
	return { messages: [...systemMessage(input.system, target), ...marked, ...last], attachments };
}

/** What the history's attachments become, within a request's limits. */
async function shownIn(
	{ conversation, system, history, notes, tools }: StepInput,
	{ provider }: Target,
	readBlob: ReadBlob,
): Promise<ReadonlyMap<Attachment, ShownFile>> {
	const attachments = history.flatMap(({ role, content }) =>
		typeof content === "string" || role === "assistant" ? [] : content.filter((part) => part.type !== "text"),
	);
	if (attachments.length === 0) return new Map();
	const otherBytes = Buffer.byteLength(JSON.stringify({ system, history, notes, tools }));
	const spare = longestRequest(provider) - otherBytes - AROUND;
	return showAttachments(attachments, { provider, spare }, (digest) => readBlob(conversation, digest));
}

/** What a provider's library adds to a request. */
const AROUND = 100_000;

function systemMessage(system: string, { provider }: Target): LanguageModelV4Message[] {
	if (system.trim() === "") return [];
	return [{ role: "system", content: system, ...(provider === "anthropic" && CACHED) }];
}

function spoken({ kind }: Extract<PromptMessage, { role: "user" }>, parts: Parts): Parts {
	if (parts.length === 0) return [{ type: "text", text: "(an empty message)" }];
	if (kind === "person") return parts;
	return parts.map((part) => (part.type === "text" ? { ...part, text: note(part.text) } : part));
}

/** Empty messages are left out. */
function assistantMessage(
	message: Extract<PromptMessage, { role: "assistant" }>,
	target: Target,
): LanguageModelV4Message[] {
	const text = contentText(message.content);
	const content = partsWithReasoning(message, target) ?? [
		...(text.trim() === "" ? [] : [{ type: "text" as const, text }]),
		...message.toolCalls.map(callPart),
	];
	return content.length === 0 ? [] : [{ role: "assistant", content }];
}

function resultPart(
	{ toolCallId, toolName, isError }: Extract<PromptMessage, { role: "tool" }>,
	parts: Parts,
): LanguageModelV4ToolResultPart {
	const words = parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}: see below]`));
	const value = words.join("\n") || "(no output)";
	return {
		type: "tool-result",
		toolCallId,
		toolName,
		output: { type: isError ? "error-text" : "text", value },
	};
}

/** The last message must not be the model's own. */
function lastMessage(
	notes: readonly string[],
	rows: readonly LanguageModelV4Message[],
): LanguageModelV4Message[] {
	const text = notes.filter((line) => line.trim() !== "").join("\n");
	const last = rows.at(-1)?.role;
	if (text === "" && (last === "user" || last === "tool")) return [];
	return [{ role: "user", content: [{ type: "text", text: note(text || "Please continue.") }] }];
}

/** Keryx's notes must not look like a person's. */
function note(text: string): string {
	return `[Note from Keryx]\n${text}`;
}

const CACHED = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } as const;

/**
 * Anthropic caches up to a mark: one after the last row, for the next step, and one where the previous step's mark was, so that it is
 * found however many rows were added. The notes stay outside: they change with every step.
 */
function withCacheMarks(rows: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
	const before = rows.findLastIndex(({ role }) => role === "assistant") - 1;
	return rows.map((row, index) =>
		row.role !== "assistant" && (index === rows.length - 1 || index === before) ? { ...row, ...CACHED } : row,
	);
}
