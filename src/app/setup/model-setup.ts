// Connects a model: tries it, writes the key file and the entry of config.yaml. For `keryx setup` and the page; a running Keryx follows
// the file. Nothing is written unless the model answers.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createModelAgent, listModels, type ModelCheck, PROVIDER_ADDRESSES } from "../../agents/index.ts";
import {
	checkConfig,
	type Environment,
	editConfig,
	MODEL_PROVIDERS,
	type ModelProvider,
	readSecretFile,
	USUAL_KEY_VARIABLES,
	writeConfig,
	writeSecretFile,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ModelSetup } from "../../http/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import { systemClock } from "../../time/index.ts";
import type { ConfigChanges, ConfigFile } from "./config-file.ts";

/** The usual choice; a suggestion, never written unasked. */
export const SUGGESTED_MODELS: Readonly<Record<ModelProvider, string>> = {
	openai: "gpt-5.1",
	anthropic: "claude-sonnet-4-5",
	google: "gemini-2.5-pro",
	openrouter: "anthropic/claude-sonnet-4.5",
	ollama: "llama3.1",
	"openai-compatible": "",
};

const ANSWER_MS = 60_000;
const LIST_MS = 20_000;

export interface ModelContext {
	readonly home: string;
	readonly env: Environment;
	readonly secrets: Pick<Secrets, "hide" | "learn">;
}

export interface ModelWanted {
	readonly provider: ModelProvider;
	readonly model: string;
	readonly baseUrl?: string | undefined;
	/** The key itself, for a key file; default: the provider's stored one, or its variable's. */
	readonly key?: string | undefined;
	/** Instead of the provider's usual one. */
	readonly variable?: string | undefined;
}

export function modelSetup(context: ModelContext & { readonly writer: ConfigFile }): ModelSetup {
	return {
		current: () => {
			const { agent } = checkConfig(context).config?.values ?? { agent: undefined };
			return {
				kind: agent?.kind ?? "offline",
				provider: agent?.provider ?? null,
				model: agent?.model ?? null,
				base_url: agent?.base_url ?? null,
				providers: MODEL_PROVIDERS.map((provider) => ({
					provider,
					needs_key: USUAL_KEY_VARIABLES[provider] !== null,
					needs_address: PROVIDER_ADDRESSES[provider] === "",
					has_key: storedKey(provider, context) !== null,
					suggested: SUGGESTED_MODELS[provider],
				})),
			};
		},
		list: async (wanted, signal) => {
			assertMayUseKey(wanted, context);
			return modelsOf(wanted, context, signal);
		},
		take: async ({ by, ...wanted }, signal) => {
			assertMayUseKey(wanted, context);
			const { ms } = await takeModel(wanted, context, {
				signal,
				write: (changes) => context.writer.change({ changes: () => changes, by }),
			});
			return { provider: wanted.provider, model: wanted.model, ms };
		},
	};
}

/** Throws model.unreachable with the provider's message. */
export async function modelsOf(
	{ provider, baseUrl, key }: Omit<ModelWanted, "model">,
	context: ModelContext,
	signal?: AbortSignal,
): Promise<readonly string[]> {
	const address = addressOf(provider, baseUrl);
	const deadline = AbortSignal.timeout(LIST_MS);
	try {
		return await listModels(
			{ provider, baseUrl: address },
			key?.trim() || storedKey(provider, context),
			signal ? AbortSignal.any([signal, deadline]) : deadline,
		);
	} catch (cause) {
		throw new KeryxError("model.unreachable", (cause as Error).message, { cause });
	}
}

/** Throws model.unreachable if the model does not answer; then nothing is written. */
export async function takeModel(
	wanted: ModelWanted,
	context: ModelContext,
	{
		signal,
		write = async (changes) => writeChanges(changes, context),
	}: {
		readonly signal?: AbortSignal;
		/** Default: written at once, without a record of who did it. */
		readonly write?: (changes: ConfigChanges) => Promise<unknown>;
	} = {},
): Promise<Extract<ModelCheck, { ok: true }>> {
	addressOf(wanted.provider, wanted.baseUrl);
	if (wanted.key !== undefined)
		context.secrets.learn(new Map([[keyFileOf(wanted.provider), wanted.key.trim()]]));
	const check = await tryModel(wanted, context, signal);
	if (!check.ok)
		throw new KeryxError(
			"model.unreachable",
			`the model ${wanted.model} did not answer: ${check.failure.detail}`,
		);
	const changes = modelChanges(wanted, context);
	if (wanted.key !== undefined)
		writeSecretFile(join(context.home, keyFileOf(wanted.provider)), wanted.key.trim());
	await write(changes);
	return check;
}

