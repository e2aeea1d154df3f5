// `keryx checkpoint`: takes a snapshot now.

import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { whileWaiting } from "../../io/progress.ts";
import { counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { notSaved } from "./text.ts";
import { addConversation, type ConversationFlag, conversationOf, shortId } from "./where.ts";

export function addTake(program: Command, context: CliContext): void {
	const command = program
		.command("checkpoint")
		.description(texts.checkpoints.take.about)
		.argument("[label...]", texts.checkpoints.take.label);
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((label: readonly string[], flags: ConversationFlag) =>
			runTake(context, label.join(" ").trim(), flags),
		);
}

const EXAMPLES = texts.checkpoints.take.help;

function runTake(context: CliContext, label: string, flags: ConversationFlag): Promise<void> {
	return withConnection(context, "change", async (connection) => {
		const { client, output } = connection;
		const conversation = await conversationOf(connection, flags);
		const taken = await whileWaiting(output, texts.checkpoints.looking, () =>
			client.takeCheckpoint({ conversation, ...(label !== "" && { label }) }),
		);
		if (output.json) return output.value(taken);
		const { kind, checkpoint } = taken;
		if (kind === "unchanged") output.line(texts.checkpoints.take.unchanged(shortId(checkpoint)));
		else output.line(texts.checkpoints.take.done(shortId(checkpoint), counted(checkpoint.files, "file")));
		const left = notSaved(checkpoint);
		if (left !== null) output.note(left);
	});
}
