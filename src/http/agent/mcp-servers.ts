// The agent's MCP servers: their state, what they offer and to whom. A retry restarts one; adding and removing change config.yaml, so
// they need proof of a human.
import { z } from "@hono/zod-openapi";
import { hideSecretLike } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { McpServerReport } from "../../tools/index.ts";
import type { ApiHost, HandlersOf, McpSetup } from "../call.ts";
import { endpoint } from "../endpoint.ts";
import { variablesFor } from "../entry/secret-names.ts";
import { time } from "../schemas.ts";

const name = z.string().min(1).max(32);
const role = z.enum(["owner", "member", "guest"]);

const server = z
	.object({
		name: z.string(),
		address: z.string().openapi({ description: "the program with its arguments, or the url" }),
		state: z.enum(["starting", "connected", "waiting", "broken", "login", "stopped"]).openapi({
			description:
				"waiting: it failed and is tried again soon; broken: it failed too often and is tried again later; login: a person has to log in",
		}),
		why: z.string().nullable().openapi({ description: "why it is not connected" }),
		next_try_at: time.nullable(),
		pid: z.int().nullable(),
		starts: z.int().openapi({ description: "how often it was started since Keryx was" }),
		last_failure: z.string().nullable().openapi({ description: "why its last connection ended" }),
		confirm: z.enum(["always", "writes", "never"]),
		profiles: z
			.array(z.string())
			.openapi({ description: "profiles that see it; empty for Keryx's own agent" }),
		roles: z.array(role),
		tools: z.array(
			z.object({
				name: z.string().openapi({ description: "as the agent calls it" }),
				description: z.string(),
				used: z.boolean(),
				read_only: z.boolean().openapi({ description: "as the server says, which is a hint" }),
				asks: z.boolean().openapi({ description: "a person is asked before each call" }),
			}),
		),
		prompts: z.array(z.string()).openapi({ description: "as a person calls them in a chat" }),
		resources: z.int(),
		remarks: z.array(z.string()),
	})
	.openapi("McpServer");

export const mcpServerEndpoints = {
	mcpServers: endpoint("get", "/api/mcp/servers", {
		about: "MCP servers of the configuration, with their state and what they offer to which profile",
		answer: z.object({ servers: z.array(server) }),
	}),
	testMcpServer: endpoint("post", "/api/mcp/servers/{name}/test", {
		about: "try a server again now, and wait for what comes of it",
		params: { name },
		answer: server,
	}),
	addMcpServer: endpoint("post", "/api/mcp/servers", {
		about: "add an MCP server to config.yaml; a running Keryx connects to it",
		body: {
			name,
			command: z.string().min(1).max(4096).optional(),
			args: z.array(z.string().max(4096)).max(100).optional(),
			env: z.array(z.string().max(200)).max(100).optional(),
			url: z.url({ protocol: /^https?$/ }).optional(),
			headers_env: z.record(z.string(), z.string()).optional(),
			roles: z.array(role).optional(),
			profiles: z.array(z.string()).optional(),
			confirm: z.enum(["always", "writes", "never"]).optional(),
		},
		answer: z.object({ name: z.string(), added: z.literal(true) }),
	}),
	removeMcpServer: endpoint("post", "/api/mcp/servers/{name}/remove", {
		about: "remove an MCP server from config.yaml and delete what was kept of its login",
		params: { name },
		answer: z.object({ name: z.string(), removed: z.literal(true) }),
	}),
} as const;

export const mcpServerHandlers: HandlersOf<typeof mcpServerEndpoints> = {
	mcpServers: (_input, { host, visitor }) => ({
		servers: (host.mcpServers?.report() ?? []).map((one) =>
			toWireServer(one, host.profiles ?? [], variablesFor(visitor, host)),
		),
	}),
	testMcpServer: async ({ name: called }, { host, visitor }) => {
		const report = await host.mcpServers?.retry(called);
		if (report) return toWireServer(report, host.profiles ?? [], variablesFor(visitor, host));
		throw new KeryxError("store.not_found", `there is no mcp.servers.${called} in config.yaml`, {
			field: "name",
		});
	},
	addMcpServer: async ({ name: called, ...settings }, { host, visitor: { who, via } }) => {
		const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
		await setupOf(host).add(called, given, { who, via });
		return { name: called, added: true };
	},
	removeMcpServer: async ({ name: called }, { host, visitor: { who, via } }) => {
		await setupOf(host).remove(called, { who, via });
		return { name: called, removed: true };
	},
};

function setupOf({ mcpSetup }: ApiHost): McpSetup {
	if (mcpSetup) return mcpSetup;
	throw new KeryxError(
		"gateway.stopped",
		"Keryx is not running from config.yaml, so no server can be added here",
		{
			hint: "start Keryx, then try again",
		},
	);
}

/** `profiles`: in addition to Keryx's own. `shown`: without names of secrets that the caller may not see. */
export function toWireServer(
	{
		name: called,
		settings,
		state,
		pid,
		starts,
		lastFailure,
		tools,
		prompts,
		resources,
		remarks,
	}: McpServerReport,
	profiles: readonly string[],
	shown: (text: string) => string,
): z.output<typeof server> {
	const all = ["", ...profiles];
	const seen = settings.profiles;
	return {
		name: called,
		// Someone may have written a key in the wrong place.
		address: shown(hideSecretLike(settings.url ?? [settings.command, ...settings.args].join(" "))),
		state: state.kind,
		why: "why" in state ? shown(state.why) : null,
		next_try_at: "until" in state ? new Date(state.until).toISOString() : null,
		pid,
		starts,
		last_failure: lastFailure === null ? null : shown(lastFailure),
		confirm: settings.confirm,
		profiles: all.filter((profile) => seen === undefined || seen.includes(profile || "default")),
		roles: [...settings.roles],
		tools: tools.map(({ name: tool, description, isUsed, isReadOnly, asks }) => ({
			name: tool,
			description,
			used: isUsed,
			read_only: isReadOnly,
			asks,
		})),
		prompts: [...prompts],
		resources,
		remarks: remarks.map(shown),
	};
}
