// The append-only log of what happened. An event is written in the transaction that makes it true, holds ids and small
// facts, and never message text.
import { type Context, type Op, run, sql } from "../query.ts";

export interface EventIds {
	readonly conversation?: string | null;
	readonly session?: string | null;
	readonly turn?: string | null;
	readonly subject?: string | number | null;
}

const insert = sql(
	"INSERT INTO events (at, type, conversation, session, turn, subject, facts) VALUES (?, ?, ?, ?, ?, ?, ?)",
);

export function* emit(
	context: Context,
	type: string,
	ids: EventIds,
	facts?: Readonly<Record<string, unknown>>,
): Op<void> {
	yield* run(
		insert,
		context.now,
		type,
		ids.conversation ?? null,
		ids.session ?? null,
		ids.turn ?? null,
		ids.subject === undefined || ids.subject === null ? null : String(ids.subject),
		facts ? JSON.stringify(facts) : null,
	);
}
