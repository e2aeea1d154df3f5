// Creates the configured agent.
import { readFileSync } from "node:fs";
import {
	type AcpServer,
	type Agent,
	createAcpAgent,
	createModelAgent,
	createOfflineAgent,
	createScriptedAgent,
	type ModelSettings,
	parseScript,
} from "../agents/index.ts";
import { type Config, type Environment, keryxHome, readSecretFile } from "../config/index.ts";
import { conversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { createWorkspaces, type Walls, type WorkspaceFolders, workspaceFolders } from "../gateway/index.ts";
import { OPERATOR, type Store } from "../store/index.ts";
import { type Clock, systemClock } from "../time/index.ts";
import type { McpCaller } from "../tools/index.ts";

/** Keryx's own, or the profile's of that name. */
export interface AgentSettings extends Pick<Config, "agent" | "workspace"> {
	readonly profile?: string;
}

export interface AgentParts {
	readonly env: Environment;
	readonly store: Pick<Store, "blob" | "secrets">;
	/** For an agent program. */
	readonly walls?: Pick<Walls, "forProgram">;
	/** Default: those of the home named by the environment. */
	readonly folders?: WorkspaceFolders;
	readonly clock?: Clock;
	/** For an agent program: the MCP servers it gets for itself. */
	readonly mcpServers?: (caller: McpCaller) => readonly AcpServer[];
	/** Where key files with relative names are; left out, the home that the environment names. */
	readonly home?: string;
}

/** Throws config.invalid where the configuration lacks what its kind needs. */
export function createAgent(settings: AgentSettings, parts: AgentParts): Agent {
	const { env, store, clock = systemClock, home = keryxHome(env) } = parts;
	switch (settings.agent.kind) {
		case "offline":
			return createOfflineAgent();
		case "ai-sdk":
			return createModelAgent({
				settings: modelSettings(settings),
				env,
				keyFile: (file) => keyIn(file, home, store.secrets),
				clock,
				readBlob: (conversation, digest) => readBlob(store, conversation, digest),
				hide: (text) => store.secrets.hide(text),
			});
		case "acp":
			return acpAgent(settings, parts);
		case "scripted":
			return scriptedAgent(settings, clock);
	}
}

function modelSettings({ agent }: AgentSettings): ModelSettings {
	const { provider, model } = agent;
	if (provider === undefined) throw missing("agent.provider", "name a provider when agent.kind is ai-sdk");
	if (model === undefined) throw missing("agent.model", "name a model when agent.kind is ai-sdk");
	for (const [index, entry] of [{ ...agent, provider }, ...agent.failover].entries()) {
		if (entry.provider !== "openai-compatible" || entry.base_url !== undefined) continue;
		const key = index === 0 ? "agent.base_url" : `agent.failover.${index - 1}.base_url`;
		throw missing(key, "be set when the provider is openai-compatible");
	}
	return { ...agent, provider, model };
}

/** Read at each use: the value of a changed file is hidden from then on (I12). */
function keyIn(file: string, home: string, secrets: Store["secrets"]): { readonly key: string } | string {
	const found = readSecretFile(file, home);
	if (found.kind === "missing") return `there is no file ${found.path}`;
	if (found.kind === "exposed") return `others can read ${found.path}: run \`chmod 600 ${found.path}\``;
	if (found.value !== "") secrets.learn(new Map([[file, found.value]]));
	return { key: found.value };
}

function acpAgent(
	{ agent, workspace, profile = "" }: AgentSettings,
	{ env, store: { secrets }, walls, folders, clock = systemClock, mcpServers = () => [] }: AgentParts,
): Agent {
	const { command, args, env_pass: pass, wall: kind, start_seconds, idle_minutes, max_programs } = agent;
	if (command === undefined) throw missing("agent.command", "name a program when agent.kind is acp");
	const workspaces = createWorkspaces(workspace, folders ?? workspaceFolders(keryxHome(env), workspace, env));
	if (walls === undefined) throw new KeryxError("internal", "an agent that is a program needs walls");
	return createAcpAgent({
		command,
		args,
		clock,
		workspaceOf: (conversation) => workspaces.of(conversation),
		wallOf: ({ conversation, standing }) =>
			walls.forProgram({ conversation, profile, standing }, { kind, pass }),
		startSeconds: start_seconds,
		idleMinutes: idle_minutes,
		maxPrograms: max_programs,
		secrets,
		mcpServers: ({ standing }) => mcpServers({ profile, standing }),
	});
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
			scope: OPERATOR,
			conversation: conversationId(conversation),
			digest,
		});
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return null;
		throw error;
	}
}

function scriptedAgent({ agent }: AgentSettings, clock: Clock): Agent {
	const { script } = agent;
	if (script === undefined) throw missing("agent.script", "name a file when agent.kind is scripted");
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
