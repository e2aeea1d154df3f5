// Copies a session of another conversation of the same person: its visible rows, with their blobs.
import { all, type Context, type Op, sql } from "../../query.ts";
import type { NewMessage } from "../../types.ts";
import { emit } from "../events.ts";
import { append, isCounted } from "../transcript/append.ts";
import { copyBlob } from "../transcript/blobs.ts";
import { chainOf } from "../transcript/chain.ts";
import { hiddenIn, isHidden, MESSAGE_COLUMNS, type MessageRow, toNewMessage } from "../transcript/rows.ts";
import {
	type ConversationRow,
	type Opening,
	open,
	type SessionRow,
	sessionOfKey,
	targetOf,
} from "./sessions.ts";

const rowsOf = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.session = ? AND m.seq <= ? ORDER BY m.seq`,
);

export function* copyTranscript(
	context: Context,
	conversation: ConversationRow,
	from: SessionRow,
	previous: SessionRow | null,
	opening: Opening,
): Op<SessionRow> {
	const messages: NewMessage[] = [];
	for (const segment of yield* chainOf(from)) {
		const hidden = yield* hiddenIn(segment.session);
		for (const row of yield* all(rowsOf, segment.session, segment.upTo)) {
			if (isHidden(hidden, row.seq)) continue;
			const { covers, ...message } = yield* toNewMessage(row, from.conversation);
			// A summary names rows of its original session; here all covered rows are present in full.
			if (covers) continue;
			messages.push(message);
			if (typeof message.content === "string") continue;
			for (const part of message.content)
				if (part.type !== "text") yield* copyBlob(context, from.conversation, conversation.id, part.blob);
		}
	}
	const session = yield* open(context, conversation, opening, {
		openedBy: "user_switch",
		previous,
		hadActivity: messages.some(isCounted),
		added: messages.filter(isCounted).length,
	});
	yield* append(context, targetOf(conversation, session, null), messages);
	yield* emit(
		context,
		"session.copied",
		{ conversation: conversation.id, session: session.id },
		{ from: from.id },
	);
	return yield* sessionOfKey(session.key);
}
