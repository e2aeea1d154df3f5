// `keryx config check`: lists every problem of the configuration. Changes nothing; exits as a usage error if there is one.
import type { Command } from "commander";
import { checkConfig, describeProblem, keryxHome } from "../../../config/index.ts";
import type { CliContext } from "../../context.ts";
import { createOutput } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";

export function addConfigCheck(parent: Command, context: CliContext): void {
	parent
		.command("check")
		.allowExcessArguments(false)
		.description(texts.config.check.about)
		.argument("[file]", texts.config.check.file)
		.addHelpText("after", texts.config.check.help)
		.action((file: string | undefined) => runConfigCheck(context, file));
}

function runConfigCheck(context: CliContext, file: string | undefined): void {
	const check = checkConfig({ home: keryxHome(context.env), env: context.env, file });
	const output = createOutput(context, { json: context.json });
	const good = check.problems.length === 0;
	if (!good) context.exitWith(EXIT.usage);
	if (context.json) {
		output.value({ ok: good, file: check.file ?? null, problems: check.problems, warnings: check.warnings });
		return;
	}
	for (const warning of check.warnings) output.warn(warning);
	for (const problem of check.problems) output.line(describeProblem(problem));
	const count = check.problems.length;
	if (!good) output.line(`${count} ${count === 1 ? "problem" : "problems"}`);
	else output.line(check.file ? texts.config.check.none(check.file) : texts.config.check.noFile);
}
