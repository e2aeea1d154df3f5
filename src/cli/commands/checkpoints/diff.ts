// `keryx checkpoints diff`: what has changed since a checkpoint.
import type { Command } from "commander";
import type { Answer } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { whileWaiting } from "../../io/progress.ts";
import { counted } from "../../io/words.ts";
import { addConversation, type ConversationFlag, conversationOf } from "./where.ts";

type FileDiff = Answer<"checkpointDiff">["files"][number];

interface Flags extends ConversationFlag {
	readonly to: string;
	readonly stat?: boolean;
}

export function addDiff(parent: Command, context: CliContext): void {
	const command = parent
		.command("diff")
		.allowExcessArguments(false)
		.description("what has changed since a checkpoint")
		.argument("[id]", "its id, or at least the first 7 digits of it; left out: the newest")
		.argument("[file]", "only this file, or what is in this folder; relative to the workspace")
		.option("--to <id>", "up to this checkpoint instead of now", "now")
		.option("--stat", "only which files, and how much");
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((id: string | undefined, file: string | undefined, flags: Flags) =>
			runDiff(context, id, file, flags),
		);
}

const EXAMPLES = `
Examples:
  $ keryx checkpoints diff                          since the newest
  $ keryx checkpoints diff 1f3a90b src/main.ts
  $ keryx checkpoints diff 1f3a90b --to 77aa01d --stat
  $ keryx checkpoints diff 1f3a90b > changes.patch
  $ keryx checkpoints diff 1f3a90b --json

Exit codes: 0 done, whether or not something differs, 1 failure (no such checkpoint), 2 wrong usage, a bad id or path.`;

function runDiff(
	context: CliContext,
	given: string | undefined,
	file: string | undefined,
	flags: Flags,
): Promise<void> {
	return withConnection(context, "read", async (connection) => {
		const { client, output } = connection;
		const conversation = await conversationOf(connection, flags);
		const id = given ?? (await client.checkpoints({ conversation })).checkpoints[0]?.id;
		if (id === undefined) {
			if (output.json) output.value({ files: [] });
			return output.note("There is no checkpoint yet; `keryx checkpoint` takes one.");
		}
		const { files } = await whileWaiting(output, "looking at the files", () =>
			client.checkpointDiff({ conversation, id, to: flags.to, ...(file !== undefined && { file }) }),
		);
		if (output.json) output.value({ files });
		else if (files.length === 0) output.note("Nothing differs.");
		else if (flags.stat) tellCounts(output, files);
		else for (const each of files) tellText(output, each);
	});
}

function tellCounts(output: Output, files: readonly FileDiff[]): void {
	output.table(
		["what", "+", "-", "file"],
		files.map(({ status, binary, insertions, deletions, path }) => [
			binary ? `${status}, binary` : status,
			String(insertions),
			String(deletions),
			path,
		]),
	);
	const sum = (of: "insertions" | "deletions") => files.reduce((total, each) => total + each[of], 0);
	output.note(`${counted(files.length, "file")}, +${sum("insertions")} -${sum("deletions")}`);
}

function tellText(output: Output, { path, text, cut }: FileDiff): void {
	output.patch(text);
	if (cut) output.note(`The rest of ${path} is left out: it is too long.`);
}
