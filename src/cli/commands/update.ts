// `keryx update`: replaces the running version, after testing the new one on a copy of the store. Reverts by itself if the new version
// does not work.

import type { Command } from "commander";
import { isOnServer, openHome } from "../../app/home.ts";
import { version } from "../../app/version.ts";
import { keryxHome } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { installation, type Plan, planUpdate, runUpdate } from "../../update/index.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";
import type { Output } from "../io/output.ts";
import { bytesInWords } from "../io/words.ts";
import { texts } from "../texts.ts";

interface Flags {
	readonly check?: boolean;
	readonly to?: string;
}

export function addUpdate(program: Command, context: CliContext): void {
	program
		.command("update")
		.allowExcessArguments(false)
		.description(texts.update.about)
		.option("--check", texts.update.check)
		.option("--to <version>", texts.update.to)
		.addHelpText("after", texts.update.help)
		.action((flags: Flags) => runUpdateCommand(context, flags));
}

async function runUpdateCommand(context: CliContext, { check = false, to }: Flags): Promise<void> {
	const { config, output } = openConfig(context);
	assertOutside(context);
	const { env } = context;
	const installed = installation(env);
	if (installed.kind !== "package") throw elsewhere(installed.kind);
	const home = openHome(keryxHome(env)).path;
	const plan = await planUpdate({ home, env }, to);
	if (check) return tellPlan(plan, output);
	const outcome = await runUpdate({
		home,
		env,
		plan,
		server: isOnServer(config.values.store) ? config.values.store.url : null,
		launcher: installed.launcher,
		stopMs: config.values.shutdown.drain_seconds * 1000,
		tell: (step, version) => output.note(texts.update.steps[step](version)),
		warn: (text) => output.warn(text),
	});
	if (outcome.kind === "same") {
		if (output.json) return output.value({ version: outcome.version, updated: false });
		return output.line(texts.update.same(outcome.version));
	}
	const { from, awayMs, to: now } = outcome.last;
	if (output.json)
		return output.value({ version: now, updated: true, from, away_seconds: Math.round(awayMs) / 1000 });
	output.line(texts.update.done(now, from));
	output.line(outcome.wasRunning ? texts.update.away((awayMs / 1000).toFixed(1)) : texts.update.starts);
	output.note(texts.update.kept);
}

function tellPlan({ spec, version: found, neededBytes, freeBytes }: Plan, output: Output): void {
	const own = version();
	if (output.json) {
		output.value({ version: own, available: found, needed_bytes: neededBytes, free_bytes: freeBytes });
		return;
	}
	if (found === own) {
		output.line(texts.update.same(own));
		return;
	}
	output.line(found === null ? texts.update.file(spec) : texts.update.available(found, own));
	output.line(texts.update.room(bytesInWords(neededBytes), bytesInWords(freeBytes)));
}

function elsewhere(kind: "clone" | "image"): KeryxError {
	const { clone, cloneHint, image, imageHint } = texts.update;
	return kind === "clone"
		? new KeryxError("update.elsewhere", clone, { hint: cloneHint })
		: new KeryxError("update.elsewhere", image, { hint: imageHint });
}
