// `keryx checkpoints restore`: restores files, and reports on each.

import type { Command } from "commander";
import type { Answer } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { whileWaiting } from "../../io/progress.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";
import { addConversation, type ConversationFlag, conversationOf, shortId } from "./where.ts";

type Plan = Answer<"checkpointPlan">;
type Restored = Answer<"restoreCheckpoint">;
type Reason = Plan["kept"][number]["reason"];

interface Flags extends ConversationFlag {
	readonly dryRun?: boolean;
	readonly force?: boolean;
}

export function addRestore(parent: Command, context: CliContext): void {
	const command = parent
		.command("restore")
		.allowExcessArguments(false)
		.description(texts.checkpoints.restore.about)
		.argument("<id>", texts.checkpoints.id)
		.argument("[file]", texts.checkpoints.path)
		.option("--dry-run", texts.checkpoints.restore.dryRun)
		.option("--force", texts.checkpoints.restore.force);
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((id: string, file: string | undefined, flags: Flags) => runRestore(context, id, file, flags));
}

const EXAMPLES = texts.checkpoints.restore.help;

function runRestore(context: CliContext, id: string, file: string | undefined, flags: Flags): Promise<void> {
	const { dryRun = false, force = false } = flags;
	return withConnection(context, dryRun ? "read" : "change", async (connection) => {
		const { client, output } = connection;
		const conversation = await conversationOf(connection, flags);
		const wanted = { conversation, id, ...(file !== undefined && { file }) };
		const wait = <Result>(work: () => Promise<Result>) =>
			whileWaiting(output, texts.checkpoints.looking, work);
		if (dryRun) {
			const plan = await wait(() => client.checkpointPlan({ ...wanted, force: force ? "true" : "false" }));
			if (output.json) output.value(plan);
			else tellPlan(output, plan);
			return;
		}
		const report = await wait(() => client.restoreCheckpoint({ ...wanted, force }));
		if (report.kept.some(({ reason }) => reason !== "changed_since")) context.exitWith(EXIT.failure);
		if (output.json) output.value(report);
		else tellReport(output, report, flags);
	});
}

function tellPlan(output: Output, plan: Plan): void {
	const rows = [
		...plan.restore.map((path) => ["restore", path, ""]),
		...plan.remove.map((path) => ["remove", path, ""]),
		...rowsOf(plan, "keep"),
	];
	tellFiles(output, rows);
	if (plan.restore.length + plan.remove.length === 0)
		output.note(texts.checkpoints.restore.nothingWould(shortId(plan.target)));
	else output.note(texts.checkpoints.restore.would);
	noteForce(output, plan);
}

function tellReport(output: Output, report: Restored, { conversation }: Flags): void {
	const { target, before, restored, removed } = report;
	const rows = [
		...restored.map((path) => ["restored", path, ""]),
		...removed.map((path) => ["removed", path, ""]),
		...rowsOf(report, "kept"),
	];
	tellFiles(output, rows);
	noteForce(output, report);
	const where = conversation === undefined ? "" : ` --conversation ${conversation}`;
	output.note(
		restored.length + removed.length === 0
			? texts.checkpoints.restore.nothing(shortId(target))
			: texts.checkpoints.restore.undo(shortId(before), where),
	);
}

const WHY: Readonly<Record<Reason, string>> = {
	changed_since: texts.checkpoints.restore.keptBecause.changedSince,
	changing: texts.checkpoints.restore.keptBecause.changing,
	in_the_way: texts.checkpoints.restore.keptBecause.inTheWay,
	refused: texts.checkpoints.restore.keptBecause.refused,
	lost: texts.checkpoints.restore.keptBecause.lost,
};

function rowsOf({ kept, untouched }: Pick<Plan, "kept" | "untouched">, word: "keep" | "kept"): string[][] {
	return [
		...kept.map(({ path, reason }) => [word, path, WHY[reason]]),
		...untouched.map((path) => [word, path, texts.checkpoints.restore.notSaved]),
	];
}

function tellFiles(output: Output, rows: readonly (readonly string[])[]): void {
	if (rows.length > 0) output.table(["what", "file", "why"], rows, { elastic: [1] });
}

function noteForce(output: Output, { kept }: Pick<Plan, "kept">): void {
	if (kept.some(({ reason }) => reason === "changed_since")) output.note(texts.checkpoints.restore.forceHint);
}
