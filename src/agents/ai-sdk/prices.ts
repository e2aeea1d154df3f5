// The cost of a call. The table has list prices of September 2026, in USD per million tokens, of each provider's own service;
// agent.prices overrides them. Anything else has no known price.
import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { modelFamily, type Price, type Target } from "./targets.ts";

interface Cost {
	/** In millionths of the currency. */
	readonly costMicros: number | null;
	readonly currency: string;
}

export function costOf(
	target: Target,
	usage: LanguageModelV4Usage,
	own: Readonly<Record<string, Price>>,
): Cost {
	const override = Object.hasOwn(own, target.model) ? own[target.model] : undefined;
	if (override) return { costMicros: micros(usage, override), currency: override.currency };
	// OpenRouter reports its charge.
	const charged = target.provider === "openrouter" ? usage.raw?.cost : undefined;
	if (typeof charged === "number") return { costMicros: Math.round(charged * 1_000_000), currency: "USD" };
	const listed = LIST[target.provider]?.[modelFamily(target.model)];
	if (!listed || (usage.inputTokens.total ?? 0) > (listed.longest ?? Number.POSITIVE_INFINITY))
		return { costMicros: null, currency: "USD" };
	return { costMicros: micros(usage, listed), currency: "USD" };
}

type Rates = Omit<Price, "currency"> & {
	/** Price of writing to the cache; default: same as input. */
	readonly cacheWrite?: number;
	/** Above this many input tokens another price applies, which is not listed here. */
	readonly longest?: number;
};

/** A price per million tokens, in millionths, is the price of one token. */
function micros({ inputTokens, outputTokens }: LanguageModelV4Usage, rates: Rates): number | null {
	if (inputTokens.total === undefined || outputTokens.total === undefined) return null;
	const read = inputTokens.cacheRead ?? 0;
	const written = inputTokens.cacheWrite ?? 0;
	const fresh = Math.max(0, inputTokens.total - read - written);
	return Math.round(
		fresh * rates.input +
			read * (rates.cached_input ?? rates.input) +
			written * (rates.cacheWrite ?? rates.input) +
			outputTokens.total * rates.output,
	);
}

function list(input: number, cached_input: number, output: number, longest?: number): Rates {
	return { input, cached_input, output, ...(longest !== undefined && { longest }) };
}

function claude(input: number, cached_input: number, output: number, longest?: number): Rates {
	return { input, cached_input, output, cacheWrite: input * 1.25, ...(longest !== undefined && { longest }) };
}

const LIST: Partial<Record<Target["provider"], Readonly<Record<string, Rates>>>> = {
	openai: {
		"gpt-5.5": list(5, 0.5, 30, 272_000),
		"gpt-5.4": list(2.5, 0.25, 15, 272_000),
		"gpt-5.4-mini": list(0.75, 0.075, 4.5),
		"gpt-5.4-nano": list(0.2, 0.02, 1.25),
		"gpt-5.2": list(1.75, 0.175, 14),
		"gpt-5.1": list(1.25, 0.125, 10),
		"gpt-5": list(1.25, 0.125, 10),
		"gpt-5-mini": list(0.25, 0.025, 2),
		"gpt-5-nano": list(0.05, 0.005, 0.4),
		"gpt-4.1": list(2, 0.5, 8),
		"gpt-4.1-mini": list(0.4, 0.1, 1.6),
		"gpt-4o": list(2.5, 1.25, 10),
		"gpt-4o-mini": list(0.15, 0.075, 0.6),
	},
	anthropic: {
		"claude-opus-5-5": claude(4, 0.2, 20),
		"claude-opus-5": claude(5, 0.5, 25),
		"claude-sonnet-5-5": claude(2, 0.2, 10),
		"claude-sonnet-5": claude(2, 0.2, 10),
		"claude-opus-4-5": claude(5, 0.5, 25),
		"claude-sonnet-4-5": claude(3, 0.3, 15, 200_000),
		"claude-haiku-4-5": claude(1, 0.1, 5),
		"claude-opus-4-1": claude(15, 1.5, 75),
	},
	google: {
		"gemini-2.5-pro": list(1.25, 0.125, 10, 200_000),
		"gemini-2.5-flash": list(0.3, 0.03, 2.5),
		"gemini-2.5-flash-lite": list(0.1, 0.01, 0.4),
	},
};
