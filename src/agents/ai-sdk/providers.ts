// Creates a provider's model. Each provider's library is loaded on first use.
import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { boundedFetch as fetch } from "./bounded.ts";
import type { Target } from "./targets.ts";

/** `key` null: none is sent, if the provider allows that. */
export async function openModel(
	{ provider, model, baseUrl }: Target,
	key: string | null,
): Promise<LanguageModelV4> {
	const apiKey = key ?? "";
	switch (provider) {
		case "openai": {
			const { createOpenAI } = await import("@ai-sdk/openai");
			return createOpenAI({ apiKey, baseURL: baseUrl, fetch }).responses(model);
		}
		case "anthropic": {
			const { createAnthropic } = await import("@ai-sdk/anthropic");
			return createAnthropic({ apiKey, baseURL: baseUrl, fetch }).languageModel(model);
		}
		case "google": {
			const { createGoogle } = await import("@ai-sdk/google");
			return createGoogle({ apiKey, baseURL: baseUrl, fetch }).languageModel(model);
		}
		case "openrouter":
		case "ollama":
		case "openai-compatible": {
			const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
			return createOpenAICompatible({
				name: OPTIONS_NAME,
				baseURL: baseUrl,
				includeUsage: true,
				fetch,
				...(key !== null && { apiKey: key }),
			}).languageModel(model);
		}
	}
}

/** Only names what the library files its metadata under. */
const OPTIONS_NAME = "keryx";

/** Nothing of a conversation stays with the provider: later steps use the transcript. */
export const PROVIDER_OPTIONS: SharedV4ProviderOptions = { openai: { store: false } };

export function needsKey({ provider }: Target): boolean {
	return provider !== "ollama" && provider !== "openai-compatible";
}
