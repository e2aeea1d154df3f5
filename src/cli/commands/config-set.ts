// `keryx config set`: changes one setting in config.yaml. Comments and order stay; nothing is written that Keryx would not accept.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { openHome } from "../../app/home.ts";
import { keryxHome, setInConfig, writeConfig } from "../../config/index.ts";
import { running } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";

export function addConfigSet(parent: Command, context: CliContext): void {
	parent
		.command("set")
		.allowExcessArguments(false)
		.description("change one setting in config.yaml")
		.argument("<key>", "its name with dots, as `keryx config show` lists it")
		.argument("<value>", "the new value; lists as [a, b]; null removes the setting")
		.addHelpText("after", EXAMPLES)
		.action((key: string, value: string) => runConfigSet(context, key, value));
}

const EXAMPLES = `
Comments and the order of the file are kept. A value that Keryx would refuse is not written.

Examples:
  $ keryx config set session_reset.idle_minutes 60
  $ keryx config set agent.model claude-sonnet-4-5
  $ keryx config set privacy.redact_pii true
  $ keryx config set walls.env_pass '[HTTPS_PROXY, JAVA_HOME]'
  $ keryx config set agent.temperature null

Exit codes: 0 done, 1 failure, 2 an unknown key or a wrong value.`;

async function runConfigSet(context: CliContext, key: string, value: string): Promise<void> {
	assertOutside(context);
	const { path: home } = openHome(keryxHome(context.env));
	const file = join(home, "config.yaml");
	const before = existsSync(file) ? readFileSync(file, "utf8") : "";
	const place = { home, env: context.env };
	const { text, changed, restart, overriddenBy } = setInConfig(before, { key, value }, place);
	if (text !== before) writeConfig(file, text);
	// After that: the file may have been wrong before.
	const { output } = openConfig(context);
	const isRunning = (await running(context)) !== null;
	if (output.json)
		return output.value({ file, key, changed, restart, overridden_by: overriddenBy, running: isRunning });
	if (text === before) return output.line(`${key} already has this value. Nothing was changed.`);
	output.line(`Saved ${key} in ${file}.`);
	if (overriddenBy !== null) output.warn(`${overriddenBy} is set and overrides it`);
	else output.line(effect(isRunning, restart.length > 0));
}

function effect(isRunning: boolean, needsRestart: boolean): string {
	if (!isRunning) return "Keryx is not running; it takes effect at the next start.";
	return needsRestart ? "It takes effect after you restart Keryx." : "The running Keryx uses it now.";
}
