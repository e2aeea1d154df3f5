import type { Command } from "commander";
import { describeOrigin, shownEntries } from "../../config/index.ts";
import { type CliContext, openConfig } from "../context.ts";

export function addConfigShow(parent: Command, context: CliContext): void {
	parent
		.command("show")
		.allowExcessArguments(false)
		.description("the values in force, and where each came from")
		.argument("[file]", "read this file instead of config.yaml in Keryx's home")
		.addHelpText(
			"after",
			`
What looks like a key, token or password is shown as ***.

Examples:
  $ keryx config show
  $ KERYX_SESSION_RESET_IDLE_MINUTES=60 keryx config show --json`,
		)
		.action((file: string | undefined) => runConfigShow(context, file));
}

function runConfigShow(context: CliContext, file: string | undefined): void {
	const { config, output } = openConfig(context, file);
	const rows = shownEntries(config).map(({ key, value, origin }) => {
		return { key, value, origin: describeOrigin(origin) };
	});
	if (output.json) output.value(rows);
	else
		output.table(
			["key", "value", "from"],
			rows.map(({ key, value, origin }) => [key, show(value), origin]),
		);
}

function show(value: unknown): string {
	return typeof value === "string" ? value : JSON.stringify(value);
}
