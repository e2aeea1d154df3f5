// Puts a Keryx together: a store, the parts that work on it, and the API. The command line and programs that embed Keryx use the same
// function. It opens no port and no socket by itself.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent } from "../agents/index.ts";
import { KERYX } from "../called.ts";
import {
	type Config,
	type ConfigInput,
	type ConfigWatch,
	commandMachine,
	configFrom,
	createConfigView,
	type Environment,
	givenView,
	LiveConfig,
	type LoadedConfig,
	loadConfig,
	machineInWords,
	unreached,
} from "../config/index.ts";
import { confirmationSettings } from "../confirmations/index.ts";
import type { PlatformTraits } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import {
	type Channel,
	type ChatCommand,
	type Clock,
	type Gateway,
	systemClock,
	workspaceFolders,
} from "../gateway/index.ts";
import {
	type Api,
	apiTransport,
	type Client,
	createApi,
	createClient,
	type Served,
	type WebhookRoute,
} from "../http/index.ts";
import { Backups, logEvents, Retention, startTraces } from "../keeping/index.ts";
import { type Engine, openEngine, type Store, storeOn, systemIds } from "../store/index.ts";
import type { Tool } from "../tools/index.ts";
import { ChannelFollower } from "./channels.ts";
import { followConfig } from "./follow-config.ts";
import {
	auditKey,
	auditWitness,
	digestOfKeys,
	mayHaveStore,
	openHome,
	operatorSecret,
	pseudonymKey,
	storeUrlOf,
} from "./home.ts";
import { journalOf } from "./journal.ts";
import { isFirstWithWalls, leaveHome } from "./leave-home.ts";
import { mounted } from "./mounted.ts";
import { pacedLog } from "./paced-log.ts";
import { createParts } from "./parts.ts";
import { type Report, wordsOf } from "./report.ts";
import { channelSetup } from "./setup/channel-setup.ts";
import { ConfigFile } from "./setup/config-file.ts";
import { mcpSetup } from "./setup/mcp-setup.ts";
import { modelSetup } from "./setup/model-setup.ts";
import { settingsEditor } from "./setup/settings-editor.ts";
import { hearTrouble } from "./store-trouble.ts";
import { version } from "./version.ts";
import { auditWalls, tellOfWalls, tidyAfterWalls } from "./walls.ts";
import { warnOfAudit } from "./warn-of-audit.ts";
import { channelsOf } from "./ways-in.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Beside the code that runs, as it is published and as it is written. */
export const PAGE = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** What a store's engine is opened with. */
export type EngineOptions = Parameters<typeof openEngine>[0];

export interface KeryxOptions {
	/** The folder that everything is kept in. Made if it is not there, for this user alone. */
	readonly home: string;
	/** An object like config.yaml, or one that was loaded. Left out: config.yaml in the home, which is followed while Keryx runs. */
	readonly config?: ConfigInput | LoadedConfig;
	/** Ways in and out, beside Keryx's own. Started and stopped with Keryx. */
	readonly channels?: readonly Channel[];
	/** What the agent may use, beside Keryx's own. `tools.enabled` and its like name both. */
	readonly tools?: readonly Tool[];
	/** Chat commands, beside Keryx's own. */
	readonly commands?: readonly ChatCommand[];
	/** What is known of platforms: how long a message may be, in which markup. A channel that brings its own traits needs none. */
	readonly platforms?: readonly PlatformTraits[];
	/** What answers, in place of the configured one. Whoever made it closes it. */
	readonly agent?: Agent;
	/** The same by profile. */
	readonly profiles?: Readonly<Record<string, Agent>>;
	/** A URL such as sqlite::memory:, or what opens an engine. Left out: `store.url`, or else keryx.db in the home. */
	readonly store?: string | ((options: EngineOptions) => Promise<Engine>);
	readonly clock?: Clock;
	/** Where variables that the configuration names are read. Left out: this process's. */
	readonly env?: Environment;
	/** Left out: warnings go to stderr. Secrets are hidden in what it is given. */
	readonly report?: Report;
	/** read: beside an owner of the store; nothing can be changed, nor started. */
	readonly access?: "own" | "read";
	/** The address that the API is mounted at, such as https://bot.example.org. Left out: requests to this machine's loopback alone. */
	readonly url?: string;
	/** The API serves Keryx's page, where it was built. */
	readonly page?: boolean;
	/** Connects the chat platforms that the configuration names. Left out: yes. */
	readonly chats?: boolean;
	/** Follows config.yaml in the home while Keryx runs: for a configuration that was loaded from there. */
	readonly followsFile?: boolean;
	/** Says at the start which walls programs run behind; this machine is probed for that. */
	readonly tellsOfWalls?: boolean;
	/**
	 * Opens the API to others. Called by `start`, before any work; work begins when it calls `ready`. Closed by `stop`, while the store is
	 * still there to answer with. `url`: where it is reached over the network, or null.
	 */
	readonly serve?: (
		api: Api,
		ready: () => Promise<void>,
	) => Promise<Served & { readonly url: string | null }>;
}

