// Puts a Keryx together: a store, the parts that work on it, and the API. The command line and programs that embed Keryx use the same
// function. It opens no port and no socket by itself.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { KERYX } from "../called.ts";
import {
	type ConfigWatch,
	commandMachine,
	createConfigView,
	givenView,
	LiveConfig,
	machineInWords,
	unreached,
} from "../config/index.ts";
import { confirmationSettings } from "../confirmations/index.ts";
import { KeryxError } from "../errors.ts";
import { systemClock, workspaceFolders } from "../gateway/index.ts";
import { apiTransport, createApi, createClient } from "../http/index.ts";
import { Backups, logEvents, Retention, startTraces } from "../keeping/index.ts";
import { type Engine, OPERATOR, type Store, storeOn, systemIds } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import { isBehindWider } from "../tools/index.ts";
import { ChannelFollower } from "./channels.ts";
import { followConfig } from "./follow-config.ts";
import { configOf, inHome, openGiven, webhooksOf } from "./given.ts";
import {
	auditKey,
	auditWitness,
	digestOfKeys,
	mayHaveStore,
	nodeOf,
	openHome,
	operatorSecret,
	pseudonymKey,
	sharedPageSecret,
	storeUrlOf,
} from "./home.ts";
import { isFirstWithWalls, leaveHome } from "./leave-home.ts";
import { mounted } from "./mounted.ts";
import { createParts } from "./parts.ts";
import { journalOf } from "./report/journal.ts";
import { pacedLog } from "./report/paced-log.ts";
import { type Report, wordsOf } from "./report/report.ts";
import { tellMigration } from "./report/store-migration.ts";
import { hearTrouble } from "./report/store-trouble.ts";
import { warnOfAudit } from "./report/warn-of-audit.ts";
import { channelSetup } from "./setup/channel-setup.ts";
import { ConfigFile } from "./setup/config-file.ts";
import { mcpSetup } from "./setup/mcp-setup.ts";
import { modelSetup } from "./setup/model-setup.ts";
import { settingsEditor } from "./setup/settings-editor.ts";
import type { Keryx, KeryxOptions } from "./types.ts";
import { version } from "./version.ts";
import { auditWalls, tellOfWalls, tidyAfterWalls } from "./walls.ts";
import { channelsOf } from "./ways-in.ts";

/** Next to the running code, as published and as written. */
export const PAGE = fileURLToPath(new URL("../../dist/web", import.meta.url));

const NEVER = new Promise<void>(() => {});

export async function createKeryx(options: KeryxOptions): Promise<Keryx> {
	const { clock: machine = systemClock, env = process.env, access = "own" } = options;
	const home = openHome(resolve(options.home));
	const { config, isFollowed, isGiven } = configOf(options, home.path, env);
	const { values, secrets } = config;
	const live = new LiveConfig(values);
	const shown = options.report ?? ON_STDERR;
	const journal = journalOf({
		home: home.path,
		live,
		secrets,
		clock: machine,
		shown,
		isKept: access === "own",
	});
	const report = journal.report;
	const isFirst = isFirstWithWalls(home);
	const trouble = hearTrouble(report, machine.now);
	const engine = await openGiven(options.store, {
		url: storeUrlOf(home, values),
		clock: machine,
		// Without a store there is nothing to read: create it, as the first start would.
		access: access === "read" && mayHaveStore(home, values) ? "read" : "own",
		auditKey: auditKey(home, systemIds(machine).bytes),
		auditWitness: auditWitness(home),
		onTrouble: trouble.hear,
		onMigration: tellMigration(report),
		node: nodeOf(values, home.path),
	});
	const clock = sharedClock(machine, engine);
	const ids = systemIds(clock);
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
		secrets.learn(new Map([["operator.secret", secret]]));
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
			isBehindWider: async ({ conversation, wall }, standing) => {
				const { profile } = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
				return isBehindWider({
					usual: await walls.forCommand({ conversation, profile, standing }),
					running: wall,
				});
			},
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
			...(values.store.nodes === "many" && { pageSecret: sharedPageSecret(home, ids.bytes) }),
			bodyLimit: values.http.body_limit_mb * 1024 * 1024,
			attachmentLimit: values.http.attachment_limit_mb * 1024 * 1024,
			ratePerMinute: values.http.rate_per_minute,
			version: version(),
			// Loaded on first use: most never need it.
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
			await api.startCounting();
			// An earlier Keryx's leftovers are gone by now.
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
						// Changed agents take effect once they have answered.
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
			// On a file nobody can take over a living owner, except by force: it says so, and stays.
			lost: store.cluster ? trouble.lost : NEVER,
		};
	} catch (error) {
		await store.close();
		await journal.log.end();
		throw error;
	}
}

/** At most once each: a second call waits for the first. */
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
		// One that failed to start is still stopped.
		stop: () => {
			stopped ??= (started ?? Promise.resolve()).catch(() => {}).then(stop);
			return stopped;
		},
	};
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

/** Gateways on one store go by the server's clock: a deadline that one has set is the same for the others. */
function sharedClock(machine: Clock, { cluster }: Pick<Engine, "cluster">): Clock {
	return cluster ? { ...machine, now: () => cluster.now() } : machine;
}
