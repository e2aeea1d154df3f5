// A model's reasoning, kept in the transcript as its provider gave it, in order with its text and calls. It goes back only to the same
// provider and model family: elsewhere it is useless, or an error.
import type { LanguageModelV4Message, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { z } from "zod";
import type { Content, ToolCall } from "../../domain/index.ts";
import { modelFamily, type Target } from "./targets.ts";

export type Item =
	| { readonly type: "reasoning"; readonly text: string; readonly metadata?: SharedV4ProviderMetadata }
	/** The next n UTF-16 units of the message's text. */
	| { readonly type: "text"; readonly length: number; readonly metadata?: SharedV4ProviderMetadata }
	| { readonly type: "call"; readonly id: string; readonly metadata?: SharedV4ProviderMetadata };

export type AssistantParts = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

interface Said {
	readonly content: Content;
	readonly toolCalls: readonly ToolCall[];
	readonly reasoning?: unknown;
}

/** Undefined if there is nothing beyond text and calls. */
export function keptReasoning({ provider, model }: Target, items: readonly Item[]): unknown {
	if (items.every(({ type, metadata }) => type !== "reasoning" && metadata === undefined)) return undefined;
	return { provider, model, items };
}

/** The assistant's message as the provider gave it; null for another provider's, or if it does not match the row. */
export function partsWithReasoning(
	{ content, toolCalls, reasoning }: Said,
	target: Target,
): AssistantParts | null {
	const kept = keptSchema.safeParse(reasoning);
	if (!kept.success || typeof content !== "string") return null;
	const { provider, model, items } = kept.data;
	if (provider !== target.provider || modelFamily(model) !== modelFamily(target.model)) return null;
	const parts: AssistantParts = [];
	let at = 0;
	let calls = 0;
	for (const item of items) {
		const providerOptions = item.metadata as SharedV4ProviderMetadata | undefined;
		const options = providerOptions && { providerOptions };
		if (item.type === "reasoning") parts.push({ type: "reasoning", text: item.text, ...options });
		else if (item.type === "text") {
			const text = content.slice(at, at + item.length);
			at += item.length;
			if (text.trim() !== "") parts.push({ type: "text", text, ...options });
		} else {
			const call = toolCalls.find(({ id }) => id === item.id);
			if (!call) return null;
			calls++;
			parts.push({ ...callPart(call), ...options });
		}
	}
	return at === content.length && calls === toolCalls.length ? parts : null;
}

/** Every provider accepts only an object: anything else (arguments that were not JSON) is wrapped in one. */
export function callPart({ id, name, input }: ToolCall): AssistantParts[number] {
	const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
	return {
		type: "tool-call",
		toolCallId: id,
		toolName: name,
		input: isObject ? input : { arguments: input },
	};
}

const metadata = z.record(z.string(), z.record(z.string(), z.unknown())).optional();
const keptSchema = z.object({
	provider: z.string(),
	model: z.string(),
	items: z.array(
		z.discriminatedUnion("type", [
			z.object({ type: z.literal("reasoning"), text: z.string(), metadata }),
			z.object({ type: z.literal("text"), length: z.number(), metadata }),
			z.object({ type: z.literal("call"), id: z.string(), metadata }),
		]),
	),
});