export interface Keryx {
	/** Takes up unfinished work and starts the channels. Once; after it has failed, `stop` frees what is held. */
	start(): Promise<void>;
	/** Lets turns end, stops the channels and closes the store. */
	stop(): Promise<void>;
	readonly gateway: Gateway;
	/** `api.fetch` answers requests of a server that it is mounted in: callers need a token, unless `serve` let them in otherwise. */
	readonly api: Api;
	/** The API for this program, as its operator. */
	readonly client: Client;
	readonly store: Store;
	/** Resolves when another gateway has taken over what this one did: all that is left is to stop it, and to start it anew. */
	readonly lost: Promise<void>;
}

const NEVER = new Promise<void>(() => {});

export async function createKeryx(options: KeryxOptions): Promise<Keryx> {
	const { clock = systemClock, env = process.env, access = "own" } = options;
	const home = openHome(resolve(options.home));
	const { config, isFollowed, isGiven } = configOf(options, home.path, env);
	const { values, secrets } = config;
	const live = new LiveConfig(values);
	const shown = options.report ?? ON_STDERR;
	const journal = journalOf({ home: home.path, live, secrets, clock, shown, isKept: access === "own" });
	const report = journal.report;
	const ids = systemIds(clock);
	const isFirst = isFirstWithWalls(home);
	const trouble = hearTrouble(report, clock.now);
	const engine = await openGiven(options.store, {
		url: storeUrlOf(home, values),
		clock,
		// Where there is no store yet there is nothing to read: it is made, as the first start would.
		access: access === "read" && mayHaveStore(home, values) ? "read" : "own",
		auditKey: auditKey(home, ids.bytes),
		auditWitness: auditWitness(home),
		onTrouble: trouble.hear,
		nodes: values.store.nodes,
	});
	const store = storeOn(engine, { clock, ids, secrets });
	trouble.record(store);
	try {
		const paced = pacedLog((text) => report.warn(text), clock);
		let logged: ReturnType<typeof logEvents> | null = null;
		let traced: ReturnType<typeof startTraces> | null = null;
		const log = (message: string, error: unknown) =>
			paced.write(error === undefined ? message : `${message}: ${wordsOf(error)}`);
		const folders = workspaceFolders(home.path, isGiven ? inHome(values, home.path) : values.workspace, env);
		const given = options.channels ?? [];
		const parts = createParts({
			home: home.path,
			folders,
			store,
			config: live,
			env,
			clock,
			ids,
			channels: channelsOf(values, given, clock.now),
			tools: options.tools ?? [],
			commands: options.commands ?? [],
			platforms: options.platforms ?? [],
			agent: options.agent,
			profiles: options.profiles ?? {},
			pseudonymKey: pseudonymKey(home, ids.bytes),
			log,
		});
		const { gateway, confirmations, checkpoints, processes, schedules, walls, agents, models, mcp } = parts;
		const setUp = () => ({
			model: agents.own.name !== "offline",
			chat: Object.keys(live.values.channels).length > 0,
		});
		const configFile = new ConfigFile({ home: home.path, env, secrets, store });
		const chats =
			options.chats === false
				? null
				: new ChannelFollower({
						home: home.path,
						env,
						secrets,
						clock,
						log,
						connect: (channel) => gateway.connect(channel),
						disconnect: (name) => gateway.disconnect(name),
						failed: (name, error) => report.warn(`channels.${name} is not connected: ${wordsOf(error)}`),
					});
		const backups = new Backups({
			home: home.path,
			storePath: home.storePath,
			store,
			config: () => live.values,
			env,
			clock,
			version: version(),
			warn: (text) => report.warn(text),
		});
		const archives = {
			folder: join(home.path, "archives"),
			retention: new Retention({
				store,
				folder: join(home.path, "archives"),
				config: () => live.values,
				clock,
				warn: (text) => report.warn(text),
			}),
		};
		const secret = operatorSecret(home, ids.bytes);
		const webhooks = webhooksOf(values, env);
		let served: Awaited<ReturnType<NonNullable<KeryxOptions["serve"]>>> | null = null;
		let following: ConfigWatch | null = null;
		const api = createApi({
			store,
			storeTrouble: trouble.current,
			gateway: access === "read" ? null : gateway,
			confirmations,
			checkpoints,
			workspaceOf: (conversation) => gateway.workspaceOf(conversation),
			processes,
			schedules,
			...(options.page && { page: PAGE }),
			config: isGiven
				? givenView(config, env)
				: createConfigView({
						home: home.path,
						env,
						atStart: config,
						...(isFollowed && { current: () => following?.current() ?? null }),
					}),
			url: () => values.http.public_url ?? served?.url ?? options.url ?? null,
			publicUrl: values.http.public_url ?? null,
			trustedProxies: values.http.trusted_proxies,
			webhooks: webhooks.routes,
			...(isFollowed && {
				channelSetup: channelSetup({ home: home.path, env, secrets, writer: configFile }),
				mcpSetup: mcpSetup({ home: home.path, env, writer: configFile }),
				modelSetup: modelSetup({ home: home.path, env, secrets, writer: configFile }),
				settings: settingsEditor({ home: home.path, env, file: configFile, store }),
				setup: setUp,
			}),
			backups,
			archives,
			answering: () =>
				agents.allAnswering().map(({ profile, agent, settings }) => ({
					profile,
					agent,
					provider: settings?.provider ?? null,
					model: settings?.kind === "ai-sdk" ? (settings.model ?? null) : null,
					runsOn: machineInWords(commandMachine(live.values, profile)),
				})),
			modelChoices: (profile) => models.of(profile),
			mcpServers: mcp,
			timeZone: () => live.values.session_reset.timezone,
			get profiles() {
				return Object.keys(live.values.profiles);
			},
			operatorSecret: secret,
			bodyLimit: values.http.body_limit_mb * 1024 * 1024,
			attachmentLimit: values.http.attachment_limit_mb * 1024 * 1024,
			ratePerMinute: values.http.rate_per_minute,
			version: version(),
			// Loaded when it is first asked for: most never are.
			mcp: {
				fetch: async (request, caller) =>
					(await import("../mcp/index.ts")).mcpEndpoint(version()).fetch(request, caller),
			},
			walls: () => walls.inWords(),
			get agent() {
				return agents.own.name;
			},
			startedAt: clock.now(),
			now: clock.now,
			monotonic: clock.monotonic,
		});

		let isBegun = false;
		const begin = async () => {
			await leaveHome(folders, store, report, { isFirst: isFirst && options.tellsOfWalls === true });
			await tidyAfterWalls(home.path, { store, now: clock.now, output: report });
			isBegun = true;
			logged = logEvents(store, journal.log, clock);
			traced = startTraces({
				store,
				clock,
				endpoint: () => live.values.traces.endpoint ?? null,
				version: version(),
				log: journal.log,
			});
			journal.log.write("info", "gateway", "started", { version: version(), pid: process.pid });
			const { model, chat } = setUp();
			if (isFollowed && !model && !chat) await store.beginFirstRun();
			// What an earlier Keryx left behind is gone by now.
			await mcp.follow();
			await gateway.start();
			confirmations.start();
			await chats?.follow(live.values);
			backups.start();
			archives.retention.start();
		};
		const start = async () => {
			if (access === "read")
				throw new KeryxError("argument.invalid", "a read-only Keryx cannot be started", {
					field: "access",
				});
			if (webhooks.problem) throw webhooks.problem;
			if (store.cluster) await store.agreeOnKeys({ digest: digestOfKeys(home, ids.bytes) });
			if (options.serve) served = await options.serve(api, begin);
			else await begin();
			await warnOfGrants(store, report);
			await warnOfAudit(store, report);
			await auditWalls(values, store, report);
			if (options.tellsOfWalls) await tellOfWalls(walls, report);
			for (const problem of confirmationSettings(values, env).problems)
				report.warn(`confirmations.notify: ${problem}`);
			for (const problem of unreached(values, given)) report.warn(problem);
			if (isFollowed)
				following = followConfig({
					home: home.path,
					env,
					atStart: config,
					gateway: {
						refuseConfig: (problem) => gateway.refuseConfig(problem),
						holdConfig: (sections) => gateway.holdConfig(sections),
						// What was changed of agents holds once they have answered.
						reconfigure: (next) => gateway.reconfigure(agents.inForce(next)),
					},
					secrets,
					output: report,
					given,
					changed: async (now, keys) => {
						if (keys.includes("walls.mode")) await auditWalls(now, store, report);
						if (keys.some((key) => key.startsWith("mcp."))) await mcp.follow();
						backups.look();
						archives.retention.look();
						await chats?.follow(now);
						await agents.follow(now, {
							tell: (text) => report.warn(text),
							taken: async () => void (await gateway.reconfigure(agents.inForce(now))),
						});
					},
				});
		};
		const stop = async () => {
			following?.close();
			await Promise.all([backups.stop(), archives.retention.stop()]);
			if (isBegun) await gateway.stop();
			await served?.close();
			await parts.close();
			api.close();
			await Promise.all([logged?.end(), traced?.end()]);
			await store.close();
			paced.end();
			if (isBegun) journal.log.write("info", "gateway", "stopped");
			await journal.log.end();
		};
		return {
			...once(start, stop),
			gateway,
			api: mounted(api, options.url),
			client: createClient(apiTransport(api, { bearer: secret })),
			store,
			// On a file nobody can take over while this one lives, but by force: it says so, and stays.
			lost: store.cluster ? trouble.lost : NEVER,
		};
	} catch (error) {
		await store.close();
		await journal.log.end();
		throw error;
	}
}

