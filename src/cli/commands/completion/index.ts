// `keryx completion`: a script that teaches a shell to complete Keryx's commands. Made from the commands themselves.
import { Argument, type Command } from "commander";
import type { CliContext } from "../../context.ts";
import { completionScript, SHELLS, type Shell } from "./scripts.ts";
import { placesOf } from "./tree.ts";

/** `whole`: the program with all of its commands. */
export function addCompletion(program: Command, context: CliContext, whole: () => Promise<Command>): void {
	program
		.command("completion")
		.allowExcessArguments(false)
		.description("print a script that completes commands in your shell")
		.addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
		.addHelpText("after", EXAMPLES)
		.action(async (shell: Shell) => {
			context.stdout.write(completionScript(shell, placesOf(await whole())));
		});
}

const EXAMPLES = `
Examples:
  $ source <(keryx completion bash)                         for this terminal
  $ keryx completion bash >> ~/.bashrc                      for every new one
  $ keryx completion zsh > ~/.zfunc/_keryx                  with ~/.zfunc in fpath
  $ keryx completion fish > ~/.config/fish/completions/keryx.fish

Exit codes: 0 done, 2 wrong usage.`;
