// Adds and removes an MCP server: writes its entry of config.yaml. For `keryx mcp` and the page; a running Keryx follows the file, and
// the server's state shows the result.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KERYX } from "../../called.ts";
import {
	checkConfig,
	type Environment,
	editConfig,
	mcpServerNameSchema,
	writeConfig,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { McpSetup } from "../../http/index.ts";
import { loginFile } from "../mcp.ts";
import type { ConfigChanges, ConfigFile } from "./config-file.ts";

export interface McpSetupOptions {
	readonly home: string;
	readonly env: Environment;
	/** Records who changed it; absent: written at once, by the command's user. */
	readonly writer?: ConfigFile;
}

export function mcpSetup({ home, env, writer }: McpSetupOptions): McpSetup {
	const file = join(home, "config.yaml");
	const read = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
	const known = () => checkConfig({ home, env, text: read() }).config?.values.mcp.servers ?? {};
	const write = async (changes: ConfigChanges, by: Parameters<McpSetup["remove"]>[1]) => {
		if (writer) await writer.change({ changes: () => changes, by });
		else writeConfig(file, editConfig(read(), changes));
	};
	return {
		add: async (name, settings, by) => {
			const named = mcpServerNameSchema.safeParse(name);
			if (!named.success)
				throw new KeryxError("argument.invalid", `the name ${named.error.issues[0]?.message}`, {
					field: "name",
				});
			if (Object.hasOwn(known(), name))
				throw new KeryxError("argument.invalid", `mcp.servers.${name} already exists`, {
					field: "name",
					hint: "choose another name, or remove that one first",
				});
			const changes = { [`mcp.servers.${name}`]: settings };
			const [problem] = checkConfig({ home, env, text: editConfig(read(), changes) }).problems;
			if (problem)
				throw new KeryxError("config.invalid", problem.message, {
					...(problem.key && { field: problem.key }),
				});
			await write(changes, by);
		},
		remove: async (name, by) => {
			if (!Object.hasOwn(known(), name))
				throw new KeryxError("store.not_found", `there is no mcp.servers.${name} in config.yaml`, {
					field: "name",
					hint: `\`${KERYX} mcp list\` shows their names`,
				});
			await write({ [`mcp.servers.${name}`]: undefined }, by);
			rmSync(join(home, loginFile(name)), { force: true });
		},
	};
}
