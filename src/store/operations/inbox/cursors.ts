// Where a channel has read its platform's updates to. A cursor moves in the transaction that records what was read (I3).
import { type Context, type Op, run, sql } from "../../query.ts";

export interface Cursor {
	readonly platform: string;
	readonly account: string;
	readonly value: string;
}

const upsertCursor = sql(
	`INSERT INTO channel_cursors (platform, account, value, updated_at) VALUES (?, ?, ?, ?)
	ON CONFLICT (platform, account) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
);

/** Past an update that carries nothing to record; or, as part of another operation, past what it records. */
export function* moveCursor(context: Context, { platform, account, value }: Cursor): Op<void> {
	yield* run(upsertCursor, platform, account, value, context.now);
}
