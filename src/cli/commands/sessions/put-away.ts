// Conversations as a whole: named, pinned, archived, deleted, restored.

import type { Command } from "commander";
import type { Client, WireConversation } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { namedConversation } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";

export function addPuttingAway(parent: Command, context: CliContext): void {
	parent
		.command("rename")
		.description(texts.sessions.rename.about)
		.argument("<conversation>", texts.sessions.conversation)
		.argument("<text...>", texts.sessions.rename.title)
		.addHelpText("after", EXAMPLES)
		.action((name: string, words: string[]) =>
			change(context, [name], async (client, [{ id }]) => {
				const named = await client.renameConversation({ conversation: id, title: words.join(" ") });
				return texts.sessions.rename.done(JSON.stringify(named.name));
			}),
		);
	for (const pinned of [true, false])
		parent
			.command(pinned ? "pin" : "unpin")
			.allowExcessArguments(false)
			.description(pinned ? texts.sessions.pin.about : texts.sessions.unpin.about)
			.argument("<conversation>", texts.sessions.conversation)
			.addHelpText("after", EXAMPLES)
			.action((name: string) =>
				change(context, [name], async (client, [{ id, name: called }]) => {
					await client.pinConversation({ conversation: id, pinned });
					return texts.sessions.pin.done(called, pinned ? "pinned" : "no longer pinned");
				}),
			);
	for (const { verb, state, about, done } of STATES)
		parent
			.command(verb)
			.description(about)
			.argument("<conversation...>", texts.sessions.conversations)
			.addHelpText("after", EXAMPLES)
			.action((names: string[]) =>
				change(context, names, async (client, found) => {
					const { changed } = await client.setConversationState({
						conversations: found.map(({ id }) => id),
						state,
					});
					return `${changed} ${changed === 1 ? "conversation" : "conversations"} ${done}.`;
				}),
			);
}

const STATES = [
	{
		verb: "archive",
		state: "archived",
		about: texts.sessions.archive.about,
		done: "archived",
	},
	{
		verb: "delete",
		state: "deleted",
		about: texts.sessions.delete.about,
		done: texts.sessions.delete.done,
	},
	{
		verb: "restore",
		state: "open",
		about: texts.sessions.restore.about,
		done: "restored",
	},
] as const;

const EXAMPLES = texts.sessions.putAwayHelp;

function change(
	context: CliContext,
	names: readonly string[],
	work: (client: Client, found: readonly [WireConversation, ...WireConversation[]]) => Promise<string>,
): Promise<void> {
	return withConnection(context, "change", async ({ client, output }) => {
		const found: WireConversation[] = [];
		for (const name of names) found.push(await namedConversation(client, name));
		const done = await work(client, found as [WireConversation, ...WireConversation[]]);
		if (!output.json) return output.line(done);
		const conversations: WireConversation[] = [];
		for (const { id } of found) conversations.push(await client.conversation({ conversation: id }));
		output.value({ conversations });
	});
}
