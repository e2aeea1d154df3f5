// `keryx checkpoints restore`: the files as they were at a checkpoint, and what became of each.
import type { Command } from "commander";
import type { Answer } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { whileWaiting } from "../../io/progress.ts";
import { EXIT } from "../../io/report.ts";
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
		.description("go back to a checkpoint: what the agent changed since, and nothing that you changed")
		.argument("<id>", "its id, or at least the first 7 digits of it")
		.argument("[file]", "only this file, or what is in this folder; relative to the workspace")
		.option("--dry-run", "say what would be done, and change nothing")
		.option("--force", "take back what you or others changed since, too");
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((id: string, file: string | undefined, flags: Flags) => runRestore(context, id, file, flags));
}

const EXAMPLES = `
A checkpoint of now is taken first, so that a restore can be undone. Files that are not saved are not touched.

Examples:
  $ keryx checkpoints restore 1f3a90b --dry-run
  $ keryx checkpoints restore 1f3a90b
  $ keryx checkpoints restore 1f3a90b src/main.ts --force
  $ keryx checkpoints restore 1f3a90b --json

Exit codes: 0 done, also where files that others changed were kept; 1 failure (no such checkpoint, or a file that should have
gone back could not), 2 wrong usage, a bad id or path.`;

function runRestore(context: CliContext, id: string, file: string | undefined, flags: Flags): Promise<void> {
	const { dryRun = false, force = false } = flags;
	return withConnection(context, dryRun ? "read" : "change", async (connection) => {
		const { client, output } = connection;
		const conversation = await conversationOf(connection, flags);
		const wanted = { conversation, id, ...(file !== undefined && { file }) };
		const wait = <Result>(work: () => Promise<Result>) => whileWaiting(output, "looking at the files", work);
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
		output.note(`Going back to ${shortId(plan.target)} would change nothing.`);
	else output.note("That would be done; nothing was changed. Leave out --dry-run to do it.");
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
			? `Nothing had to be changed to go back to ${shortId(target)}.`
			: `To undo this: keryx checkpoints restore ${shortId(before)}${where}`,
	);
}

const WHY: Readonly<Record<Reason, string>> = {
	changed_since: "somebody else than the agent changed it since",
	changing: "it changed while the restore ran",
	in_the_way: "something that is kept stands in its way",
	refused: "the system did not let it be changed",
	lost: "the checkpoint no longer has its content",
};

function rowsOf({ kept, untouched }: Pick<Plan, "kept" | "untouched">, word: "keep" | "kept"): string[][] {
	return [
		...kept.map(({ path, reason }) => [word, path, WHY[reason]]),
		...untouched.map((path) => [word, path, "it is not saved"]),
	];
}

function tellFiles(output: Output, rows: readonly (readonly string[])[]): void {
	if (rows.length > 0) output.table(["what", "file", "why"], rows, { elastic: [1] });
}

function noteForce(output: Output, { kept }: Pick<Plan, "kept">): void {
	if (kept.some(({ reason }) => reason === "changed_since"))
		output.note("--force takes back what somebody else changed, too.");
}
