// `keryx config set`: changes one setting in config.yaml. Comments and order are kept; nothing invalid is written.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { openHome } from "../../../app/home.ts";
import { keryxHome, setInConfig, writeConfig } from "../../../config/index.ts";
import { running } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { assertOutside } from "../../inside.ts";
import { texts } from "../../texts.ts";

export function addConfigSet(parent: Command, context: CliContext): void {
	parent
		.command("set")
		.allowExcessArguments(false)
		.description(texts.config.set.about)
		.argument("<key>", texts.config.set.key)
		.argument("<value>", texts.config.set.value)
		.addHelpText("after", EXAMPLES)
		.action((key: string, value: string) => runConfigSet(context, key, value));
}

const EXAMPLES = texts.config.set.help;

async function runConfigSet(context: CliContext, key: string, value: string): Promise<void> {
	assertOutside(context);
	const { path: home } = openHome(keryxHome(context.env));
	const file = join(home, "config.yaml");
	const before = existsSync(file) ? readFileSync(file, "utf8") : "";
	const options = { home, env: context.env };
	const { text, changed, restart, overriddenBy } = setInConfig(before, { key, value }, options);
	if (text !== before) writeConfig(file, text);
	// After that: the file may have been wrong before.
	const { output } = openConfig(context);
	const isRunning = (await running(context)) !== null;
	if (output.json)
		return output.value({ file, key, changed, restart, overridden_by: overriddenBy, running: isRunning });
	if (text === before) return output.line(texts.config.set.same(key));
	output.line(texts.config.set.saved(key, file));
	if (overriddenBy !== null) output.warn(texts.config.set.overridden(overriddenBy));
	else output.line(effect(isRunning, restart.length > 0));
}

function effect(isRunning: boolean, needsRestart: boolean): string {
	if (!isRunning) return texts.config.set.atStart;
	return needsRestart ? texts.config.set.afterRestart : texts.config.set.live;
}
