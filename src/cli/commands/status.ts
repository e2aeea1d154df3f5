// `keryx status`: whether Keryx runs in this home, and how it is doing. Only looks.
import type { Command } from "commander";
import { type Home, homeAt } from "../../app/home.ts";
import { keryxHome } from "../../config/index.ts";
import type { Answer } from "../../http/index.ts";
import { ownerOf } from "../../store/index.ts";
import { running } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import type { Output } from "../io/output.ts";
import { EXIT } from "../io/report.ts";
import { ago } from "../io/words.ts";

export function addStatus(program: Command, context: CliContext): void {
	program
		.command("status")
		.allowExcessArguments(false)
		.description("show whether Keryx is running, and how its channels are")
		.addHelpText("after", EXAMPLES)
		.action(() => runStatus(context));
}

const EXAMPLES = `
Examples:
  $ keryx status
  $ keryx status --json

Exit codes: 0 running, 1 not running, or running with a problem. \`keryx doctor\` checks more.`;

async function runStatus(context: CliContext): Promise<void> {
	const { output } = openConfig(context);
	const home = homeAt(keryxHome(context.env));
	const client = await running(context, home);
	if (!client) {
		context.exitWith(EXIT.failure);
		return tellStopped(home, output);
	}
	const health = await client.health();
	if (health.problem !== null) context.exitWith(EXIT.failure);
	if (output.json) return output.value({ running: true, home: home.path, ...health });
	output.line(
		`Keryx ${health.version} is running (process ${health.pid}, started ${ago(health.started_at, context.now())}).`,
	);
	output.pairs([
		["Home", home.path],
		["Agent", health.agent],
		...health.channels.map(channelRow),
		["Confirmations", health.pending_count === 0 ? "none waiting" : `${health.pending_count} waiting`],
	]);
	if (health.walls !== null) output.line(health.walls);
	if (health.problem !== null) output.warn(`Keryx cannot accept messages: ${health.problem}`);
}

/** A command that owns the store for a moment is no Keryx that runs. */
function tellStopped({ path, storePath }: Home, output: Output): void {
	const owner = ownerOf(storePath);
	if (output.json) {
		output.value({ running: false, home: path, store_owner: owner });
		return;
	}
	output.line(`Keryx is not running in ${path}.`);
	if (owner !== null) output.line(`Its store is in use by ${owner}.`);
}

type WireChannel = Answer<"health">["channels"][number];

function channelRow({ name, state, detail }: WireChannel): readonly [string, string] {
	const why = detail === null ? "" : `: ${detail}`;
	return [`Channel ${name}`, `${state.replaceAll("_", " ")}${why}`];
}
