// `keryx checkpoint`: a snapshot of now.
import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { whileWaiting } from "../../io/progress.ts";
import { counted } from "../../io/words.ts";
import { notSaved } from "./text.ts";
import { addConversation, type ConversationFlag, conversationOf, shortId } from "./where.ts";

export function addTake(program: Command, context: CliContext): void {
	const command = program
		.command("checkpoint")
		.description("take a snapshot of the agent's files as they are now")
		.argument("[label...]", "what to call it");
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((label: readonly string[], flags: ConversationFlag) =>
			runTake(context, label.join(" ").trim(), flags),
		);
}

const EXAMPLES = `
Where no file has changed since the last checkpoint there is no new one, and that one is named.

Examples:
  $ keryx checkpoint
  $ keryx checkpoint before the big change
  $ keryx checkpoint --conversation agent:main:telegram:dm:100 --json

\`keryx checkpoints list\` shows what there is, \`keryx checkpoints restore <id>\` goes back to it.
Exit codes: 0 done, 1 failure (it could not be taken, or no such conversation), 2 wrong usage.`;

function runTake(context: CliContext, label: string, flags: ConversationFlag): Promise<void> {
	return withConnection(context, "change", async (connection) => {
		const { client, output } = connection;
		const conversation = await conversationOf(connection, flags);
		const taken = await whileWaiting(output, "looking at the files", () =>
			client.takeCheckpoint({ conversation, ...(label !== "" && { label }) }),
		);
		if (output.json) return output.value(taken);
		const { kind, checkpoint } = taken;
		if (kind === "unchanged")
			output.line(`No file has changed since checkpoint ${shortId(checkpoint)}: it holds them as they are.`);
		else output.line(`Checkpoint ${shortId(checkpoint)} holds ${counted(checkpoint.files, "file")}.`);
		const left = notSaved(checkpoint);
		if (left !== null) output.note(left);
	});
}
