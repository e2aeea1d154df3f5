// Reaching Keryx: the one that runs, over its socket; where none runs, the store itself, through the same API in this process.
import { join } from "node:path";
import { type Config, keryxHome } from "../config/index.ts";
import { apiTransport, type Client, createClient, socketTransport } from "../http/index.ts";
import { type CliContext, openConfig } from "./context.ts";
import { SOCKET } from "./home.ts";
import { openHost } from "./host.ts";
import type { Output } from "./output.ts";

export interface Connection {
	readonly client: Client;
	readonly config: Config;
	readonly output: Output;
	/** A Keryx that runs answers; otherwise this process does. */
	readonly isRemote: boolean;
	close(): Promise<void>;
}

/** read: nothing is changed. change: without a gateway the store is owned for as long. run: turns must run. */
export async function connect(context: CliContext, need: "read" | "change" | "run"): Promise<Connection> {
	const { config, output } = openConfig(context);
	const remote = await running(context);
	if (remote)
		return { client: remote, config: config.values, output, isRemote: true, close: () => Promise.resolve() };
	const host = await openHost({ context, config: config.values, output, as: need });
	return {
		client: createClient(apiTransport(host.api)),
		config: config.values,
		output,
		isRemote: false,
		close: () => host.close(),
	};
}

/** A client of the Keryx that runs in this home, or null. */
export async function running(context: CliContext): Promise<Client | null> {
	const client = createClient(socketTransport(join(keryxHome(context.env), SOCKET)));
	try {
		await client.health();
		return client;
	} catch (error) {
		if (isNobodyThere(error)) return null;
		throw error;
	}
}

/** No socket, or one that its owner has left behind. */
function isNobodyThere(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return code === "ENOENT" || code === "ECONNREFUSED" || code === "ECONNRESET";
}

export async function withConnection<Result>(
	context: CliContext,
	need: "read" | "change" | "run",
	use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
	const connection = await connect(context, need);
	try {
		return await use(connection);
	} finally {
		await connection.close();
	}
}
