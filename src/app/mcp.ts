// The MCP servers of this Keryx: their folders, environment, and stored logins.
import { existsSync, mkdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { AcpServer } from "../agents/index.ts";
import { type Config, type Environment, readSecretFile, writeSecretFile } from "../config/index.ts";
import type { ChatCommand, Walls, WorkspaceFolders } from "../gateway/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Clock } from "../time/index.ts";
import { createMcpServers, type McpCaller, type McpServers, type McpServersOptions } from "../tools/index.ts";
import { version } from "./version.ts";

export interface McpParts {
	readonly folders: WorkspaceFolders;
	readonly env: Environment;
	readonly clock: Clock;
	readonly secrets: Pick<Secrets, "hide" | "forOthers" | "isIn" | "changes" | "learn" | "stream">;
	readonly walls: Pick<Walls, "forProgram">;
	/** Read per call: it may change. */
	config(): Config;
	readonly log: (message: string, error: unknown) => void;
}

/** When the gateway gives up a tool call, the server is cancelled a moment before. */
const EARLIER_MS = 1000;

export function openMcpServers(parts: McpParts): McpServers {
	const { folders, env, walls, config } = parts;
	const folderOf = (server: string) => {
		const folder = join(folders.root, "mcp", server);
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		return folder;
	};
	return createMcpServers({
		...parts,
		...loginFiles(folders.home),
		version: version(),
		variable: (name) => env[name],
		folderOf,
		// The operator chose it, and it serves everyone the configuration allows.
		wallOf: (server, { wall: kind, env: pass }) =>
			walls.forProgram(
				{ conversation: `mcp ${server}`, profile: "", standing: "owner" },
				{ kind, pass, folder: folderOf(server) },
			),
		settings: () => config().mcp.servers,
		callMs: () => Math.max(EARLIER_MS, config().turn.tool_seconds * 1000 - EARLIER_MS),
	});
}

/** In Keryx's home. Server names are the operator's, of a closed alphabet: safe in file names. */
export function loginFile(server: string): string {
	return join("keys", `mcp-${server}.json`);
}

export function loginFiles(home: string): Pick<McpServersOptions, "readLogin" | "writeLogin"> {
	return {
		readLogin: (server) => {
			const found = readSecretFile(loginFile(server), home);
			if (found.kind === "exposed")
				throw new Error(`others can read ${found.path}: run \`chmod 600 ${found.path}\``);
			return found.kind === "read" ? found.value : null;
		},
		writeLogin: (server, text) => writeSecretFile(join(home, loginFile(server)), text),
	};
}

/** As passed to an agent program, which starts server programs itself, behind its own wall. */
export function acpServers(
	servers: McpServers,
	env: Environment,
): (caller: McpCaller) => readonly AcpServer[] {
	const pair = (name: string, variable: string) => ({ name, value: env[variable] ?? "" });
	return (caller) =>
		servers
			.passedOn(caller)
			.map(({ name, settings: { command, args, url, env: pass, headers_env } }): AcpServer => {
				if (command !== undefined)
					return {
						name,
						command: onPath(command, env),
						args: [...args],
						env: pass.map((one) => pair(one, one)),
					};
				const headers = Object.entries(headers_env).map(([header, variable]) => pair(header, variable));
				return { type: "http", name, url: url ?? "", headers };
			});
}

/** The protocol needs an absolute path. One that is not found is passed on unchanged: the program reports it. */
function onPath(command: string, { PATH = "" }: Environment): string {
	if (isAbsolute(command)) return command;
	const found = PATH.split(":")
		.map((folder) => join(folder, command))
		.find((path) => existsSync(path));
	return found ?? command;
}

/** `/mcp`: the servers the caller may use, and their prompts. */
export function mcpCommand(servers: McpServers): ChatCommand {
	return {
		name: "mcp",
		about: "MCP servers and their prompts",
		roles: ["owner", "member", "guest"],
		answer: ({ role, profile }) => servers.inWords({ profile, standing: role }),
	};
}
