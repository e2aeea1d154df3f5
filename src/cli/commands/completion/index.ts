// `keryx completion`: a script for shell completion.
// It is generated from the commands, so it knows each of them.
// Never here: a list of commands.

import { Argument, type Command } from "commander";
import type { CliContext } from "../../context.ts";
import { texts } from "../../texts.ts";
import { completionScript, SHELLS, type Shell } from "./scripts.ts";
import { nodesOf } from "./tree.ts";

/** `whole`: the program with all of its commands. */
export function addCompletion(program: Command, context: CliContext, whole: () => Promise<Command>): void {
	program
		.command("completion")
		.allowExcessArguments(false)
		.description(texts.completion.about)
		.addArgument(new Argument("<shell>", texts.completion.shell).choices(SHELLS))
		.addHelpText("after", EXAMPLES)
		.action(async (shell: Shell) => {
			context.stdout.write(completionScript(shell, nodesOf(await whole())));
		});
}

const EXAMPLES = texts.completion.help;
