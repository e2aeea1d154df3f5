// `keryx mcp`: Keryx's own server of MCP; below it, the servers whose tools Keryx's agent uses.
// The work is done in src/mcp and src/app/setup.
// Never here: MCP's protocol.

import type { Command } from "commander";
import type { CliContext } from "../../context.ts";
import { refuseUnknown } from "../../io/group.ts";
import { texts } from "../../texts.ts";
import type { AddFlags } from "./servers.ts";

export function addMcp(program: Command, context: CliContext): void {
	const mcp = program
		.command("mcp")
		.allowExcessArguments()
		.description(texts.mcp.about)
		.addHelpText("after", texts.mcp.help)
		.action(async (_flags, command: Command) => {
			await refuseUnknown(command);
			await (await import("./serve.ts")).serveMcp(context);
		});
	const run = async () => import("./servers.ts");
	mcp
		.command("list")
		.allowExcessArguments(false)
		.description(texts.mcp.list.about)
		.action(async () => (await run()).listServers(context));
	mcp
		.command("test")
		.allowExcessArguments(false)
		.description(texts.mcp.test.about)
		.argument("<name>", texts.mcp.entry)
		.action(async (name: string) => (await run()).testServer(context, name));
	mcp
		.command("add")
		.description(texts.mcp.add.about)
		.argument("<name>", texts.mcp.add.name)
		.argument("[command...]", texts.mcp.add.command)
		.option("--url <address>", texts.mcp.add.url)
		.option("--header <header=variable...>", texts.mcp.add.header)
		.option("--env <variable...>", texts.mcp.add.env)
		.option("--role <role...>", texts.mcp.add.role)
		.option("--profile <profile...>", texts.mcp.add.profile)
		.option("--confirm <when>", texts.mcp.add.confirm)
		.addHelpText("after", texts.mcp.add.help)
		.action(async (name: string, command: string[], flags: AddFlags) =>
			(await run()).addServer(context, name, command, flags),
		);
	mcp
		.command("remove")
		.allowExcessArguments(false)
		.description(texts.mcp.remove.about)
		.argument("<name>", texts.mcp.entry)
		.action(async (name: string) => (await run()).removeServer(context, name));
	mcp
		.command("login")
		.allowExcessArguments(false)
		.description(texts.mcp.login.about)
		.argument("<name>", texts.mcp.entry)
		.action(async (name: string) => (await import("./login.ts")).login(context, name));
}
