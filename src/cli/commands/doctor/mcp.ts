// The running Keryx's MCP servers: their state, and who sees their tools.
import type { Client } from "../../../http/client/index.ts";
import { texts } from "../../texts.ts";
import { used, visible } from "../mcp/servers.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

export async function lookAtMcpServers(client: Client): Promise<Finding[]> {
	const { servers } = await client.mcpServers();
	return servers.map((server) => {
		const { name, state, why, roles, profiles } = server;
		const words = texts.doctor.mcp;
		if (state !== "connected" && state !== "starting")
			return wrong("mcp", words.wrong(name, state, why ?? ""), words.remedy(name));
		if (state === "connected" && (used(server) === 0 || roles.length === 0 || profiles.length === 0))
			return remark("mcp", words.nothing(name), words.nothingRemedy);
		return fine("mcp", words.fine(name, used(server), visible(server)));
	});
}
