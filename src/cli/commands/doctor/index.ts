// `keryx doctor`: checks everything Keryx depends on, and says what is wrong and what to do.
// A file per subject; each check reports by itself, and all of them run.
// Never here: a repair that nobody asked for.

import type { Command } from "commander";
import { homeAt } from "../../../app/home.ts";
import { checkConfig, keryxHome } from "../../../config/index.ts";
import { createSecrets } from "../../../secrets/index.ts";
import type { CliContext } from "../../context.ts";
import { createOutput, type Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";
import { lookAtAudit } from "./audit.ts";
import {
	lookAtChannels,
	lookAtConfig,
	lookAtHome,
	lookAtNode,
	lookAtSpace,
	lookAtWorkspaces,
} from "./environment.ts";
import type { Finding } from "./finding.ts";
import { lookAtGit } from "./git.ts";
import { lookAtLog, lookAtProxy, lookAtRetention } from "./keeping.ts";
import { lookAtLeftovers } from "./leftovers.ts";
import { lookAtContainers } from "./machines.ts";
import { lookAtMcpServers } from "./mcp.ts";
import { lookAtModels } from "./model.ts";
import { lookAtPackages } from "./packages.ts";
import { lookAtProcesses } from "./processes.ts";
import { lookForKeryx } from "./running.ts";
import { lookAtServer } from "./server.ts";
import { lookAtStore } from "./store.ts";
import { lookAtWalls } from "./walls.ts";

interface Flags {
	readonly fix?: boolean;
	readonly dryRun?: boolean;
	readonly quick?: boolean;
	readonly rebuildSearch?: boolean;
}

export function addDoctor(program: Command, context: CliContext): void {
	program
		.command("doctor")
		.allowExcessArguments(false)
		.description(texts.doctor.about)
		.option("--fix", texts.doctor.fix)
		.option("--dry-run", texts.doctor.dryRun)
		.option("--quick", texts.doctor.quick)
		.option("--rebuild-search", texts.doctor.rebuild)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runDoctor(context, flags));
}

const EXAMPLES = texts.doctor.help;

async function runDoctor(context: CliContext, flags: Flags): Promise<void> {
	const { env } = context;
	const home = homeAt(keryxHome(env));
	const { config, secrets: values } = checkConfig({ home: home.path, env });
	const secrets = createSecrets(values);
	const output = createOutput(context, { json: context.json, hide: (text) => secrets.hide(text) });
	const findings: Finding[] = [];
	const { quick = false, dryRun = false } = flags;
	const fix = flags.fix === true && !dryRun;
	const rebuild = flags.rebuildSearch === true && !dryRun;
	const tell = (...all: readonly Finding[]): void => {
		for (const { mends, ...rest } of all) {
			const finding = dryRun && mends !== undefined ? { ...rest, mends } : rest;
			findings.push(finding);
			if (!output.json) print(output, finding);
		}
	};

	tell(lookAtNode());
	tell(lookAtConfig(home.path, env));
	if (config) tell(...lookAtChannels(config.values), ...lookAtPackages(home.path, config.values));
	if (config && !quick) tell(...(await lookAtModels(config.values, env)));
	if (config) tell(await lookAtGit(config.values));
	if (config) tell(...(await lookAtContainers(config.values, env)));
	const atHome = lookAtHome(home.path, fix);
	tell(...atHome.findings);
	if (atHome.isThere) {
		tell(lookAtSpace(home.path), lookAtLeftovers(home.path, fix));
		if (config)
			tell(
				lookAtWorkspaces(home.path, config.values, env),
				lookAtLog(home.path, config.values, fix),
				lookAtRetention(config.values),
				lookAtProxy(config.values),
			);
		const { findings, client, pid } = await lookForKeryx(home, context);
		if (config) tell(...(await lookAtWalls({ home, config: config.values, env, pid })));
		tell(...findings);
		if (client) tell(...(await lookAtMcpServers(client)));
		tell(...(await lookAtProcesses(home, client !== null)));
		if (config) tell(...(await lookAtServer(home, config.values, context.now)));
		tell(
			...(await lookAtStore({
				output,
				home,
				secrets,
				client,
				config: config?.values,
				now: context.now(),
				quick,
				fix,
				rebuild,
			})),
		);
		tell(...(await lookAtAudit(home, config?.values ?? { store: { url: "sqlite:", nodes: "one" } }, quick)));
	}
	end(context, output, findings);
}

const WORDS = { fine: "ok", fixed: "fixed", remark: "note", wrong: "WRONG" } as const;
const WIDTH = 7;

function print(output: Output, { check, state, found, remedy, mends }: Finding): void {
	output.pieces([
		{ text: WORDS[state].padEnd(WIDTH), marked: state === "wrong" },
		{ text: `${check}: ${found}`, marked: false },
	]);
	if (mends !== undefined) output.line(texts.doctor.wouldFix(" ".repeat(WIDTH), mends));
	else if (remedy !== null) output.line(texts.doctor.remedy(" ".repeat(WIDTH), remedy));
}

function end(context: CliContext, output: Output, checks: readonly Finding[]): void {
	const bad = checks.filter(({ state }) => state === "wrong").length;
	if (bad > 0) context.exitWith(EXIT.failure);
	if (output.json) {
		output.value({ ok: bad === 0, checks });
		return;
	}
	output.line();
	output.line(bad === 0 ? texts.doctor.allFine : texts.doctor.someWrong(bad, checks.length));
}
