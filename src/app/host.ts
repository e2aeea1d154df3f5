// A Keryx for the command line: in the home that the environment names, on its socket and its ports.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Environment, keryxHome, type LoadedConfig } from "../config/index.ts";
import type { Api } from "../http/index.ts";
import type { Clock } from "../time/index.ts";
import { type Home, openHome } from "./home.ts";
import { createKeryx, PAGE } from "./keryx.ts";
import { type Listening, listen, withoutAddress } from "./listen.ts";
import type { Report } from "./report/report.ts";

export interface HostOptions {
	readonly context: { readonly env: Environment };
	readonly config: LoadedConfig;
	readonly output: Report;
	/** read: nothing can be changed. change: owns the store, no turn runs. run: a gateway that answers, and listens on its socket. */
	readonly as: "read" | "change" | "run";
	/** With run: also listens on its ports. One that runs only for a command does not. */
	readonly onPorts?: boolean;
	/** Left out: the machine's. */
	readonly clock?: Clock;
	/** With run: awaited once the store is open and the ports are taken, before anyone is admitted or anything starts. */
	readonly hold?: (() => Promise<void>) | null;
}

export interface Host {
	readonly home: Home;
	/** A caller within the process is as good as one on the socket. */
	readonly api: Api;
	/** Where people reach it over the network, or null. */
	readonly url: string | null;
	/** Where it listens itself: another address if there is a proxy in front. */
	readonly localUrl: string | null;
	/** Whether a page was built, and is served there. */
	readonly hasPage: boolean;
	/** Resolves when another gateway has taken over. */
	readonly lost: Promise<void>;
	close(): Promise<void>;
}

export async function openHost({
	context,
	config,
	output,
	as,
	onPorts = false,
	hold = null,
	clock,
}: HostOptions): Promise<Host> {
	const home = openHome(keryxHome(context.env));
	const { http, confirmations } = config.values;
	let listening: Listening | null = null;
	const keryx = await createKeryx({
		home: home.path,
		env: context.env,
		config,
		report: output,
		...(clock && { clock }),
		access: as === "read" ? "read" : "own",
		page: onPorts,
		// One that runs only for a command accepts no messages from chats.
		chats: onPorts,
		followsFile: as === "run",
		tellsOfWalls: onPorts,
		serve: async (api, ready) => {
			const held = Promise.withResolvers<void>();
			listening = await listen({
				api: hold === null ? api : waiting(api, held.promise),
				socketPath: home.socketPath,
				ports: onPorts ? { ...http, compatPort: confirmations.compat_port } : null,
				ready: async () => {
					await hold?.();
					held.resolve();
					await ready();
				},
				missing: (address) => output.note(withoutAddress(address)),
			});
			return listening;
		},
	});
	if (as === "run")
		try {
			await keryx.start();
		} catch (error) {
			await keryx.stop();
			throw error;
		}
	return {
		home,
		api: {
			...keryx.api,
			fetch: (request, entrance = SOCKET, ...rest) => keryx.api.fetch(request, entrance, ...rest),
		},
		localUrl: addressOf(listening),
		url: addressOf(listening) && (http.public_url ?? addressOf(listening)),
		hasPage: existsSync(join(PAGE, "index.html")),
		lost: keryx.lost,
		close: () => keryx.stop(),
	};
}

/** Requests wait until then. */
function waiting(api: Api, until: Promise<void>): Api {
	return {
		...api,
		fetch: async (...request) => {
			await until;
			return await api.fetch(...request);
		},
	};
}

const SOCKET = { kind: "socket" } as const;

function addressOf(listening: Listening | null): string | null {
	return listening?.url ?? null;
}
