// The commands and what `--help` says about them.
import { Command } from "commander";
import { version } from "../app/version.ts";
import { addChannels } from "./commands/channels.ts";
import { addChat } from "./commands/chat.ts";
import { addCheckpoints } from "./commands/checkpoints/index.ts";
import { addConfigCheck } from "./commands/config-check.ts";
import { addConfigShow } from "./commands/config-show.ts";
import { addConfirm } from "./commands/confirm/index.ts";
import { addConfirmd } from "./commands/confirmd/index.ts";
import { addDoctor } from "./commands/doctor/index.ts";
import { addExplain } from "./commands/explain/explain.ts";
import { addLink } from "./commands/link.ts";
import { addOutbox } from "./commands/outbox.ts";
import { addPair } from "./commands/pair.ts";
import { addProcesses } from "./commands/processes/index.ts";
import { runGateway } from "./commands/run.ts";
import { addSend } from "./commands/send.ts";
import { addSessions } from "./commands/sessions/index.ts";
import { addSetup } from "./commands/setup.ts";
import { addToken } from "./commands/token.ts";
import { addWhy } from "./commands/why.ts";
import type { CliContext } from "./context.ts";
import { readCount } from "./io/arguments.ts";
import { addGroup, refuseUnknown } from "./io/group.ts";

export function createProgram(given: CliContext): Command {
	const program = new Command("keryx");
	const context: CliContext = { ...given, timeoutMs: () => program.opts<GlobalFlags>().timeout };
	program
		.description("The session gateway for AI agents.")
		.version(version())
		.option("--json", "print JSON, errors too")
		.option("--timeout <seconds>", "give up when Keryx says nothing for so long (30)", readTimeout)
		.configureHelp({ showGlobalOptions: true })
		.configureOutput({ writeOut: (text) => context.stdout.write(text), outputError: () => {} })
		.exitOverride()
		.addHelpText("after", EXAMPLES)
		.allowExcessArguments()
		.action((_options, command: Command) => {
			refuseUnknown(command);
			return runGateway(context);
		});
	addChat(program, context);
	addSend(program, context);
	addSessions(program, context);
	addChannels(program, context);
	addOutbox(program, context);
	addWhy(program, context);
	addProcesses(program, context);
	addCheckpoints(program, context);
	addConfirm(program, context);
	addConfirmd(program, context);
	addToken(program, context);
	addPair(program, context);
	addLink(program, context);
	addExplain(program, context);
	addDoctor(program, context);
	addSetup(program, context);

	const config = addGroup(program, "config", "check and show the configuration");
	addConfigCheck(config, context);
	addConfigShow(config, context);
	return program;
}

interface GlobalFlags {
	/** Milliseconds. */
	readonly timeout?: number;
}

const LONGEST_TIMEOUT = 86_400;

function readTimeout(text: string): number {
	return readCount("--timeout", text, [1, LONGEST_TIMEOUT]) * 1000;
}

const EXAMPLES = `
Examples:
  $ keryx                              run Keryx; on a terminal, talk to it
  $ echo hello | keryx chat            one message over a pipe
  $ keryx send "what is new?"          one message, and its answer
  $ keryx sessions list                what was talked about, newest first
  $ keryx sessions search tulips       find what was said
  $ keryx outbox                       answers that have not arrived
  $ keryx why 12                       what became of message 12
  $ keryx ps                           the programs that the agent started
  $ keryx attach 4f2a                  use one of them in this terminal
  $ keryx checkpoints list             snapshots of its files, to go back to
  $ keryx confirm list                 what waits for your yes
  $ keryx token create ci --role agent a token for a program
  $ keryx doctor                       find out what is wrong, and what to do
  $ keryx explain message.json         which conversation a message belongs to, and why
  $ keryx config check                 find every mistake in the configuration
  $ keryx config show --json           the values in force and where each came from

Exit codes: 0 done, 1 failure, 2 wrong usage or bad input. More: docs/reference/cli.md`;
