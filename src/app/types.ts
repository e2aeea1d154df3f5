// The options of a Keryx, and its interface for programs that embed it.
import type { Agent } from "../agents/index.ts";
import type { ConfigInput, Environment, LoadedConfig } from "../config/index.ts";
import type { PlatformTraits } from "../domain/index.ts";
import type { Channel, ChatCommand, Clock, Gateway } from "../gateway/index.ts";
import type { Api, Client, Served } from "../http/index.ts";
import type { Engine, openEngine, Store } from "../store/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Report } from "./report/report.ts";

/** The options for opening a store's engine. */
export type EngineOptions = Parameters<typeof openEngine>[0];

export interface KeryxOptions {
	/** The folder for all data. Created if missing, only for this user. */
	readonly home: string;
	/** An object like config.yaml, or a loaded one. Default: config.yaml in the home, followed while Keryx runs. */
	readonly config?: ConfigInput | LoadedConfig;
	/** Channels in addition to Keryx's own. Started and stopped with Keryx. */
	readonly channels?: readonly Channel[];
	/** Tools in addition to Keryx's own. `tools.enabled` and similar settings name both. */
	readonly tools?: readonly Tool[];
	/** Chat commands in addition to Keryx's own. */
	readonly commands?: readonly ChatCommand[];
	/** Traits of platforms: message length, markup. Not needed for a channel with its own traits. */
	readonly platforms?: readonly PlatformTraits[];
	/** The agent, instead of the configured one. Its creator closes it. */
	readonly agent?: Agent;
	/** The same by profile. */
	readonly profiles?: Readonly<Record<string, Agent>>;
	/** A URL such as sqlite::memory:, or a function that opens an engine. Default: `store.url`, or keryx.db in the home. */
	readonly store?: string | ((options: EngineOptions) => Promise<Engine>);
	readonly clock?: Clock;
	/** Environment variables for the configuration. Default: this process's. */
	readonly env?: Environment;
	/** Default: warnings go to stderr. Secrets are hidden in its input. */
	readonly report?: Report;
	/** read: next to an owner of the store; nothing can be changed or started. */
	readonly access?: "own" | "read";
	/** The API's public address, such as https://bot.example.org. Default: only requests to this machine's loopback. */
	readonly url?: string;
	/** The API serves Keryx's page, if it was built. */
	readonly page?: boolean;
	/** Connects the configured chat platforms. Default: yes. */
	readonly chats?: boolean;
	/** Follows config.yaml in the home while Keryx runs, for a configuration loaded from there. */
	readonly followsFile?: boolean;
	/** Reports the walls at start; this probes the machine. */
	readonly tellsOfWalls?: boolean;
	/**
	 * Opens the API to others. Called by `start`, before any work; work starts when it calls `ready`. Closed by `stop`, while the store
	 * is still open. `url`: its network address, or null.
	 */
	readonly serve?: (
		api: Api,
		ready: () => Promise<void>,
	) => Promise<Served & { readonly url: string | null }>;
}

export interface Keryx {
	/** Resumes unfinished work and starts the channels. Once; after a failure, `stop` frees everything. */
	start(): Promise<void>;
	/** Lets turns end, stops the channels and closes the store. */
	stop(): Promise<void>;
	readonly gateway: Gateway;
	/** `api.fetch` answers requests of a server it is mounted in: callers need a token, unless `serve` admitted them otherwise. */
	readonly api: Api;
	/** The API for this program, as its operator. */
	readonly client: Client;
	readonly store: Store;
	/** Resolves when another gateway has taken over: stop this one, and start it again. */
	readonly lost: Promise<void>;
}
