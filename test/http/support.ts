// A Keryx in this process behind its API, on a store in memory, with an agent that follows a script.

import { join } from "node:path";
import type { Agent } from "../../src/agents/index.ts";
import { createLocalChannel } from "../../src/channels/local/index.ts";
import { checkpointSettings, createCheckpoints } from "../../src/checkpoints/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import { confirmationSettings, createConfirmations } from "../../src/confirmations/index.ts";
import { createGateway, type Gateway, systemClock, workspaceFinder } from "../../src/gateway/index.ts";
import {
	type Api,
	type ApiHost,
	apiTransport,
	type Client,
	createApi,
	createClient,
} from "../../src/http/index.ts";
import { NO_SECRETS, openStore, type Secrets, type Store, systemIds } from "../../src/store/index.ts";
import { createScriptedAgent, type Script } from "../../src/testing/index.ts";
import { clarify, createTools, sessionSearch, type Tool } from "../../src/tools/index.ts";

export interface Served {
	readonly store: Store;
	readonly gateway: Gateway;
	readonly host: ApiHost;
	readonly api: Api;
	/** Another one on the same gateway, as after a restart of the server. */
	newApi(): Api;
	readonly client: Client;
	/** Sends as the terminal does, and waits for its end. */
	say(text: string): Promise<{ readonly id: number; readonly conversation: string }>;
	close(): Promise<void>;
}

export const ECHO: Script = { otherwise: [{ text: "you said {{input}}" }] };
export const SECRET = "the operator's secret of these tests".replaceAll(/[^a-z]/g, "-");
export const TERMINAL = {
	platform: "local",
	chat_id: "cli",
	chat_type: "dm",
	user_id: "1",
	user_name: "Ada",
};

export async function serve(
	script: Script = ECHO,
	config: object = {},
	profiles: Readonly<Record<string, Agent>> = {},
	more: (store: Store) => Promise<Partial<ApiHost>> = async () => ({}),
	/** With a home, conversations have folders in it and checkpoints of them. */
	{
		home,
		tools = [],
		webhooks = false,
		web = false,
		secrets = NO_SECRETS,
	}: {
		readonly home?: string;
		readonly tools?: readonly Tool[];
		readonly webhooks?: boolean;
		/** The page's chats are answered, too. */
		readonly web?: boolean;
		readonly secrets?: Secrets;
	} = {},
): Promise<Served> {
	const ids = systemIds(systemClock);
	const auditKey = ids.bytes(32);
	const store = await openStore({
		url: "sqlite::memory:",
		clock: systemClock,
		ids,
		secrets,
		auditKey,
	});
	const values = configSchema.parse({ session_reset: { mode: "none" }, ...config });
	const confirmations = createConfirmations({
		store,
		clock: systemClock,
		settings: () => confirmationSettings(values, {}),
	});
	const checkpoints =
		home === undefined
			? null
			: createCheckpoints({ home, store, clock: systemClock, settings: () => checkpointSettings(values) });
	const gateway = createGateway({
		checkpoints,
		...(home !== undefined && { workspaceOf: workspaceFinder(values, { home, root: join(home, "work") }) }),
		store,
		agent: createScriptedAgent({ script, clock: systemClock }),
		profiles,
		tools: createTools([sessionSearch, clarify, ...tools]),
		channels: [
			createLocalChannel("local", systemClock.now),
			createLocalChannel("api_server", systemClock.now),
			...(web ? [createLocalChannel("web", systemClock.now)] : []),
			...(webhooks ? [createLocalChannel("webhook", systemClock.now)] : []),
		],
		confirmations,
		config: values,
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
		log: (message, error) => {
			throw new Error(message, { cause: error });
		},
	});
	await gateway.start();
	const added = await more(store);
	const host: ApiHost = {
		...added,
		store,
		gateway,
		confirmations,
		checkpoints,
		workspaceOf: (conversation) => gateway.workspaceOf(conversation),
		operatorSecret: SECRET,
		ratePerMinute: added.ratePerMinute ?? 10_000_000,
		version: "0.0.0",
		agent: "scripted",
		startedAt: systemClock.now(),
		now: systemClock.now,
	};
	const newApi = () => createApi(host);
	const api = newApi();
	const client = createClient(apiTransport(api));
	return {
		store,
		gateway,
		host,
		api,
		newApi,
		client,
		say: async (text) => {
			const { id, conversation } = await client.send({
				text,
				client_message_id: ids.uuid(),
				source: TERMINAL,
			});
			const { disposition } = await client.inbound({ id, wait: 30 });
			if (disposition === null) throw new Error(`${text}: not answered in time`);
			return { id, conversation: conversation as string };
		},
		close: async () => {
			await gateway.stop();
			await confirmations.stop();
			await checkpoints?.close();
			api.close();
			await store.close();
		},
	};
}
