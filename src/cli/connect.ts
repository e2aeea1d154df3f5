// Reaches Keryx: the running one over its socket; otherwise the store itself, through the same API in this process.

import { homeAt, readOperatorSecret } from "../app/home.ts";
import { type Config, keryxHome } from "../config/index.ts";
import {
	apiTransport,
	type Client,
	createClient,
	socketTransport,
	type TransportOptions,
} from "../http/client/index.ts";
import { type CliContext, openConfig } from "./context.ts";
import { explained, insideKeryx } from "./inside.ts";
import type { Output } from "./io/output.ts";
import { type HomePaths, isNobodyThere, patienceWith } from "./patience.ts";

export interface Connection {
	readonly client: Client;
	readonly config: Config;
	readonly output: Output;
	/** A running Keryx answers; otherwise this process does. */
	readonly isRemote: boolean;
	close(): Promise<void>;
}

/** read: nothing is changed. change: without a gateway the store is owned meanwhile. run: turns must run. */
export async function connect(context: CliContext, need: "read" | "change" | "run"): Promise<Connection> {
	const { config, output } = openConfig(context);
	const remote = await running(context);
	if (remote)
		return { client: remote, config: config.values, output, isRemote: true, close: () => Promise.resolve() };
	// Most commands find a running Keryx: only the others assemble one.
	const { openHost } = await import("../app/host.ts");
	const host = await openHost({ context, config, output, as: need });
	return {
		client: createClient(apiTransport(host.api, asOperator(context))),
		config: config.values,
		output,
		isRemote: false,
		close: () => host.close(),
	};
}

/** A client of the Keryx in this home, or of another server on such a socket; or null. */
export async function running(
	context: CliContext,
	home: HomePaths = homeAt(keryxHome(context.env)),
): Promise<Client | null> {
	const patience = patienceWith(context, home);
	const client = createClient(socketTransport(home.socketPath, { ...asOperator(context), patience }));
	try {
		await client.health();
		return client;
	} catch (error) {
		if (isNobodyThere(error)) return null;
		throw error;
	}
}

/**
 * This command's user can read the operator's secret, so is the operator; so is every other program of that user. But it is not sent from
 * processes that Keryx started.
 */
export function asOperator(context: CliContext): TransportOptions {
	if (insideKeryx(context) !== null) return { via: "cli" };
	return { bearer: readOperatorSecret(homeAt(keryxHome(context.env))), via: "cli" };
}

export async function withConnection<Result>(
	context: CliContext,
	need: "read" | "change" | "run",
	use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
	const connection = await connect(context, need);
	try {
		return await use(connection);
	} catch (error) {
		throw explained(context, error);
	} finally {
		await connection.close();
	}
}
