// A Keryx in this process: store, agent, gateway and API, put together from the configuration.
import { existsSync } from "node:fs";
import type { Agent } from "../agents/index.ts";
import { createLocalChannel } from "../channels/local/index.ts";
import { type Config, keryxHome } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { createGateway, systemClock } from "../gateway/index.ts";
import { type Api, createApi, type Served, serveOnSocket } from "../http/index.ts";
import { openStore, type Store, systemIds } from "../store/index.ts";
import { clarify, createTools, sessionRead, sessionSearch } from "../tools/index.ts";
import { createAgent } from "./agent.ts";
import type { CliContext } from "./context.ts";
import { followConfig } from "./follow-config.ts";
import { type Home, openHome, pseudonymKey } from "./home.ts";
import type { Output } from "./output.ts";
import { version } from "./version.ts";

export interface HostOptions {
	readonly context: CliContext;
	readonly config: Config;
	readonly output: Output;
	/** read: nothing can be changed. change: owns the store, no turn runs. run: a gateway that answers, and listens on its socket. */
	readonly as: "read" | "change" | "run";
}

export interface Host {
	readonly home: Home;
	readonly api: Api;
	close(): Promise<void>;
}

export async function openHost({ context, config, output, as }: HostOptions): Promise<Host> {
	const home = openHome(keryxHome(context.env));
	const ids = systemIds(systemClock);
	// Where there is no store yet there is nothing to read: it is made, as the first start would.
	const access = as === "read" && existsSync(home.storePath) ? "read" : "own";
	const store = await openStore({ url: home.storeUrl, clock: systemClock, ids, access });
	try {
		const agent = createAgent(config, context.env, store);
		const profiles = Object.fromEntries(
			Object.entries(config.profiles).map(([name, profile]) => [
				name,
				createAgent(
					{ ...config, agent: profile.agent, workspace: profile.workspace },
					context.env,
					store,
					config,
				),
			]),
		);
		const gateway = createGateway({
			store,
			agent,
			profiles,
			tools: createTools([sessionSearch, sessionRead, clarify]),
			channels: (["local", "web", "api_server"] as const).map((platform) =>
				createLocalChannel(platform, context.now),
			),
			config,
			clock: systemClock,
			pseudonymKey: pseudonymKey(home, ids.bytes),
			log: (message, error) => output.warn(error === undefined ? message : `${message}: ${wordsOf(error)}`),
		});
		const api = createApi({
			store,
			gateway: as === "read" ? null : gateway,
			version: version(),
			agent: agent.name,
			startedAt: context.now(),
			now: context.now,
		});
		const served = as === "run" ? await begin(gateway, api, home) : null;
		const following = served && followConfig({ home: home.path, env: context.env, gateway, output });
		return {
			home,
			api,
			close: async () => {
				following?.close();
				if (served) {
					await gateway.stop();
					await served.close();
				}
				await closeAgents([agent, ...Object.values(profiles)]);
				await closeAll(api, store);
			},
		};
	} catch (error) {
		await store.close();
		throw error;
	}
}

/** The socket is there when Keryx answers, and not before. */
async function begin(gateway: ReturnType<typeof createGateway>, api: Api, home: Home): Promise<Served> {
	await gateway.start();
	return serveOnSocket(api, home.socketPath);
}

/** Programs that were kept for the next turn. */
async function closeAgents(agents: readonly Agent[]): Promise<void> {
	await Promise.all(agents.map(async (agent) => agent.kind === "loop" && agent.close?.()));
}

async function closeAll(api: Api, store: Store): Promise<void> {
	api.close();
	await store.close();
}

function wordsOf(error: unknown): string {
	return error instanceof KeryxError
		? `${error.message}; ${error.hint}`
		: error instanceof Error
			? error.message
			: String(error);
}
