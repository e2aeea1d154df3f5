// Reads the log of events: from a cursor on, or everything about one message.
import type { ConversationId, SessionId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { StoreEvent } from "../events.ts";
import { all, allWith, get, type Op, type Statement, sql } from "../query.ts";
import type { InboxItem, OperatorScope, Scope } from "../types.ts";
import { factsOf, longSubject } from "./events.ts";
import { assertSees } from "./people/scope.ts";
import { inboxItem } from "./read-work.ts";

interface EventRow {
	readonly id: number;
	readonly at: number;
	readonly type: string;
	readonly conversation: ConversationId | null;
	readonly session: SessionId | null;
	readonly turn: string | null;
	readonly subject: string | null;
	readonly facts: string | null;
}

const eventsAfter = sql<EventRow>("SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?");
/** The size of a stretch in the index events_stretch, in events. */
const STRETCH = 1024;
/** How many events one statement reads. */
const LOOKED_THROUGH = 256 * STRETCH;
/** For both engines: SQLite's index is by stretch, then by the end of the conversation's id. Without the `+` it would not be used. */
const ofConversation = (condition: string) =>
	sql<EventRow>(
		`WITH RECURSIVE stretches (s) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT s + 1 FROM stretches WHERE s < ?)
		SELECT e.* FROM stretches CROSS JOIN events e
		WHERE e.id >> 10 = +s AND substr(e.conversation, -4) = substr(?, -4) AND e.conversation = ? AND e.id > ? AND e.id <= ? ${condition}
		ORDER BY e.id LIMIT ?`,
		`SELECT * FROM events WHERE conversation = ? AND id > ? AND id <= ? ${condition} ORDER BY id LIMIT ?`,
	);
const eventsOf = ofConversation("");
const eventsAbout = ofConversation("AND (turn = ? OR (subject = ? AND type LIKE 'inbound.%'))");
const lastEvent = sql<{ id: number | null }>("SELECT max(id) AS id FROM events");
const prunedTo = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'events_pruned_to'");

export type EventsResult =
	| { readonly kind: "events"; readonly events: readonly StoreEvent[]; readonly cursor: string }
	/** The cursor is too old or invalid: read the state again and continue from `cursor`. */
	| { readonly kind: "resync"; readonly cursor: string };

/** Events after a cursor, in order; `""` is the start of what is kept, `"now"` the end. */
export function* events(args: {
	readonly scope: Scope;
	readonly after: string;
	readonly limit: number;
	readonly conversation?: ConversationId;
}): Op<EventsResult> {
	if (args.conversation !== undefined)
		yield* assertSees(args.scope, args.conversation, `conversation ${args.conversation}`);
	else if (args.scope.kind !== "operator")
		throw new KeryxError("argument.invalid", "conversation must be named in this scope", {
			field: "conversation",
		});
	const kept = Number((yield* get(prunedTo))?.value ?? 0);
	// If all of them were pruned, the end is where they were pruned to.
	const end = Math.max((yield* get(lastEvent))?.id ?? 0, kept);
	const after = args.after === "" ? kept : args.after === "now" ? end : fromCursor(args.after);
	if (after === null || after < kept || after > end) return { kind: "resync", cursor: toCursor(end) };
	const rows =
		args.conversation === undefined
			? yield* all(eventsAfter, after, args.limit)
			: yield* eventsBetween(eventsOf, args.conversation, [after, end], [], args.limit);
	return { kind: "events", events: rows.map(toEvent), cursor: toCursor(rows.at(-1)?.id ?? after) };
}

/** Events of a conversation after one id, up to another. */
function* eventsBetween(
	statement: Statement<EventRow>,
	conversation: ConversationId,
	[after, end]: readonly [number, number],
	values: readonly string[],
	limit: number,
): Op<EventRow[]> {
	const rows: EventRow[] = [];
	for (let from = after; from < end && rows.length < limit; ) {
		const to = Math.min(end, (Math.floor(from / LOOKED_THROUGH) + 1) * LOOKED_THROUGH);
		const asked = [conversation, from, to, ...values, limit - rows.length];
		const stretches = [Math.floor((from + 1) / STRETCH), Math.floor(to / STRETCH)];
		rows.push(...(yield* allWith(statement, [...stretches, conversation, ...asked], asked)));
		from = to;
	}
	return rows;
}

/** All events of one inbound message and its turn, in order. */
export function* story(args: {
	readonly scope: Scope;
	readonly id: number;
}): Op<{ item: InboxItem; events: readonly StoreEvent[] }> {
	const item = yield* inboxItem(args);
	if (item.conversation === null) return { item, events: [] };
	const kept = Number((yield* get(prunedTo))?.value ?? 0);
	const end = (yield* get(lastEvent))?.id ?? 0;
	const about = [item.turn ?? "", String(item.id)];
	const rows = yield* eventsBetween(eventsAbout, item.conversation, [kept, end], about, 1000);
	return { item, events: rows.map(toEvent) };
}

/** When anything last happened: tells a start how long Keryx was away. */
export function* lastEventAt(_: { readonly scope: OperatorScope }): Op<number | null> {
	return (yield* get(newestEvent))?.at ?? null;
}
const newestEvent = sql<{ at: number }>("SELECT at FROM events ORDER BY id DESC LIMIT 1");

/** Written by emit: type and facts match. */
function toEvent(row: EventRow): StoreEvent {
	return {
		cursor: toCursor(row.id),
		at: row.at,
		type: row.type,
		conversation: row.conversation,
		session: row.session,
		turn: row.turn,
		subject: row.subject === null ? null : longSubject(row.turn, row.subject),
		facts: factsOf(row),
	} as StoreEvent;
}

function toCursor(id: number): string {
	return `e${id.toString(36)}`;
}

function fromCursor(cursor: string): number | null {
	if (!/^e[0-9a-z]{1,11}$/.test(cursor)) return null;
	const id = Number.parseInt(cursor.slice(1), 36);
	return Number.isSafeInteger(id) ? id : null;
}
