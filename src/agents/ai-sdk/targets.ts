// Which models a step may ask, in which order, and with which key. Guards I12: a key goes only to its configured address, whatever a
// conversation's override names.
import { MODEL_PROVIDERS, type ModelProvider, USUAL_KEY_VARIABLES } from "../../config/index.ts";
import type { ModelOverride } from "../../domain/index.ts";

/** One model, in the words of config.yaml. */
interface ModelChoice {
	readonly provider: ModelProvider;
	readonly model: string;
	readonly base_url?: string | undefined;
	readonly api_key_env?: string | undefined;
	readonly api_key_file?: string | undefined;
}

export interface ModelSettings extends ModelChoice {
	/** Tried in this order, once each, if the one above does not answer. */
	readonly failover: readonly ModelChoice[];
	/** How often the first one is asked again. */
	readonly retries: number;
	readonly temperature?: number | undefined;
	readonly max_output_tokens?: number | undefined;
	readonly reasoning?: "none" | "low" | "medium" | "high" | "max" | undefined;
	readonly prices: Readonly<Record<string, Price>>;
}

/** Per million tokens. */
export interface Price {
	readonly input: number;
	readonly output: number;
	/** Default: same as input. */
	readonly cached_input?: number | undefined;
	readonly currency: string;
}

/** Where a key is: in an environment variable, or in a file. */
export type KeySource = { readonly variable: string } | { readonly file: string };

export interface Target {
	readonly provider: ModelProvider;
	readonly model: string;
	readonly baseUrl: string;
	/** Null: none is sent. */
	readonly key: KeySource | null;
}

/** The first is the intended one; a string says why there is none. */
export function targetsOf(
	settings: ModelSettings,
	override: ModelOverride | null,
): readonly [Target, ...Target[]] | string {
	const main = asTarget(settings);
	const others = settings.failover.map(asTarget);
	const first = override ? overridden(main, others, override) : main;
	if (typeof first === "string") return first;
	return first.baseUrl === ""
		? `base_url is missing: ${first.provider} has no default address`
		: [first, ...others];
}

function asTarget({ provider, model, base_url, api_key_env, api_key_file }: ModelChoice): Target {
	return {
		provider,
		model,
		baseUrl: base_url ?? PROVIDER_ADDRESSES[provider],
		key:
			api_key_file === undefined
				? inVariable(api_key_env ?? USUAL_KEY_VARIABLES[provider])
				: { file: api_key_file },
	};
}

function inVariable(variable: string | null): KeySource | null {
	return variable === null ? null : { variable };
}

function overridden(main: Target, others: readonly Target[], override: ModelOverride): Target | string {
	const provider = override.provider ?? main.provider;
	if (!isModelProvider(provider))
		return `there is no provider ${JSON.stringify(provider)}; choose one of ${MODEL_PROVIDERS.join(", ")}`;
	const configured = [main, ...others].filter((target) => target.provider === provider);
	const baseUrl = override.base_url ?? configured[0]?.baseUrl ?? PROVIDER_ADDRESSES[provider];
	const known = configured.find((target) => target.baseUrl === baseUrl);
	const usual = baseUrl === PROVIDER_ADDRESSES[provider] ? USUAL_KEY_VARIABLES[provider] : null;
	return {
		provider,
		model: override.model ?? main.model,
		baseUrl,
		key: known ? known.key : inVariable(usual),
	};
}

function isModelProvider(name: string): name is ModelProvider {
	return (MODEL_PROVIDERS as readonly string[]).includes(name);
}

/** Always passed to the provider's library, which would otherwise look in the environment. */
export const PROVIDER_ADDRESSES: Readonly<Record<ModelProvider, string>> = {
	openai: "https://api.openai.com/v1",
	anthropic: "https://api.anthropic.com/v1",
	google: "https://generativelanguage.googleapis.com/v1beta",
	openrouter: "https://openrouter.ai/api/v1",
	ollama: "http://127.0.0.1:11434/v1",
	"openai-compatible": "",
};

/** The name without date or tag: reasoning is shared within a family. */
export function modelFamily(model: string): string {
	return model
		.toLowerCase()
		.replace(/[:@].*$/, "")
		.replace(/-(latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{3,4})$/, "");
}
