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
export function emit<Type extends EventType>(
	context: Context,
	type: Type,
	ids: EventIds,
	...[facts]: Record<never, never> extends EventFacts[Type]
		? [facts?: EventFacts[Type] | undefined]
		: [facts: EventFacts[Type]]
): Op<void> {
	return later(
		insertEvent,
		context.now,
		type,
		ids.conversation ?? null,
		ids.session ?? null,
		ids.turn ?? null,
		ids.subject === undefined || ids.subject === null
			? null
			: shortSubject(ids.turn ?? null, String(ids.subject)),
		facts ? storedFacts(type, JSON.stringify(facts)) : null,
	);
}

/** The facts of nearly all events of a type, which always has some: such a row has none. */
const USUAL_FACTS: { readonly [Type in EventType]?: EventFacts[Type] } = {
	"turn.ended": { outcome: "completed", disposition: "answered", items: 1 },
	"delivery.pending": { kind: "reply" },
};
const USUAL_TEXTS: ReadonlyMap<string, string> = new Map(
	Object.entries(USUAL_FACTS).map(([type, facts]) => [type, JSON.stringify(facts)]),
);

function storedFacts(type: EventType, facts: string): string | null {
	return facts === USUAL_TEXTS.get(type) ? null : facts;
}

/** The facts of a row. */
export function factsOf({ type, facts }: { readonly type: string; readonly facts: string | null }): unknown {
	return JSON.parse(facts ?? USUAL_TEXTS.get(type) ?? "{}");
}

/** A delivery of a turn is named after it: the row holds the turn's id once. */
function shortSubject(turn: string | null, subject: string): string {
	return turn !== null && subject.startsWith(`${turn}:`) ? subject.slice(turn.length) : subject;
}

/** The subject of a row. No other subject starts with a colon. */
export function longSubject(turn: string | null, subject: string): string {
	return turn !== null && subject.startsWith(":") ? turn + subject : subject;
}
