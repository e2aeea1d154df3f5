// `keryx checkpoints list`: the available checkpoints.

import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { ago, onOneLine } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { changesOf, notSaved } from "./text.ts";
import { addConversation, type ConversationFlag, conversationOf, shortId } from "./where.ts";

export function addList(parent: Command, context: CliContext): void {
	const command = parent
		.command("list")
		.allowExcessArguments(false)
		.description(texts.checkpoints.list.about);
	addConversation(command)
		.addHelpText("after", EXAMPLES)
		.action((flags: ConversationFlag) => runList(context, flags));
}

const EXAMPLES = texts.checkpoints.list.help;

function runList(context: CliContext, flags: ConversationFlag): Promise<void> {
	return withConnection(context, "read", async (connection) => {
		const { client, output } = connection;
		const found = await client.checkpoints({ conversation: await conversationOf(connection, flags) });
		if (output.json) return output.value(found);
		const { workspace, checkpoints } = found;
		const [newest] = checkpoints;
		if (!newest) return output.note(texts.checkpoints.list.none(workspace));
		if (output.isTerminal)
			output.table(
				["id", "taken", "kind", "label", "files", "changed"],
				checkpoints.map((each) => [
					shortId(each),
					ago(each.created_at, context.now()),
					each.kind,
					onOneLine(each.label),
					String(each.files),
					changesOf(each),
				]),
				{ elastic: [3, 5] },
			);
		else
			output.table(
				[],
				checkpoints.map(({ id, created_at, kind, label, files, changed, session, turn }) => [
					id,
					created_at,
					kind,
					onOneLine(label),
					String(files),
					...[changed?.files, changed?.insertions, changed?.deletions].map((count) => String(count ?? "")),
					session ?? "",
					turn ?? "",
				]),
			);
		output.note(texts.checkpoints.list.of(workspace, notSaved(newest) ?? texts.checkpoints.list.allSaved));
	});
}
