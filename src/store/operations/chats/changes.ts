// A chat that can no longer be written to, or has a new id: its waiting deliveries end, or move to the new id.
import { parseSource } from "../../../domain/index.ts";
import { all, type Context, type Op, run, sql } from "../../query.ts";
import type { Destination } from "../../types.ts";
import { bringForward, laneOf } from "../deliveries/lanes.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "../deliveries/row.ts";
import { settleRow } from "../deliveries/settling.ts";
import { emit } from "../events.ts";
import { type Cursor, moveCursor } from "../inbox/cursors.ts";
import { type Chat, chatRow, reachOf } from "./known.ts";

const setGone = sql(
	`INSERT INTO chats (platform, account, chat, gone_reason, gone_at) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT (platform, account, chat) DO UPDATE SET gone_reason = excluded.gone_reason, gone_at = excluded.gone_at`,
);
const setMoved = sql(
	`INSERT INTO chats (platform, account, chat, moved_to) VALUES (?, ?, ?, ?)
	ON CONFLICT (platform, account, chat) DO UPDATE SET moved_to = excluded.moved_to`,
);
/** Covers every thread of a chat: its lanes share a prefix, and "\u000b" follows "\n". */
const waitingThere = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE lane >= ? AND lane < ? AND due_at IS NOT NULL ORDER BY n`,
);
const redirect = sql("UPDATE deliveries SET destination = ?, lane = ?, first_at = NULL WHERE n = ?");

export interface ChatGoneArgs {
	readonly source: Readonly<Record<string, unknown>>;
	readonly reason: string;
	readonly cursor?: Cursor;
}

/** Waiting deliveries end dead; so do later ones, until the chat is heard from again. */
export function* chatGone(context: Context, args: ChatGoneArgs): Op<{ ended: number }> {
	if (args.cursor) yield* moveCursor(context, args.cursor);
	const { platform, account, chatId } = parseSource(args.source);
	const before = yield* chatRow({ platform, account, chatId });
	yield* run(setGone, platform, account, chatId, args.reason, context.now);
	// A platform may report it repeatedly: with the update, and for each refused send.
	if (before?.gone_reason == null)
		yield* emit(context, "chat.gone", { subject: chatId }, { platform, account, reason: args.reason });
	let ended = 0;
	for (const row of yield* waitingIn({ platform, account, chatId })) {
		// The sender settles one that is being sent.
		if (row.state === "sending") continue;
		yield* settleRow(context, row, { kind: "dead", reason: args.reason });
		ended++;
	}
	return { ended };
}

export interface ChatMovedArgs {
	readonly source: Readonly<Record<string, unknown>>;
	readonly to: string;
	readonly cursor?: Cursor;
}

/** Both ids lead to one conversation from now on, and waiting deliveries move to the new id. */
export function* chatMoved(context: Context, args: ChatMovedArgs): Op<void> {
	if (args.cursor) yield* moveCursor(context, args.cursor);
	const { platform, account, chatId } = parseSource(args.source);
	const before = yield* chatRow({ platform, account, chatId });
	if (args.to === chatId || before?.moved_to === args.to) return;
	yield* run(setMoved, platform, account, chatId, args.to);
	yield* emit(context, "chat.moved", { subject: chatId }, { platform, account, to: args.to });
	const lanes = new Set<string>();
	for (const row of yield* waitingIn({ platform, account, chatId })) {
		if (row.state === "sending") continue;
		const { destination } = yield* reachOf(JSON.parse(row.destination) as Destination);
		const lane = laneOf(destination);
		yield* run(redirect, JSON.stringify(destination), lane, row.n);
		lanes.add(lane);
	}
	for (const lane of lanes) yield* bringForward(lane);
}

function* waitingIn({ platform, account, chatId }: Chat): Op<DeliveryRow[]> {
	const chat = [platform, account, chatId].join("\n");
	return yield* all(waitingThere, `${chat}\n`, `${chat}\u000b`);
}
