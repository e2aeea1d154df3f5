// A Keryx in this process: store, agent, confirmations, gateway and API, put together from the configuration.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent } from "../agents/index.ts";
import { createLocalChannel } from "../channels/local/index.ts";
import { checkpointSettings, createCheckpoints } from "../checkpoints/index.ts";
import {
	type ConfigWatch,
	channelPlatforms,
	createConfigView,
	keryxHome,
	LiveConfig,
	type LoadedConfig,
	unreached,
} from "../config/index.ts";
import { type Confirmations, confirmationSettings, createConfirmations } from "../confirmations/index.ts";
import { KeryxError } from "../errors.ts";
import {
	createGateway,
	type Gateway,
	questionDeliveries,
	snapshotName,
	systemClock,
	toDeliveries,
	workspaceFinder,
	workspaceFolders,
} from "../gateway/index.ts";
import { type Api, createApi } from "../http/index.ts";
import { createProcesses, localPlace, processSettings } from "../processes/index.ts";
import { openStore, type Store, systemIds } from "../store/index.ts";
import { clarify, createAttachTool, createTools, sessionRead, sessionSearch } from "../tools/index.ts";
import { type AgentSettings, createAgent } from "./agent.ts";
import type { CliContext } from "./context.ts";
import { followConfig } from "./follow-config.ts";
import { auditKey, auditWitness, type Home, openHome, operatorSecret, pseudonymKey } from "./home.ts";
import type { Output } from "./io/output.ts";
import { pacedLog } from "./io/paced-log.ts";
import { isFirstWithWalls, leaveHome } from "./leave-home.ts";
import { type Listening, listen, withoutAddress } from "./listen.ts";
import { hearTrouble } from "./store-trouble.ts";
import { createTerminal } from "./terminal.ts";
import { version } from "./version.ts";
import { auditWalls, openWalls, tellOfWalls, tidyAfterWalls } from "./walls.ts";
import { warnOfAudit } from "./warn-of-audit.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Beside the code that runs, as it is published and as it is written. */
const PAGE = fileURLToPath(new URL("../../dist/web", import.meta.url));

export interface HostOptions {
	readonly context: CliContext;
	readonly config: LoadedConfig;
	readonly output: Output;
	/** read: nothing can be changed. change: owns the store, no turn runs. run: a gateway that answers, and listens on its socket. */
	readonly as: "read" | "change" | "run";
	/** With run: listens on its ports, too. One that runs for the length of a command does not. */
	readonly onPorts?: boolean;
}

export interface Host {
	readonly home: Home;
	readonly api: Api;
	/** Where it is reached over the network, or null. */
	readonly url: string | null;
	/** Whether a page was built, and is served there. */
	readonly hasPage: boolean;
	close(): Promise<void>;
}

