// MCP servers whose tools the agent may use. The operator chose each: what it is started with, who may use it, what is asked about.
import { z } from "zod";
import { variableSchema } from "./models.ts";

/** Part of the names of its tools, `<server>__<tool>`: one underscore at a time, so that the two halves can be told apart. */
export const mcpServerNameSchema = z
	.string()
	.regex(
		/^[a-z0-9](?:[a-z0-9-]|_(?=[a-z0-9-])){0,31}$/,
		"must be 1 to 32 of a-z, 0-9, - and single _, starting with a letter or digit",
	);

const headerName = z
	.string()
	.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "must be the name of an HTTP header");

export const mcpServerSchema = z.strictObject({
	/** A server on stdin and stdout: the program, and its arguments. */
	command: z.string().min(1).optional(),
	args: z.array(z.string()).default([]),
	/** Variables of Keryx's environment that the program sees. */
	env: z.array(variableSchema).default([]),
	/** A server over HTTP. */
	url: z.url({ protocol: /^https?$/ }).optional(),
	/** Headers by the variables that hold their values, such as `Authorization: FILES_KEY`. */
	headers_env: z.record(headerName, variableSchema).default({}),
	/** As the server names them; default: all. */
	tools: z.array(z.string().min(1)).optional(),
	/** Default: every profile. default: conversations without one. */
	profiles: z.array(z.string().min(1)).optional(),
	/** Whose turns may use it. */
	roles: z.array(z.enum(["owner", "member", "guest"])).default(["owner"]),
	/** Which calls need a confirmation. writes: all except tools that the server declares read-only. */
	confirm: z.enum(["always", "writes", "never"]).default("writes"),
	/** The wall that its program runs behind. */
	wall: z.enum(["view", "mask", "box"]).default("mask"),
});

export type McpServerSettings = z.output<typeof mcpServerSchema>;

interface Problem {
	readonly path: readonly (string | number)[];
	readonly message: string;
}

export function mcpProblems(
	servers: Readonly<Record<string, McpServerSettings>>,
	profiles: Readonly<Record<string, unknown>>,
): Problem[] {
	return Object.entries(servers).flatMap(([name, server]) => {
		const problems: Problem[] = [];
		const wrong = (key: string, message: string) => problems.push({ path: [name, key], message });
		if ((server.command === undefined) === (server.url === undefined))
			wrong(server.command === undefined ? "command" : "url", "name either a command or a url");
		else if (server.url !== undefined && (server.args.length > 0 || server.env.length > 0))
			wrong(server.args.length > 0 ? "args" : "env", "must be left out for a server with a url");
		else if (server.command !== undefined && Object.keys(server.headers_env).length > 0)
			wrong("headers_env", "must be left out for a server with a command");
		for (const [index, profile] of (server.profiles ?? []).entries())
			if (profile !== "default" && !Object.hasOwn(profiles, profile))
				problems.push({
					path: [name, "profiles", index],
					message: `must be default or one of the names in profiles, not ${profile}`,
				});
		return problems;
	});
}

/** Variables for one server only. */
export function mcpVariables(servers: Readonly<Record<string, McpServerSettings>>): string[] {
	return Object.values(servers).flatMap(({ env, headers_env }) => [...env, ...Object.values(headers_env)]);
}
