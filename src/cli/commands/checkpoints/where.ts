// Which folder is meant, and how a checkpoint is named.

import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { Answer } from "../../../http/index.ts";
import type { Connection } from "../../connect.ts";
import { namedConversation, ownConversation } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";

export type WireCheckpoint = Answer<"checkpoints">["checkpoints"][number];

export interface ConversationFlag {
	readonly conversation?: string;
}

export function addConversation(command: Command): Command {
	return command.option("--conversation <id|key>", texts.checkpoints.conversation);
}

export async function conversationOf(
	{ client, config }: Connection,
	{ conversation }: ConversationFlag,
): Promise<string> {
	if (conversation !== undefined) return (await namedConversation(client, conversation)).id;
	const own = await ownConversation(client, config);
	if (own) return own.id;
	throw new KeryxError("store.not_found", texts.checkpoints.noFolder, {
		field: "conversation",
		hint: texts.checkpoints.noFolderHint,
	});
}

const SHORT = 7;

/** For a person; enough to name it by. */
export function shortId({ id }: Pick<WireCheckpoint, "id">): string {
	return id.slice(0, SHORT);
}
