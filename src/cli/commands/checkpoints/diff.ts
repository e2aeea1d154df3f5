// `keryx checkpoints diff`: what has changed since a checkpoint.

import type { Command } from "commander";
import type { Answer } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { whileWaiting } from "../../io/progress.ts";
import { counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
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
		.description(texts.checkpoints.diff.about)
		.argument("[id]", texts.checkpoints.diff.id)
		.argument("[file]", texts.checkpoints.path)
		.option("--to <id>", texts.checkpoints.diff.to, "now")
		.option("--stat", texts.checkpoints.diff.stat);
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((id: string | undefined, file: string | undefined, flags: Flags) =>
			runDiff(context, id, file, flags),
		);
}

const EXAMPLES = texts.checkpoints.diff.help;

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
			return output.note(texts.checkpoints.none);
		}
		const { files } = await whileWaiting(output, texts.checkpoints.looking, () =>
			client.checkpointDiff({ conversation, id, to: flags.to, ...(file !== undefined && { file }) }),
		);
		if (output.json) output.value({ files });
		else if (files.length === 0) output.note(texts.checkpoints.diff.nothing);
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
	if (cut) output.note(texts.checkpoints.diff.cut(path));
}
