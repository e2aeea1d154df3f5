// How a model is reached: the providers, and which environment variable holds the key.
import { z } from "zod";

export const MODEL_PROVIDERS = [
	"openai",
	"anthropic",
	"google",
	"openrouter",
	"ollama",
	"openai-compatible",
] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** Used without `api_key_env`. The last two need no key. */
export const USUAL_KEY_VARIABLES: Readonly<Record<ModelProvider, string | null>> = {
	openai: "OPENAI_API_KEY",
	anthropic: "ANTHROPIC_API_KEY",
	google: "GEMINI_API_KEY",
	openrouter: "OPENROUTER_API_KEY",
	ollama: null,
	"openai-compatible": null,
};

export const variableSchema = z
	.string()
	.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable, not its value");

export const baseUrlSchema = z
	.string()
	.refine(isPlainHttpUrl, "must be an address such as https://host/v1, without a user or password");

const nameSchema = z.string().min(1, "must not be empty");

/** The keys that name one model: of the agent itself, and of each entry of its failover list. */
export const modelKeys = {
	provider: z.enum(MODEL_PROVIDERS),
	model: nameSchema,
	base_url: baseUrlSchema.optional(),
	api_key_env: variableSchema.optional(),
	/** Or the file, readable only by its owner; it overrides the variable. */
	api_key_file: z.string().min(1).optional(),
};

export const priceSchema = z.strictObject({
	input: z.number().min(0),
	output: z.number().min(0),
	cached_input: z.number().min(0).optional(),
	currency: z
		.string()
		.regex(/^[A-Z]{3}$/, "must be a three-letter code such as USD")
		.default("USD"),
});

function isPlainHttpUrl(text: string): boolean {
	const url = URL.parse(text);
	return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
