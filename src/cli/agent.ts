// What answers in this Keryx, from the configuration.
import { readFileSync } from "node:fs";
import {
	type Agent,
	createModelAgent,
	createOfflineAgent,
	createScriptedAgent,
	type ModelSettings,
	parseScript,
} from "../agents/index.ts";
import type { Config, Environment } from "../config/index.ts";
import type { ConversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { type GatewayClock, systemClock } from "../gateway/index.ts";
import type { Store } from "../store/index.ts";

/** Throws config.invalid where the configuration lacks what its kind needs. */
export function createAgent(config: Config, env: Environment, store: Pick<Store, "blob">): Agent {
	switch (config.agent.kind) {
		case "offline":
			return createOfflineAgent();
		case "ai-sdk":
			return createModelAgent({
				settings: modelSettings(config),
				env,
				clock: systemClock,
				readBlob: (conversation, digest) => readBlob(store, conversation, digest),
			});
		case "scripted":
			return scriptedAgent(config, systemClock);
	}
}

function modelSettings({ agent }: Config): ModelSettings {
	const { provider, model } = agent;
	if (provider === undefined) throw missing("agent.provider", "name a provider where agent.kind is ai-sdk");
	if (model === undefined) throw missing("agent.model", "name a model where agent.kind is ai-sdk");
	for (const [index, entry] of [{ ...agent, provider }, ...agent.failover].entries()) {
		if (entry.provider !== "openai-compatible" || entry.base_url !== undefined) continue;
		const key = index === 0 ? "agent.base_url" : `agent.failover.${index - 1}.base_url`;
		throw missing(key, "be given where the provider is openai-compatible");
	}
	return { ...agent, provider, model };
}

function missing(field: string, rule: string): KeryxError {
	return new KeryxError("config.invalid", `${field} must ${rule}`, { field });
}

async function readBlob(
	store: Pick<Store, "blob">,
	conversation: string,
	digest: string,
): Promise<Uint8Array | null> {
	try {
		return await store.blob({
			scope: { kind: "operator" },
			conversation: conversation as ConversationId,
			digest,
		});
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return null;
		throw error;
	}
}

function scriptedAgent(config: Config, clock: GatewayClock): Agent {
	const { script } = config.agent;
	if (script === undefined) throw missing("agent.script", "name a file where agent.kind is scripted");
	try {
		return createScriptedAgent({ script: parseScript(readFileSync(script, "utf8")), clock });
	} catch (cause) {
		if (cause instanceof KeryxError) throw cause;
		throw new KeryxError("config.invalid", `agent.script: ${(cause as Error).message}`, {
			field: "agent.script",
			cause,
		});
	}
}
