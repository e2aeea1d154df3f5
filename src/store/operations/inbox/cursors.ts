// Where a channel has read its platform's updates to. A cursor moves in the transaction that records what was read (I3).
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { OperatorScope } from "../../types.ts";

export interface Cursor {
	readonly platform: string;
	readonly account: string;
	readonly value: string;
}

const upsertCursor = sql(
	`INSERT INTO channel_cursors (platform, account, value, updated_at) VALUES (?, ?, ?, ?)
	ON CONFLICT (platform, account) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
);

/** Past an update with nothing to record; or, as part of another operation, past what it records. */
export function* moveCursor(context: Context, { platform, account, value }: Cursor): Op<void> {
	yield* run(upsertCursor, platform, account, value, context.now);
}

/** Which of these messages of a chat were accepted or refused before (I4). */
export function* knownMessages(args: {
	readonly scope: OperatorScope;
	readonly platform: string;
	readonly account: string;
	readonly chat: string;
	readonly platformMessages: readonly string[];
}): Op<readonly string[]> {
	const { platform, account, chat, platformMessages } = args;
	const known: string[] = [];
	for (const id of platformMessages) if (yield* get(findKnown, platform, account, chat, id)) known.push(id);
	return known;
}
const findKnown = sql<{ id: number }>(
	"SELECT id FROM inbox WHERE platform = ? AND account = ? AND chat = ? AND platform_message = ?",
);
