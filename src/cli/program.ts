// The commands and what `--help` says about them.
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { nearest } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { addConfigCheck } from "./config-check.ts";
import { addConfigShow } from "./config-show.ts";
import type { CliContext } from "./context.ts";
import { addExplain } from "./explain.ts";
import { addChat, runGateway } from "./run.ts";
import { addWhy } from "./why.ts";

export function createProgram(context: CliContext): Command {
	const program = new Command("keryx")
		.description("The session gateway for AI agents.")
		.version(readVersion())
		.option("--json", "print JSON, errors too")
		.configureHelp({ showGlobalOptions: true })
		.configureOutput({ outputError: () => {} })
		.exitOverride()
		.addHelpText("after", EXAMPLES)
		.allowExcessArguments()
		.action((_options, command: Command) => {
			refuseUnknown(command);
			return runGateway(context, { chat: false });
		});
	addChat(program, context);
	addWhy(program, context);
	addExplain(program, context);

	const config = program
		.command("config")
		.description("check and show the configuration")
		.allowExcessArguments()
		.action((_options, command: Command) => {
			refuseUnknown(command);
			throw new KeryxError("usage.invalid", `config takes a command: ${namesOf(command).join(" or ")}`);
		});
	addConfigCheck(config, context);
	addConfigShow(config, context);
	return program;
}

const EXAMPLES = `
Examples:
  $ keryx                              run Keryx; on a terminal, talk to it
  $ echo hello | keryx chat            one message over a pipe
  $ keryx why 12                       what became of message 12
  $ keryx explain message.json         which conversation a message belongs to, and why
  $ keryx config check                 find every mistake in the configuration
  $ keryx config show --json           the values in force and where each came from

Exit codes: 0 done, 1 failure, 2 wrong usage or bad input. More: docs/reference/cli.md`;

function refuseUnknown(command: Command): void {
	const [word] = command.args;
	if (word === undefined) return;
	const near = nearest(word, namesOf(command));
	const message = `unknown command ${JSON.stringify(word)}${near ? `; did you mean ${near}?` : ""}`;
	throw new KeryxError("usage.invalid", message);
}

function namesOf(command: Command): string[] {
	return command.commands.map((child) => child.name());
}

function readVersion(): string {
	const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
	return version;
}
