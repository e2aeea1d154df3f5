// The models a conversation may choose: the configured ones, and those their providers list. A provider is asked at most every ten
// minutes, with the configured key and address; one that does not answer in time lists nothing.
import { listModels, PROVIDER_ADDRESSES } from "../../agents/index.ts";
import {
	type Config,
	type Environment,
	type ModelProvider,
	readSecretFile,
	USUAL_KEY_VARIABLES,
} from "../../config/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Answering } from "../agents.ts";

const ANSWER_MS = 5000;
const KEPT_MS = 600_000;
/** A failure is retried soon. */
const KEPT_FAILED_MS = 30_000;

export interface ModelNamed {
	readonly provider: ModelProvider;
	readonly model: string;
}

interface ModelChoicesOptions {
	readonly home: string;
	readonly env: Environment;
	readonly clock: Pick<Clock, "monotonic">;
	readonly secrets: Pick<Secrets, "learn">;
	answering(profile: string): Answering | null;
}

type Target = Pick<Config["agent"], "base_url" | "api_key_env" | "api_key_file"> & ModelNamed;

export class ModelChoices {
	readonly #options: ModelChoicesOptions;
	/** By provider and address. */
	readonly #lists = new Map<
		string,
		{ readonly until: number; readonly models: Promise<readonly string[]> }
	>();

	constructor(options: ModelChoicesOptions) {
		this.#options = options;
	}

	/** The configured ones first, each once; none if no model answers. */
	async of(profile: string): Promise<readonly ModelNamed[]> {
		const settings = this.#options.answering(profile)?.settings;
		const { provider, model } = settings ?? {};
		if (settings?.kind !== "ai-sdk" || provider === undefined || model === undefined) return [];
		const targets: readonly Target[] = [{ ...settings, provider, model }, ...settings.failover];
		const named = targets.map((target) => ({ provider: target.provider, model: target.model }));
		const listed = await Promise.all(
			targets.map(async (target) =>
				(await this.#list(target)).map((name) => ({ provider: target.provider, model: name })),
			),
		);
		return [
			...new Map([...named, ...listed.flat()].map((one) => [`${one.provider}:${one.model}`, one])).values(),
		];
	}

	#list(target: Target): Promise<readonly string[]> {
		const { clock } = this.#options;
		const baseUrl = target.base_url ?? PROVIDER_ADDRESSES[target.provider];
		const name = `${target.provider} ${baseUrl}`;
		const kept = this.#lists.get(name);
		if (kept && kept.until > clock.monotonic()) return kept.models;
		const models = this.#ask(target, baseUrl).catch((): readonly string[] => {
			this.#lists.set(name, { until: clock.monotonic() + KEPT_FAILED_MS, models });
			return [];
		});
		this.#lists.set(name, { until: clock.monotonic() + KEPT_MS, models });
		return models;
	}

	async #ask(target: Target, baseUrl: string): Promise<readonly string[]> {
		return listModels(
			{ provider: target.provider, baseUrl },
			this.#key(target),
			AbortSignal.timeout(ANSWER_MS),
		);
	}

	#key({ provider, api_key_file, api_key_env }: Target): string | null {
		const { home, env, secrets } = this.#options;
		if (api_key_file === undefined)
			return env[api_key_env ?? USUAL_KEY_VARIABLES[provider] ?? ""]?.trim() || null;
		const found = readSecretFile(api_key_file, home);
		if (found.kind !== "read" || found.value === "") return null;
		secrets.learn(new Map([[api_key_file, found.value]]));
		return found.value;
	}
}
