// Connects one MCP server briefly from a command without a running Keryx: to see what it has, and that it answers.
import type { Environment, LoadedConfig } from "../../config/index.ts";
import { workspaceFinder, workspaceFolders } from "../../gateway/index.ts";
import { type Answer, toWireServer } from "../../http/index.ts";
import { systemClock } from "../../time/index.ts";
import { openMcpServers } from "../mcp.ts";
import { openWalls } from "../walls.ts";

export interface TryOptions {
	readonly home: string;
	readonly env: Environment;
	readonly config: LoadedConfig;
}

export async function tryMcpServer(
	name: string,
	{ home, env, config: { values, secrets } }: TryOptions,
): Promise<Answer<"testMcpServer">> {
	const only = { ...values, mcp: { servers: { [name]: values.mcp.servers[name] as never } } };
	const folders = workspaceFolders(home, values.workspace, env);
	const walls = openWalls({
		folders,
		env,
		workspaceOf: workspaceFinder(values, folders),
		config: () => only,
	});
	const servers = openMcpServers({
		folders,
		env,
		clock: systemClock,
		secrets,
		walls,
		config: () => only,
		log: () => undefined,
	});
	try {
		await servers.follow();
		await servers.ready();
		const [report] = servers.report();
		if (!report) throw new TypeError("a server that was added is missing");
		return toWireServer(report, Object.keys(values.profiles), (text) => text);
	} finally {
		await servers.close();
	}
}
