// Assembles the parts over a store from one configuration: agents, tools, confirmations, processes, checkpoints, gateway. Nothing runs
// until the gateway is started.

import { join } from "node:path";
import type { Agent } from "../agents/index.ts";
import { type Checkpoints, checkpointSettings, createCheckpoints } from "../checkpoints/index.ts";
import { type Config, connections, type Environment, type LiveConfig } from "../config/index.ts";
import { type Confirmations, confirmationSettings, createConfirmations } from "../confirmations/index.ts";
import { createPlatforms, type PlatformTraits } from "../domain/index.ts";
import {
	type Channel,
	type ChatCommand,
	type Clock,
	createGateway,
	type Gateway,
	questionDeliveries,
	sendTool,
	snapshotName,
	toDeliveries,
	type Walls,
	type WorkspaceFolders,
	workspaceFinder,
} from "../gateway/index.ts";
import { createProcessesOn, localMachine, type Processes, processSettings } from "../processes/index.ts";
import { createSchedules, type Schedules, scheduleSettings } from "../schedules/index.ts";
import type { Ids, Store } from "../store/index.ts";
import {
	clarify,
	createAttachTool,
	createScheduleTool,
	createTools,
	createWebFetchTool,
	type McpServers,
	sessionRead,
	sessionSearch,
	type Tool,
} from "../tools/index.ts";
import { Agents } from "./agents.ts";
import { settingsOf } from "./channels.ts";
import { nodeName } from "./home.ts";
import { machinesOf } from "./machines.ts";
import { acpServers, mcpCommand, openMcpServers } from "./mcp.ts";
import { ModelChoices } from "./setup/model-choices.ts";
import { createTerminal } from "./terminal.ts";
import { openWalls } from "./walls.ts";

export interface PartsOptions {
	readonly home: string;
	readonly folders: WorkspaceFolders;
	readonly store: Store;
	readonly config: LiveConfig;
	readonly env: Environment;
	readonly clock: Clock;
	readonly ids: Ids;
	readonly channels: readonly Channel[];
	/** In addition to Keryx's own. */
	readonly tools: readonly Tool[];
	readonly commands: readonly ChatCommand[];
	/** Replace or join the built-in ones. */
	readonly platforms: readonly PlatformTraits[];
	/** Instead of the configured ones. */
	readonly agent: Agent | undefined;
	readonly profiles: Readonly<Record<string, Agent>>;
	readonly pseudonymKey: Uint8Array;
	readonly log: (message: string, error: unknown) => void;
}

export interface Parts {
	readonly agents: Agents;
	readonly models: ModelChoices;
	readonly walls: Walls;
	readonly confirmations: Confirmations;
	readonly processes: Processes;
	readonly schedules: Schedules;
	readonly checkpoints: Checkpoints | null;
	readonly mcp: McpServers;
	readonly gateway: Gateway;
	/** Releases their resources; after the gateway has stopped. */
	close(): Promise<void>;
}

