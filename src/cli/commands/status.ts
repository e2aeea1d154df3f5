// `keryx status`: whether Keryx runs in this home, and its health. Works even if the configuration is broken.

import type { Command } from "commander";
import { type Home, homeAt } from "../../app/home.ts";
import { keryxHome } from "../../config/index.ts";
import type { Answer } from "../../http/index.ts";
import { ownerOf } from "../../store/index.ts";
import type { CliContext } from "../context.ts";
import { createOutput, type Output } from "../io/output.ts";
import { EXIT } from "../io/report.ts";
import { ago } from "../io/words.ts";
import { healthIn } from "../patience.ts";
import { texts } from "../texts.ts";

export function addStatus(program: Command, context: CliContext): void {
	program
		.command("status")
		.allowExcessArguments(false)
		.description(texts.status.about)
		.addHelpText("after", EXAMPLES)
		.action(() => runStatus(context));
}

const EXAMPLES = texts.status.help;

async function runStatus(context: CliContext): Promise<void> {
	const output = createOutput(context, { json: context.json });
	const home = homeAt(keryxHome(context.env));
	const health = await healthIn(context, home);
	if (!health) {
		context.exitWith(EXIT.failure);
		return tellStopped(home, output);
	}
	if (health.problem !== null) context.exitWith(EXIT.failure);
	if (output.json) return output.value({ running: true, home: home.path, ...health });
	output.line(texts.status.running(health.version, health.pid, ago(health.started_at, context.now())));
	output.pairs([
		["Home", home.path],
		["Agent", health.agent],
		...health.channels.map(channelRow),
		[
			"Confirmations",
			health.pending_count === 0 ? texts.status.noneWaiting : texts.status.waiting(health.pending_count),
		],
	]);
	if (health.walls !== null) output.line(health.walls);
	if (health.problem !== null) output.warn(texts.status.failing(health.problem));
}

/** A command that briefly owns the store is not a running Keryx. */
function tellStopped({ path, storePath }: Home, output: Output): void {
	const owner = ownerOf(storePath);
	if (output.json) {
		output.value({ running: false, home: path, store_owner: owner });
		return;
	}
	output.line(texts.status.notRunning(path));
	if (owner !== null) output.line(texts.status.inUse(owner));
}

type WireChannel = Answer<"health">["channels"][number];

function channelRow({ name, state, detail }: WireChannel): readonly [string, string] {
	const why = detail === null ? "" : `: ${detail}`;
	return [texts.status.channel(name), `${state.replaceAll("_", " ")}${why}`];
}
