import type { Command } from "commander";
import { checkConfig, describeProblem, keryxHome } from "../../config/index.ts";
import type { CliContext } from "../context.ts";
import { createOutput } from "../io/output.ts";
import { EXIT } from "../io/report.ts";

export function addConfigCheck(parent: Command, context: CliContext): void {
	parent
		.command("check")
		.allowExcessArguments(false)
		.description("find every problem of the configuration, each with its file, line and column")
		.argument("[file]", "the file to check instead of config.yaml in Keryx's home")
		.addHelpText(
			"after",
			`
Examples:
  $ keryx config check
  $ keryx config check ./config.yaml --json

Exit codes: 0 when the configuration is right, 2 when it is not.`,
		)
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
	else
		output.line(
			check.file
				? `${check.file} has no problems`
				: "no problems: there is no config.yaml, so the defaults hold",
		);
}