export async function openHost({ context, config, output, as, onPorts = false }: HostOptions): Promise<Host> {
	const home = openHome(keryxHome(context.env));
	const ids = systemIds(systemClock);
	const isFirst = isFirstWithWalls(home);
	// Where there is no store yet there is nothing to read: it is made, as the first start would.
	const access = as === "read" && existsSync(home.storePath) ? "read" : "own";
	const trouble = hearTrouble(output, context.now);
	const store = await openStore({
		url: home.storeUrl,
		clock: systemClock,
		ids,
		secrets: config.secrets,
		access,
		auditKey: auditKey(home, ids.bytes),
		onTrouble: trouble.hear,
		auditWitness: auditWitness(home),
	});
	trouble.record(store);
	try {
		const { values, secrets } = config;
		const live = new LiveConfig(values);
		let listening: Listening | null = null;
		let following: ConfigWatch | null = null;
		const paced = pacedLog((text) => output.warn(text), systemClock);
		const log = (message: string, error: unknown) =>
			paced.write(error === undefined ? message : `${message}: ${wordsOf(error)}`);
		const platforms = channelPlatforms(values);
		const webhooks = as === "run" ? webhookRoutes(values, context.env) : [];
		const folders = workspaceFolders(home.path, values.workspace, context.env);
		const workspaceOf = workspaceFinder(values, folders);
		const walls = openWalls({
			folders,
			env: context.env,
			workspaceOf,
			config: () => live.values,
		});
		const createOne = (settings: AgentSettings) => createAgent(settings, context.env, store, walls);
		const { root } = values.workspace;
		const ofProfile = (
			profile: string,
			{ agent, workspace }: Pick<AgentSettings, "agent" | "workspace">,
		) => ({
			agent,
			workspace: { ...workspace, root },
			profile,
		});
		const agent = createOne(values);
		const profiles = Object.fromEntries(
			Object.entries(values.profiles).map(([name, own]) => [name, createOne(ofProfile(name, own))]),
		);
		const confirmations = createConfirmations({
			store,
			clock: systemClock,
			settings: () => confirmationSettings(live.values, context.env),
			render: (question, to) =>
				questionDeliveries(question, { ...to, kind: "notice", class: "question" }, gateway.outlet),
			reaches: ({ platform, account }) => account === "" && platforms.some((one) => one === platform),
			log,
		});
		const processes = createProcesses({
			store,
			place: localPlace(home.path),
			clock: systemClock,
			ids,
			settings: () => processSettings(live.values),
			render: (text, to) => toDeliveries(text, { ...to, kind: "notice", class: "status" }, gateway.outlet),
			log,
		});
		const checkpoints = values.checkpoints.enabled
			? createCheckpoints({
					home: home.path,
					nameOf: (folder) => snapshotName(folder, folders),
					store,
					clock: systemClock,
					settings: () => checkpointSettings(live.values),
					log,
				})
			: null;
		const gateway = createGateway({
			store,
			agent,
			profiles,
			tools: createTools([
				sessionSearch,
				sessionRead,
				clarify,
				createAttachTool({
					workspaceOf: (place) => workspaceOf(place).folder,
					limit: () => live.values.http.attachment_limit_mb * 1024 * 1024,
				}),
				...createTerminal({
					processes,
					env: context.env,
					workspaceOf,
					walls,
					secrets,
					config: () => live.values,
				}),
			]),
			confirmations,
			processes,
			checkpoints,
			workspaceOf,
			walls,
			channels: platforms.map((platform) => createLocalChannel(platform, context.now)),
			config: live,
			clock: systemClock,
			pseudonymKey: pseudonymKey(home, ids.bytes),
			log,
		});
		const api = createApi({
			store,
			storeTrouble: trouble.current,
			gateway: as === "read" ? null : gateway,
			confirmations,
			checkpoints,
			workspaceOf: (conversation) => gateway.workspaceOf(conversation),
			processes,
			...(onPorts && { page: PAGE }),
			config: createConfigView({
				home: home.path,
				env: context.env,
				atStart: config,
				...(as === "run" && { current: () => following?.current() ?? null }),
			}),
			url: () => listening?.url ?? null,
			webhooks,
			timeZone: () => live.values.session_reset.timezone,
			profiles: Object.keys(values.profiles),
			operatorSecret: operatorSecret(home, ids.bytes),
			bodyLimit: values.http.body_limit_mb * 1024 * 1024,
			attachmentLimit: values.http.attachment_limit_mb * 1024 * 1024,
			ratePerMinute: values.http.rate_per_minute,
			version: version(),
			walls: () => walls.inWords(),
			agent: agent.name,
			startedAt: context.now(),
			now: context.now,
		});
		listening =
			as === "run"
				? await listen({
						api,
						socketPath: home.socketPath,
						ports: onPorts ? { ...values.http, compatPort: values.confirmations.compat_port } : null,
						ready: async () => {
							await leaveHome(folders, store, output, { isFirst: isFirst && onPorts });
							await tidyAfterWalls(home.path, { store, now: context.now, output });
							await begin(gateway, confirmations);
						},
						missing: (address) => output.note(withoutAddress(address)),
					})
				: null;
		const dated = listening ? await store.takeGrantsDated() : 0;
		if (dated > 0)
			output.warn(
				`${dated} standing yes${dated === 1 ? "" : "es"} from before this version: ${dated === 1 ? "it ends" : "each ends"} within 30 days now. \`keryx confirm grants\` lists them.`,
			);
		if (listening) {
			await warnOfAudit(store, output);
			await auditWalls(values, store, output);
		}
		if (onPorts) await tellOfWalls(walls, output);
		if (listening) {
			for (const problem of confirmationSettings(values, context.env).problems)
				output.warn(`confirmations.notify: ${problem}`);
			for (const problem of unreached(values)) output.warn(problem);
		}
		if (listening)
			following = followConfig({
				home: home.path,
				env: context.env,
				atStart: config,
				gateway,
				secrets,
				output,
				changed: async (now, keys) => {
					if (keys.includes("walls.mode")) await auditWalls(now, store, output);
				},
			});
		return {
			home,
			api,
			url: listening?.url ?? null,
			hasPage: existsSync(join(PAGE, "index.html")),
			close: async () => {
				following?.close();
				if (listening) await end(gateway, listening);
				await confirmations.stop();
				await processes.close();
				await checkpoints?.close();
				await closeAgents([agent, ...Object.values(profiles)]);
				await closeAll(api, store);
				paced.end();
			},
		};
	} catch (error) {
		await store.close();
		throw error;
	}
}

async function begin(gateway: Gateway, confirmations: Confirmations): Promise<void> {
	await gateway.start();
	confirmations.start();
}

async function end(gateway: Gateway, listening: Listening): Promise<void> {
	await gateway.stop();
	await listening.close();
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
