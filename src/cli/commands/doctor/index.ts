// `keryx doctor`: looks at everything Keryx stands on, and says of each that it is fine, or what is wrong and what to do.

import type { Command } from "commander";
import { homeAt } from "../../../app/home.ts";
import { checkConfig, keryxHome } from "../../../config/index.ts";
import { createSecrets } from "../../../secrets/index.ts";
import type { CliContext } from "../../context.ts";
import { createOutput, type Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";
import { lookAtAudit } from "./audit.ts";
import { lookAtChannels, lookAtConfig, lookAtHome, lookAtNode, lookAtSpace } from "./environment.ts";
import type { Finding } from "./finding.ts";
import { lookAtGit } from "./git.ts";
import { lookAtContainers } from "./machines.ts";
import { lookAtMcpServers } from "./mcp.ts";
import { lookAtModels } from "./model.ts";
import { lookAtProcesses } from "./processes.ts";
import { lookForKeryx } from "./running.ts";
import { lookAtStore } from "./store.ts";
import { lookAtWalls } from "./walls.ts";

interface Flags {
	readonly fix?: boolean;
	readonly quick?: boolean;
	readonly rebuildSearch?: boolean;
}

export function addDoctor(program: Command, context: CliContext): void {
	program
		.command("doctor")
		.allowExcessArguments(false)
		.description(texts.doctor.about)
		.option("--fix", texts.doctor.fix)
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
	const tell = (...found: readonly Finding[]): void => {
		findings.push(...found);
		if (!output.json) for (const finding of found) print(output, finding);
	};
	const { fix = false, quick = false, rebuildSearch: rebuild = false } = flags;

	tell(lookAtNode());
	tell(lookAtConfig(home.path, env));
	if (config) tell(...lookAtChannels(config.values));
	if (config && !quick) tell(...(await lookAtModels(config.values, env)));
	if (config) tell(await lookAtGit(config.values));
	if (config) tell(...(await lookAtContainers(config.values, env)));
	const atHome = lookAtHome(home.path, fix);
	tell(...atHome.findings);
	if (atHome.isThere) {
		tell(lookAtSpace(home.path));
		if (config) tell(...(await lookAtWalls(home, config.values, env)));
		const { findings, client } = await lookForKeryx(home, context);
		tell(...findings);
		if (client) tell(...(await lookAtMcpServers(client)));
		tell(...(await lookAtProcesses(home, client !== null)));
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
		tell(...(await lookAtAudit(home, quick)));
	}
	end(context, output, findings);
}

const WORDS = { fine: "ok", fixed: "fixed", remark: "note", wrong: "WRONG" } as const;
const WIDTH = 7;

function print(output: Output, { check, state, found, remedy }: Finding): void {
	output.pieces([
		{ text: WORDS[state].padEnd(WIDTH), marked: state === "wrong" },
		{ text: `${check}: ${found}`, marked: false },
	]);
	if (remedy !== null) output.line(texts.doctor.remedy(" ".repeat(WIDTH), remedy));
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
