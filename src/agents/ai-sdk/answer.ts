// Assembles one answer from a provider's stream.
import type {
	LanguageModelV4StreamPart,
	LanguageModelV4Usage,
	SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { ToolCall } from "../../domain/index.ts";
import type { StepInput } from "../types.ts";
import type { Item } from "./reasoning.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

interface OpenItem {
	readonly type: "reasoning" | "text";
	text: string;
	metadata: SharedV4ProviderMetadata | undefined;
}

export class Answer {
	text = "";
	readonly toolCalls: ToolCall[] = [];
	finish: { readonly reason: Finish["finishReason"]; readonly usage: LanguageModelV4Usage } | null = null;
	readonly #items: (OpenItem | Item)[] = [];
	readonly #open = new Map<string, OpenItem>();
	/** Ids of earlier calls of this turn. */
	readonly #ids: Set<string>;

	constructor({ history }: Pick<StepInput, "history">) {
		this.#ids = new Set(
			history.flatMap((message) =>
				message.role === "assistant" ? message.toolCalls.map(({ id }) => id) : [],
			),
		);
	}

	/** Takes one part. Returns what to show, if anything. */
	take(
		part: LanguageModelV4StreamPart,
	): { readonly type: "text"; readonly delta: string } | { readonly type: "thinking" } | null {
		switch (part.type) {
			case "text-start":
			case "reasoning-start":
				this.#begin(part.type === "text-start" ? "text" : "reasoning", part.id, part.providerMetadata);
				return part.type === "text-start" ? null : THINKING;
			case "text-delta":
				this.#continue("text", part);
				this.text += part.delta;
				return part.delta === "" ? null : { type: "text", delta: part.delta };
			case "reasoning-delta":
				this.#continue("reasoning", part);
				return THINKING;
			case "text-end":
			case "reasoning-end":
				this.#end(part.type === "text-end" ? "text" : "reasoning", part.id, part.providerMetadata);
				return null;
			case "tool-input-start":
			case "tool-input-delta":
				return THINKING;
			case "tool-call":
				if (!part.providerExecuted) this.#call(part);
				return THINKING;
			case "finish":
				this.finish = { reason: part.finishReason, usage: part.usage };
				return null;
			case "stream-start":
			case "response-metadata":
			case "tool-input-end":
			case "tool-result":
			case "tool-approval-request":
			case "file":
			case "reasoning-file":
			case "source":
			case "custom":
			case "raw":
			case "ping":
			case "error":
				return null;
		}
	}

	/** In the order they came, in plain data. */
	items(): Item[] {
		const items = this.#items.map((item) => {
			if (item.type !== "text" || !("text" in item)) return item;
			return { type: "text", length: item.text.length, metadata: item.metadata };
		});
		return JSON.parse(JSON.stringify(items)) as Item[];
	}

	#begin(type: OpenItem["type"], id: string, metadata: SharedV4ProviderMetadata | undefined): OpenItem {
		const item: OpenItem = { type, text: "", metadata };
		this.#items.push(item);
		this.#open.set(`${type} ${id}`, item);
		return item;
	}

	#continue(
		type: OpenItem["type"],
		{
			id,
			delta,
			providerMetadata,
		}: { id: string; delta: string; providerMetadata?: SharedV4ProviderMetadata },
	): void {
		const item = this.#open.get(`${type} ${id}`) ?? this.#begin(type, id, undefined);
		item.text += delta;
		item.metadata = merged(item.metadata, providerMetadata);
	}

	#end(type: OpenItem["type"], id: string, metadata: SharedV4ProviderMetadata | undefined): void {
		const item = this.#open.get(`${type} ${id}`);
		if (!item) return;
		item.metadata = merged(item.metadata, metadata);
		this.#open.delete(`${type} ${id}`);
	}

	#call(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>): void {
		const id = this.#unusedId(part.toolCallId);
		this.toolCalls.push({ id, name: part.toolName, input: parsed(part.input) });
		this.#items.push({ type: "call", id, ...(part.providerMetadata && { metadata: part.providerMetadata }) });
	}

	/** The provider's id, unless it was used before: results are matched by it. */
	#unusedId(given: string): string {
		let id = given || "call";
		for (let n = 2; this.#ids.has(id); n++) id = `${given || "call"}_${n}`;
		this.#ids.add(id);
		return id;
	}
}

const THINKING = { type: "thinking" } as const;

/** Invalid JSON is kept: the tool's error goes back to the model. */
function parsed(input: string): unknown {
	if (input.trim() === "") return {};
	try {
		return JSON.parse(input);
	} catch {
		return input;
	}
}

function merged(
	before: SharedV4ProviderMetadata | undefined,
	more: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
	if (!before || !more) return more ?? before;
	const result = { ...before };
	for (const [name, values] of Object.entries(more)) result[name] = { ...result[name], ...values };
	return result;
}