/** Each at most once, however often it is asked for: the second call waits for the first. */
function once(start: () => Promise<void>, stop: () => Promise<void>): Pick<Keryx, "start" | "stop"> {
	let started: Promise<void> | null = null;
	let stopped: Promise<void> | null = null;
	return {
		start: () => {
			started ??= stopped
				? Promise.reject(new KeryxError("gateway.stopped", "this Keryx was stopped: create another one"))
				: start();
			return started;
		},
		// One that could not start is stopped all the same.
		stop: () => {
			stopped ??= (started ?? Promise.resolve()).catch(() => {}).then(stop);
			return stopped;
		},
	};
}

function configOf(
	{ config, followsFile }: Pick<KeryxOptions, "config" | "followsFile">,
	home: string,
	env: Environment,
): { readonly config: LoadedConfig; readonly isFollowed: boolean; readonly isGiven: boolean } {
	if (config === undefined)
		return { config: loadConfig({ home, env }), isFollowed: followsFile ?? true, isGiven: false };
	if (isLoaded(config)) return { config, isFollowed: followsFile ?? false, isGiven: false };
	return { config: configFrom(config, env), isFollowed: false, isGiven: true };
}

function isLoaded(config: ConfigInput | LoadedConfig): config is LoadedConfig {
	return "values" in config && "entries" in config;
}

