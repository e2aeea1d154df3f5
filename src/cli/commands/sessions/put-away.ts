// Conversations as a whole: named, pinned, archived, deleted, restored.
import type { Command } from "commander";
import type { Client, WireConversation } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { namedConversation } from "../../named-conversation.ts";

export function addPuttingAway(parent: Command, context: CliContext): void {
	parent
		.command("rename")
		.description("name a conversation, for good")
		.argument("<conversation>", "its id or its key")
		.argument("<text...>", "the title, at most 100 characters")
		.addHelpText("after", EXAMPLES)
		.action((name: string, words: string[]) =>
			change(context, [name], async (client, [{ id }]) => {
				const named = await client.renameConversation({ conversation: id, title: words.join(" ") });
				return `It is called ${JSON.stringify(named.name)} now.`;
			}),
		);
	for (const pinned of [true, false])
		parent
			.command(pinned ? "pin" : "unpin")
			.allowExcessArguments(false)
			.description(
				pinned ? "keep a conversation at the top of the page's list" : "no longer keep it at the top",
			)
			.argument("<conversation>", "its id or its key")
			.addHelpText("after", EXAMPLES)
			.action((name: string) =>
				change(context, [name], async (client, [{ id, name: called }]) => {
					await client.pinConversation({ conversation: id, pinned });
					return `${called} is ${pinned ? "pinned" : "no longer pinned"}.`;
				}),
			);
	for (const { verb, state, about, done } of STATES)
		parent
			.command(verb)
			.description(about)
			.argument("<conversation...>", "ids or keys")
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
		about: "put conversations away; the next message brings one back",
		done: "archived",
	},
	{
		verb: "delete",
		state: "deleted",
		about: "hide conversations; they can be restored until retention removes them",
		done: "deleted; `keryx sessions restore` brings them back",
	},
	{
		verb: "restore",
		state: "open",
		about: "bring back conversations that were archived or deleted",
		done: "restored",
	},
] as const;

const EXAMPLES = `
Examples:
  $ keryx sessions rename agent:main:telegram:dm:100 "Ada, holidays"
  $ keryx sessions archive 0198c0de-0000-7000-8000-000000000001
  $ keryx sessions list --deleted
  $ keryx sessions restore agent:main:telegram:dm:100

Exit codes: 0 done, 1 failure (no such conversation), 2 wrong usage.`;

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
