// One tool of a server, as an agent's tool.
import type { McpServerSettings } from "../../config/index.ts";
import { inlineUntrusted } from "../../domain/index.ts";
import type { Tool, ToolContext, ToolResult } from "../types.ts";
import { actionOf } from "./naming.ts";
import { toResult } from "./result.ts";
import type { McpServer } from "./server.ts";
import type { Connection, McpTool } from "./types.ts";

/** How long a call waits for a restarting server. */
const WAIT_MS = 20_000;

export interface CallOptions {
	confirm(): McpServerSettings["confirm"];
	/** How long a call may take, in milliseconds. */
	callMs(): number;
}

export function toolOf(
	{ tool, name, description, schema, isReadOnly }: McpTool,
	server: McpServer,
	options: CallOptions,
): Tool {
	return {
		name,
		description,
		schema,
		// By the server's own claim; it decides what a crash costs, not what the tool may do.
		repeatable: isReadOnly,
		prepare: (input) => {
			if (typeof input !== "object" || input === null || Array.isArray(input))
				return { problem: "the arguments must be an object" };
			return {
				question: () => Promise.resolve(questionAbout({ tool, name, isReadOnly }, server, options.confirm())),
				// Its program is not in a conversation's workspace, but a call may make it write there.
				changesFiles: () => !isReadOnly && server.settings.command !== undefined,
				run: (context) =>
					call(server, context, options, async ({ client }, signal) =>
						toResult(
							await client.callTool(
								{ name: tool, arguments: input as Record<string, unknown> },
								{ signal, timeout: options.callMs() },
							),
							(text) => server.hide(text),
						),
					),
			};
		},
	};
}

function questionAbout(
	{ tool, name, isReadOnly }: Pick<McpTool, "tool" | "name" | "isReadOnly">,
	server: McpServer,
	confirm: McpServerSettings["confirm"],
) {
	if (confirm === "never" || (confirm === "writes" && isReadOnly)) return null;
	return {
		action: actionOf(name),
		description: `Call the tool ${inlineUntrusted(tool)} of the MCP server ${server.name}`,
		...(confirm === "always" && { once: true }),
	};
}

/** Any failure is the call's result; the server decides what it means for the connection. */
export async function call(
	server: McpServer,
	{ signal }: Pick<ToolContext, "signal">,
	{ callMs }: Pick<CallOptions, "callMs">,
	ask: (connection: Connection, signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult> {
	let connection: Connection;
	try {
		connection = await server.connected(signal, Math.min(WAIT_MS, callMs()));
	} catch (error) {
		return { content: `Nothing was done: ${(error as Error).message}.`, isError: true };
	}
	try {
		return await ask(connection, signal);
	} catch (error) {
		if (signal.aborted) throw error;
		const { message } = error as Error;
		if (isLost(error)) server.failed(connection, message);
		const content = isRefusal(error)
			? `${server.name} did not do it: ${message}`
			: `It is unknown whether ${server.name} did it; check before you try again: ${message}`;
		return { content, isError: true };
	}
}

/** The server itself returned an error. An unusable answer says nothing about what was done. */
function isRefusal(error: unknown): boolean {
	const { name, code, message } = error as Error & { readonly code?: unknown };
	if (name === "UnauthorizedError") return true;
	return (
		typeof code === "number" && !/^the answer is longer than|output ?schema|structured content/i.test(message)
	);
}

/** The connection is lost, as opposed to a refusal. */
function isLost(error: unknown): boolean {
	const { name, code } = error as { readonly name?: string; readonly code?: unknown };
	return (
		name === "UnauthorizedError" ||
		name === "TypeError" ||
		(typeof code === "string" && code !== "REQUEST_TIMEOUT")
	);
}
