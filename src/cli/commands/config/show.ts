// `keryx config show`: every setting with its value and where the value comes from. Secrets are masked by shownEntries.
import type { Command } from "commander";
import { describeOrigin, shownEntries } from "../../../config/index.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { texts } from "../../texts.ts";

export function addConfigShow(parent: Command, context: CliContext): void {
	parent
		.command("show")
		.allowExcessArguments(false)
		.description(texts.config.show.about)
		.argument("[file]", texts.config.file)
		.addHelpText("after", texts.config.show.help)
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