export function createParts(options: PartsOptions): Parts {
	const { home, folders, store, config, env, clock, ids, channels, log } = options;
	// As at the start: changeable values are read per call.
	const { values } = config;
	const workspaceOf = workspaceFinder(
		{
			get workspace() {
				return config.values.workspace;
			},
			get profiles() {
				return config.values.profiles;
			},
		},
		folders,
	);
	const walls = openWalls({ folders, env, workspaceOf, config: () => config.values });
	const mcp = openMcpServers({
		folders,
		env,
		clock,
		secrets: store.secrets,
		walls,
		config: () => config.values,
		log,
	});
	const agents = new Agents({
		config: config.values,
		given: { agent: options.agent, profiles: options.profiles },
		env,
		home,
		store,
		walls,
		folders,
		clock,
		mcpServers: acpServers(mcp, env),
	});
	const models = new ModelChoices({
		home,
		env,
		clock,
		secrets: store.secrets,
		answering: (profile) => agents.answering(profile),
	});
	const confirmations = createConfirmations({
		store,
		clock,
		settings: () => confirmationSettings(config.values, env),
		render: (question, to) =>
			questionDeliveries(question, { ...to, kind: "notice", class: "question" }, gateway.outlet),
		reaches: ({ platform, account }) =>
			[...channels, ...connections(config.values)].some(
				(one) => one.platform === platform && one.account === account,
			),
		log,
	});
	const processes = createProcessesOn({
		store,
		machines: [localMachine(home, localName(values, home)), ...machinesOf(values, { home, env, log })],
		clock,
		ids,
		settings: () => processSettings(config.values),
		render: (text, to) => toDeliveries(text, { ...to, kind: "notice", class: "status" }, gateway.outlet),
		log,
	});
	const schedules = createSchedules({ store, clock, settings: () => scheduleSettings(config.values) });
	const checkpoints = values.checkpoints.enabled
		? createCheckpoints({
				home,
				nameOf: (folder) => snapshotName(folder, folders),
				owner: localName(values, home).name,
				store,
				clock,
				settings: () => checkpointSettings(config.values),
				log,
			})
		: null;
	const terminal = createTerminal({
		home,
		processes,
		env,
		workspaceOf,
		walls,
		secrets: store.secrets,
		now: clock.now,
		config: () => config.values,
	});
	const attach = createAttachTool({
		workspaceOf: (owner) => workspaceOf(owner).folder,
		limit: () => config.values.http.attachment_limit_mb * 1024 * 1024,
	});
	const webFetch = createWebFetchTool({
		clock,
		secrets: store.secrets,
		mode: () => config.values.approvals.mode,
		limits: () => {
			const { allow_private, max_mb, timeout_seconds } = config.values.web;
			return { allowPrivate: allow_private, bytes: max_mb * 1024 * 1024, ms: timeout_seconds * 1000 };
		},
	});
	const sendMessage = sendTool({
		sending: () => gateway.sending,
		workspaceOf: (owner) => workspaceOf(owner).folder,
		limit: () => config.values.http.attachment_limit_mb * 1024 * 1024,
	});
	const scheduleTool = createScheduleTool({
		schedules,
		resolve: (text, { conversation, scope, standing }) =>
			gateway.sending.resolve(text, { standing, scope, origin: conversation }),
		check: (target, { conversation, scope, standing }) =>
			gateway.sending.check(target, { standing, scope, origin: conversation }),
	});
	const gateway: Gateway = createGateway({
		store,
		get agent() {
			return agents.own;
		},
		get profiles() {
			return agents.profiles;
		},
		tools: createTools(
			[
				sessionSearch,
				sessionRead,
				clarify,
				attach,
				sendMessage,
				...terminal,
				webFetch,
				scheduleTool,
				...options.tools,
			],
			mcp,
		),
		promptOf: ({ text, signal, ...caller }) => mcp.prompt(text, caller, signal),
		commands: [mcpCommand(mcp), ...options.commands],
		platforms: createPlatforms(options.platforms),
		confirmations,
		processes,
		schedules,
		checkpoints,
		workspaceOf,
		walls,
		modelChoices: (profile) => models.of(profile),
		outputFolder: join(home, "output"),
		channels,
		settingsOf: (name) => settingsOf(config.values, name),
		config,
		clock,
		pseudonymKey: options.pseudonymKey,
		log,
	});
	return {
		agents,
		models,
		walls,
		confirmations,
		processes,
		schedules,
		checkpoints,
		mcp,
		gateway,
		close: async () => {
			await confirmations.stop();
			await processes.close();
			await checkpoints?.close();
			await agents.close();
			await mcp.close();
		},
	};
}

/** If several gateways share a store, each knows only its own processes and snapshots. */
function localName(config: Config, home: string): { readonly name?: string } {
	return config.store.nodes === "many" ? { name: nodeName(config, home) } : {};
}