/** Untested, if it is known to work. */
export function writeModel(wanted: ModelWanted, context: Pick<ModelContext, "home">): string {
	const changes = modelChanges(wanted, context);
	if (wanted.key !== undefined)
		writeSecretFile(join(context.home, keyFileOf(wanted.provider)), wanted.key.trim());
	return writeChanges(changes, context);
}

function writeChanges(changes: ConfigChanges, { home }: Pick<ModelContext, "home">): string {
	const path = join(home, "config.yaml");
	writeConfig(path, editConfig(existsSync(path) ? readFileSync(path, "utf8") : "", changes));
	return path;
}

function modelChanges(
	{ provider, model, baseUrl, key, variable }: ModelWanted,
	context: Pick<ModelContext, "home">,
): ConfigChanges {
	const file = keyFileOf(provider);
	const isStored = key !== undefined || (variable === undefined && existsSync(join(context.home, file)));
	return {
		"agent.kind": "ai-sdk",
		"agent.provider": provider,
		"agent.model": model,
		"agent.base_url": baseUrl,
		"agent.api_key_env": isStored ? undefined : variable,
		"agent.api_key_file": isStored ? file : undefined,
	};
}

export function tryModel(
	{ provider, model, baseUrl, key, variable }: ModelWanted,
	context: ModelContext,
	signal?: AbortSignal,
): Promise<ModelCheck> {
	const value =
		key?.trim() ?? (variable === undefined ? storedKey(provider, context) : context.env[variable]);
	const deadline = AbortSignal.timeout(ANSWER_MS);
	const agent = createModelAgent({
		settings: {
			provider,
			model,
			...(baseUrl !== undefined && { base_url: baseUrl }),
			...(value && { api_key_file: "given" }),
			...(!value && variable !== undefined && { api_key_env: variable }),
			failover: [],
			retries: 0,
			prices: {},
		},
		env: context.env,
		keyFile: () => ({ key: value ?? "" }),
		clock: systemClock,
		readBlob: () => Promise.resolve(null),
		hide: (text) => context.secrets.hide(text),
	});
	return agent.check(signal ? AbortSignal.any([signal, deadline]) : deadline);
}

/** One file per provider, so that switching back needs no key. */
function keyFileOf(provider: ModelProvider): string {
	return join("keys", `${provider}.key`);
}

function storedKey(
	provider: ModelProvider,
	{ home, env }: Pick<ModelContext, "home" | "env">,
): string | null {
	const found = readSecretFile(keyFileOf(provider), home);
	if (found.kind === "read" && found.value !== "") return found.value;
	return env[USUAL_KEY_VARIABLES[provider] ?? ""]?.trim() || null;
}

/** A stored key goes only to its configured address or its provider: another address needs the key again. */
function assertMayUseKey(
	{ provider, baseUrl, key }: Omit<ModelWanted, "model">,
	context: ModelContext,
): void {
	if (baseUrl === undefined || key?.trim() || storedKey(provider, context) === null) return;
	const { agent, profiles = {} } = checkConfig(context).config?.values ?? {};
	const agents = [agent, ...Object.values(profiles).map((profile) => profile.agent)];
	const configured = agents
		.flatMap((one) => (one ? [one, ...one.failover] : []))
		.filter((one) => one.provider === provider)
		.map((one) => one.base_url ?? "");
	const isSame = (address: string) => withoutSlash(address) === withoutSlash(baseUrl);
	if ([PROVIDER_ADDRESSES[provider], ...configured].some(isSame)) return;
	throw new KeryxError("argument.invalid", "key is required: the stored one is for another address", {
		field: "key",
	});
}

function withoutSlash(address: string): string {
	return address.replace(/\/+$/, "");
}

function addressOf(provider: ModelProvider, given: string | undefined): string {
	const address = given ?? PROVIDER_ADDRESSES[provider];
	if (address !== "") return address;
	throw new KeryxError("argument.invalid", `base_url is required: ${provider} has no default address`, {
		field: "base_url",
	});
}
