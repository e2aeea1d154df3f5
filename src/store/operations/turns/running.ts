// Writes of a running turn: finished messages, messages that join it, and the start of calls. All of them need the turn's token (I5).
import { mayJoin, type ResetPolicy } from "../../../domain/index.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Message } from "../../types.ts";
import { emit } from "../events.ts";
import { findConversation, sessionOfKey, targetOf, touch } from "../sessions/sessions.ts";
import { append, type IndexedMessage, isAppended } from "../transcript/append.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from "../transcript/rows.ts";
import { inboxWaiting, messageOf, speakersOfItem, takeInbox } from "./items.ts";
import { heldTurn, speakersOf } from "./row.ts";
import { resetFailing } from "./turns.ts";

const joinedBefore = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM inbox i JOIN messages m ON m.id = i.message
	WHERE i.id = ? AND i.turn = ? AND m.turn_index >= ?`,
);
const countFailing = sql(
	`UPDATE conversations SET failing_count = CASE WHEN failing_call = ? THEN failing_count + 1 ELSE 1 END, failing_call = ?
	WHERE id = ?`,
);
const failingCount = sql<{ failing_count: number }>("SELECT failing_count FROM conversations WHERE id = ?");
const nextIndexOf = sql<{ n: number | null }>("SELECT max(turn_index) + 1 AS n FROM messages WHERE turn = ?");
const insertCall = sql(
	"INSERT INTO calls (turn, call, tool, repeatable, started_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (turn, call) DO NOTHING",
);

export interface AppendArgs {
	readonly turn: string;
	readonly token: number;
	readonly messages: readonly IndexedMessage[];
	/** Blobs put beforehand that the messages refer to. */
	readonly blobs?: readonly string[];
	/** For tool results, the digest of each call (name and arguments), so that the same failing call is counted. */
	readonly outcomes?: readonly { readonly digest: string; readonly failed: boolean }[];
}

/** Adds finished messages to a running turn. Positions that exist are answered with the rows that exist. */
export function* appendMessages(
	context: Context,
	args: AppendArgs,
): Op<{ rows: readonly Message[]; messages: number; cap: number; failingCount: number }> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const conversation = yield* findConversation(turn.conversation);
	const before = yield* sessionOfKey(turn.session);
	// Counted with its rows: a repeated write is not counted again.
	const isNew = !(yield* isAppended(turn.id, args.messages));
	if (isNew && args.blobs?.length) yield* adoptBlobs(args.blobs, conversation.id);
	const rows = yield* append(context, targetOf(conversation, before, turn.id), args.messages);
	for (const { digest, failed } of isNew ? (args.outcomes ?? []) : [])
		yield* failed ? run(countFailing, digest, digest, conversation.id) : run(resetFailing, conversation.id);
	const session = yield* sessionOfKey(turn.session);
	const { failing_count } = (yield* get(failingCount, conversation.id)) ?? { failing_count: 0 };
	return { rows, messages: session.messages, cap: session.cap, failingCount: failing_count };
}

export interface JoinArgs {
	readonly turn: string;
	readonly token: number;
	readonly inbox: readonly number[];
	readonly nextIndex: number;
	readonly policy: ResetPolicy;
}

/**
 * Busy mode steer: messages accepted meanwhile become part of the running turn, unless they would change its rights (I18). Messages that
 * joined before are answered again.
 */
export function* joinTurn(
	context: Context,
	args: JoinArgs,
): Op<{ rows: readonly Message[]; joined: readonly number[]; nextIndex: number }> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const conversation = yield* findConversation(turn.conversation);
	const session = yield* sessionOfKey(turn.session);
	const rows: Message[] = [];
	const joined: number[] = [];
	const speakers = speakersOf(turn);
	// A position that exists would be answered with its row, and the message that joins would be lost.
	let index = Math.max(args.nextIndex, (yield* get(nextIndexOf, turn.id))?.n ?? 0);
	for (const id of args.inbox) {
		const item = yield* get(inboxWaiting, id, conversation.id);
		if (!item) {
			const before = yield* get(joinedBefore, id, turn.id, args.nextIndex);
			if (before) rows.push(yield* toMessage(before, conversation.id, session.id, false));
			joined.push(id);
			continue;
		}
		if (item.kind !== "person" || !speakersOfItem(item).every((speaker) => mayJoin(speakers, speaker)))
			continue;
		joined.push(id);
		const message = { ...messageOf(item, false), index: index++ };
		const [row] = yield* append(context, targetOf(conversation, session, turn.id), [message]);
		rows.push(row as Message);
		yield* run(takeInbox, turn.id, (row as Message).id, item.id);
		yield* touch(session, item.accepted_at, args.policy);
		yield* run(resetFailing, conversation.id);
	}
	return { rows, joined, nextIndex: index };
}

/** Committed before a call that may not be repeated: after a crash its outcome is unknown, and it is not made again. */
export function* startCall(
	context: Context,
	args: {
		readonly turn: string;
		readonly token: number;
		readonly call: string;
		readonly tool: string;
		readonly repeatable: boolean;
	},
): Op<void> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const added = yield* run(insertCall, turn.id, args.call, args.tool, args.repeatable ? 1 : 0, context.now);
	if (added === 0) return;
	yield* emit(
		context,
		"call.started",
		{ conversation: turn.conversation, turn: turn.id, subject: args.call },
		{ tool: args.tool },
	);
}