/** A program that gives its own configuration keeps the agent's files in the home, too, unless it names another folder. */
function inHome({ workspace }: Config, home: string): Config["workspace"] {
	return { ...workspace, root: workspace.root ?? join(home, FILES) };
}

const FILES = "files";

function openGiven(given: KeryxOptions["store"], options: EngineOptions): Promise<Engine> {
	if (given === undefined) return openEngine(options);
	if (typeof given !== "string") return given(options);
	// What is gone with the process has no audit that could have been altered meanwhile.
	const { auditWitness: _kept, ...rest } = options;
	return openEngine({ ...(given === IN_MEMORY ? rest : options), url: given });
}

const IN_MEMORY = "sqlite::memory:";

/** A route without a secret keeps Keryx from starting, but not from being looked at. */
function webhooksOf(
	values: Config,
	env: Environment,
): { readonly routes: readonly WebhookRoute[]; readonly problem: unknown } {
	try {
		return { routes: webhookRoutes(values, env), problem: null };
	} catch (problem) {
		return { routes: [], problem };
	}
}

async function warnOfGrants(store: Store, report: Report): Promise<void> {
	const dated = await store.takeGrantsDated();
	if (dated === 0) return;
	report.warn(
		`${dated} grant${dated === 1 ? "" : "s"} from before this version now ${dated === 1 ? "ends" : "end"} within 30 days. \`${KERYX} confirm grants\` lists them.`,
	);
}

const ON_STDERR: Report = {
	warn: (text) => void process.stderr.write(`keryx: ${text}\n`),
	note: () => {},
};
