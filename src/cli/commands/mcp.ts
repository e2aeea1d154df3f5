// `keryx mcp`: Keryx's own server of MCP.
import type { Command } from "commander";
import type { CliContext } from "../context.ts";

export function addMcp(program: Command, context: CliContext): void {
	program
		.command("mcp")
		.allowExcessArguments(false)
		.description("a server of MCP on stdin and stdout, for other agents")
		.action(async () => (await import("./mcp-serve.ts")).serveMcp(context));
}
