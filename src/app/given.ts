// What the caller of createKeryx gave, or its default: the configuration, the store's engine, the webhooks.
import { join } from "node:path";
import {
	type Config,
	type ConfigInput,
	configFrom,
	type Environment,
	type LoadedConfig,
	loadConfig,
} from "../config/index.ts";
import type { WebhookRoute } from "../http/index.ts";
import { type Engine, openEngine } from "../store/index.ts";
import type { EngineOptions, KeryxOptions } from "./types.ts";
import { webhookRoutes } from "./webhooks.ts";

const FILES = "files";
const IN_MEMORY = "sqlite::memory:";

export function configOf(
	{ config, followsFile }: Pick<KeryxOptions, "config" | "followsFile">,
	home: string,
	env: Environment,
): { readonly config: LoadedConfig; readonly isFollowed: boolean; readonly isGiven: boolean } {
	if (config === undefined)
		return { config: loadConfig({ home, env }), isFollowed: followsFile ?? true, isGiven: false };
	if (isLoaded(config)) return { config, isFollowed: followsFile ?? false, isGiven: false };
	return { config: configFrom(config, env, home), isFollowed: false, isGiven: true };
}

function isLoaded(config: ConfigInput | LoadedConfig): config is LoadedConfig {
	return "values" in config && "entries" in config;
}

/** With its own configuration, a program keeps the agent's files in the home, too, unless it names another folder. */
export function inHome({ workspace }: Config, home: string): Config["workspace"] {
	return { ...workspace, root: workspace.root ?? join(home, FILES) };
}

export function openGiven(given: KeryxOptions["store"], options: EngineOptions): Promise<Engine> {
	if (given === undefined) return openEngine(options);
	if (typeof given !== "string") return given(options);
	// An in-memory store has no audit that could have been altered.
	const { auditWitness: _kept, ...rest } = options;
	return openEngine({ ...(given === IN_MEMORY ? rest : options), url: given });
}

/** A route without a secret prevents starting, but not reading. */
export function webhooksOf(
	values: Config,
	env: Environment,
): { readonly routes: readonly WebhookRoute[]; readonly problem: unknown } {
	try {
		return { routes: webhookRoutes(values, env), problem: null };
	} catch (problem) {
		return { routes: [], problem };
	}
}
