// Changes of a conversation as a whole: name, pin, archive, delete, restore. No rows are removed here: only retention does that (I6).
import { type ConversationId, cleanTitle, isNamedByTopic } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { ConversationState } from "../../types.ts";
import { emit } from "../events.ts";
import { indexConversation, unindexConversation } from "../search/conversation-rows.ts";
import { type ConversationRow, findConversation } from "./sessions.ts";

interface TitleRow {
	readonly title_source: "model" | "user" | null;
	readonly title_body: string | null;
	readonly body_key: number | null;
}

const titleOf = sql<TitleRow>("SELECT title_source, title_body, body_key FROM conversations WHERE id = ?");
const writeTitle = sql("UPDATE conversations SET title_source = ?, title_body = ? WHERE id = ?");
const writePinned = sql("UPDATE conversations SET pinned_at = ? WHERE id = ?");
/** An archived or deleted conversation is not pinned. */
const writeState = sql(
	"UPDATE conversations SET state = ?, state_at = ?, pinned_at = CASE WHEN ? = 'open' THEN pinned_at END WHERE id = ?",
);

/** Names a conversation, independent of its sessions. A person's title stays until a person changes it. */
export function* giveConversationTitle(
	context: Context,
	{ id }: Pick<ConversationRow, "id">,
	wanted: string | null,
	source: "model" | "user",
): Op<{ title: string | null; before: string | null }> {
	const row = (yield* get(titleOf, id)) as TitleRow;
	const before = row.title_body === null ? null : unseal<string>(row.title_body, row.body_key);
	if (source === "model" && before !== null) return { title: before, before };
	const title = wanted === null ? null : cleanTitle(wanted);
	if (title === "")
		throw new KeryxError("argument.invalid", "title must have at least one visible character", {
			field: "title",
		});
	const by = title === null ? null : source;
	yield* run(writeTitle, by, title === null ? null : seal(title), id);
	yield* emit(context, "conversation.titled", { conversation: id }, { source: by });
	return { title, before };
}

/** A session's name becomes its conversation's if the two mean the same. */
export function* nameByTopic(
	context: Context,
	conversation: ConversationRow,
	title: string,
	source: "derived" | "model" | "user",
): Op<void> {
	if (source !== "derived" && isNamedByTopic(conversation.platform))
		yield* giveConversationTitle(context, conversation, title, source);
}

export function* pinConversation(
	context: Context,
	args: { readonly conversation: ConversationId; readonly pinned: boolean },
): Op<{ pinned: boolean }> {
	const { id, state } = yield* findConversation(args.conversation);
	if (args.pinned && state !== "open")
		throw new KeryxError("conversation.put_away", `the conversation is ${state}, and cannot be pinned`, {
			field: "conversation",
		});
	yield* run(writePinned, args.pinned ? context.now : null, id);
	yield* emit(context, "conversation.pinned", { conversation: id }, { pinned: args.pinned });
	return { pinned: args.pinned };
}

/** Changes a conversation's state. Deleting removes its rows from search; restoring brings them back. */
export function* moveTo(context: Context, conversation: ConversationRow, state: ConversationState): Op<void> {
	const { id, state: before } = conversation;
	if (state === before) return;
	if (state === "deleted") yield* unindexConversation(conversation);
	yield* run(writeState, state, context.now, state, id);
	if (before === "deleted") yield* indexConversation(conversation);
	yield* emit(context, "conversation.state", { conversation: id }, { state, before });
}
