// The append-only event log. An event is written in the transaction that makes it true, contains ids and small facts, and never message
// text.
import type { EventFacts, EventType } from "../events.ts";
import { type Context, later, type Op, sql } from "../query.ts";

export interface EventIds {
	readonly conversation?: string | null;
	readonly session?: string | null;
	readonly turn?: string | null;
	readonly subject?: string | number | null;
}

/** Special-cased by the PostgreSQL engine: events are numbered in commit order. */
export const insertEvent = sql(
	"INSERT INTO events (at, type, conversation, session, turn, subject, facts) VALUES (?, ?, ?, ?, ?, ?, ?)",
);

/** The configuration changed while Keryx ran, or a change was refused or is held. Keys, never values. */
export function* noteConfig(
	context: Context,
	args:
		| { readonly kind: "changed"; readonly keys: readonly string[]; readonly restart: readonly string[] }
		| { readonly kind: "refused"; readonly key: string | null; readonly line: number | null }
		| { readonly kind: "held"; readonly sections: readonly string[] },
): Op<void> {
	const { kind, ...facts } = args;
	yield* emit(context, `config.${kind}`, {}, facts);
}

/** The store accepts writes again after trouble. */
export function* noteStoreBack(
	context: Context,
	args: { readonly code: string; readonly lostAt: number },
): Op<void> {
	yield* emit(context, "store.back", {}, args);
}

/** No facts if the event has none. */
export function* emit<Type extends EventType>(
	context: Context,
	type: Type,
	ids: EventIds,
	...[facts]: Record<never, never> extends EventFacts[Type]
		? [facts?: EventFacts[Type] | undefined]
		: [facts: EventFacts[Type]]
): Op<void> {
	yield* later(
		insertEvent,
		context.now,
		type,
		ids.conversation ?? null,
		ids.session ?? null,
		ids.turn ?? null,
		ids.subject === undefined || ids.subject === null ? null : String(ids.subject),
		facts ? JSON.stringify(facts) : null,
	);
}
