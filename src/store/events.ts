// The table of all events: they are emitted, followed, logged and shown through it. An entry has its facts (ids and small values, never
// message text), its sentence in the history of a message, its hook and its level in the log. Nothing can emit, subscribe to or compare
// with an event that has no entry.
import { KERYX } from "../called.ts";
import type {
	ConversationId,
	EndReason,
	ModelOverride,
	PersonRole,
	Role,
	SessionId,
} from "../domain/index.ts";
import type {
	BusyMode,
	CheckpointKind,
	ConversationState,
	Disposition,
	GrantScope,
	InboxKind,
	NewDelivery,
	PausedBecause,
	ProcessEnd,
	RunState,
	TokenRole,
	ToolProgress,
	TurnState,
} from "./types.ts";

/** The input of a sentence. */
interface Telling<Facts> {
	readonly facts: Facts;
	readonly subject: string | null;
	readonly session: string | null;
}

interface Entry<Facts> {
	/** Its sentence in the history of a message. Default: its name in words. */
	readonly tell?: (event: Telling<Facts>) => string;
	/** The hook it runs. */
	readonly hook?: string;
	/** Its level in the log. Default: debug, for what happens several times with each message. */
	readonly log?: "info" | "warn";
	/** Afterwards its turn is at work. */
	readonly beginsTurn?: true;
}

type None = Readonly<Record<never, never>>;

/** Only for the compiler: the facts of an entry. */
declare const FACTS: unique symbol;
interface Event<Facts> extends Entry<Facts> {
	readonly [FACTS]?: Facts;
}

function event<Facts extends object = None>(entry: Entry<Readonly<Facts>> = {}): Event<Readonly<Facts>> {
	return entry;
}

interface InternalKind {
	/** Absent: a person's message. */
	readonly kind?: Exclude<InboxKind, "person">;
}
interface Why {
	readonly reason?: string;
}
interface Checked {
	readonly workspace: string;
	readonly kind: CheckpointKind;
}
interface Amended {
	/** It had not been read yet. */
	readonly waited: boolean;
	/** The agent's next turn reports it. */
	readonly told: boolean;
}
interface Reacted {
	readonly emoji: string;
	readonly on: "own" | "other";
}
interface Connection {
	readonly platform: string;
	readonly account: string;
}
interface Action {
	readonly action: string;
}

export const EVENTS = {
	"inbound.accepted": event<InternalKind>({
		tell: ({ facts: { kind } }) =>
			kind === undefined ? "It was accepted and stored." : `It was accepted and stored (${kind}).`,
		hook: "message:in",
		log: "info",
	}),
	"inbound.observed": event<InternalKind>({
		tell: () => "It was not addressed to the agent, which sees it with the next message.",
	}),
	"inbound.command": event<InternalKind & { command?: string }>({
		tell: ({ facts }) => `It was the command /${facts.command}.`,
	}),
	"inbound.expired": event<Why>({
		tell: ({ facts }) => `Keryx gave up on it: ${facts.reason}.`,
		log: "warn",
	}),
	"inbound.dropped_by_user": event<Why>({ tell: () => "The user dropped it from the queue." }),
	"inbound.edited": event<Amended>({
		tell: ({ facts }) =>
			facts.waited
				? "Its sender edited it while it was waiting; the new text counts."
				: `Its sender edited it later${reportSuffix(facts)}.`,
	}),
	"inbound.deleted": event<Amended>({
		tell: ({ facts }) =>
			facts.waited
				? "Its sender deleted it while it was waiting."
				: `Its sender deleted it later${reportSuffix(facts)}.`,
	}),
	"inbound.reacted": event<Reacted>({ tell: ({ facts }) => `Someone reacted to it with ${facts.emoji}.` }),
	"inbound.refused": event<{ platform: string; reason: string }>({ log: "info" }),

	"conversation.created": event(),
	"conversation.imported": event<{ rows: number }>(),
	"conversation.model": event<{ override: ModelOverride | null }>(),
	"conversation.busy": event<{ busy: BusyMode }>(),
	"conversation.tool_progress": event<{ show: ToolProgress | null }>(),
	"conversation.titled": event<{ source: "model" | "user" | null }>(),
	"conversation.pinned": event<{ pinned: boolean }>(),
	"conversation.state": event<{ state: ConversationState; before: ConversationState }>(),
	/** Removed for good. */
	"conversation.deleted": event<{ archive: { readonly name: string; readonly digest: string } }>(),

	"session.opened": event<{ by: "first" | EndReason }>({ hook: "session:start", log: "info" }),
	// The hook for an end is run by finalising, which repeats until it is done.
	"session.ended": event<{ reason: EndReason }>({ log: "info" }),
	"session.continued": event<{ base: string }>(),
	"session.switched": event<{ to: string }>(),
	"session.copied": event<{ from: string }>(),
	"session.extended": event<{ by: number; cap: number }>(),
	"session.titled": event<{ source: "derived" | "model" | "user" }>(),
	"session.suspended": event({ tell: () => "The session was suspended." }),

	"turn.begun": event({
		tell: ({ session }) => `Keryx started working on it in session ${session ?? "?"}.`,
		hook: "turn:start",
		beginsTurn: true,
	}),
	"turn.resumed": event<{ reason: string }>({
		tell: ({ facts }) => `Keryx continued after an interruption (${facts.reason}).`,
		log: "info",
		beginsTurn: true,
	}),
	"turn.interrupted": event<{ reason: "restart" | "crash" }>({
		tell: ({ facts }) => `Keryx was interrupted (${facts.reason}).`,
		log: "warn",
	}),
	"turn.ended": event<{
		outcome: Exclude<TurnState, "running" | "interrupted">;
		disposition: Disposition["kind"];
		items: number;
		reason?: string;
	}>({
		tell: ({ facts: { outcome, reason } }) =>
			reason === undefined ? `Keryx finished: ${outcome}.` : `Keryx finished: ${outcome} (${reason}).`,
		hook: "turn:end",
		log: "info",
	}),
	"message.appended": event<{ seq: number; role: Role; index?: number; inbound?: number }>({
		tell: ({ facts }) => `A message was stored: ${facts.role}, seq ${facts.seq}.`,
	}),
	"call.started": event<{ tool: string }>({ tell: ({ facts }) => `The tool ${facts.tool} was called.` }),
	"model.called": event<{ n: number; status: "ok" | "error" | "aborted" }>({
		tell: ({ facts }) => `The model was called (${facts.status}).`,
	}),

	"transcript.undone": event<{ rows: number; turns: number }>(),
	"transcript.redone": event<{ rows: number }>(),
	"transcript.retried": event<{ hidden: number }>({ beginsTurn: true }),
	"transcript.covered": event<{ ranges: number }>(),
	"transcript.not_covered": event<{ compactAfter: number }>(),

	/** An unprompted message; its subject is the id of the send. */
	"message.sent": event<{ readonly by: string; readonly to: string }>({
		tell: ({ facts }) => `A message was sent to ${facts.to}.`,
	}),
	"delivery.opened": event({ tell: () => "A preview of the answer was shown." }),
	"delivery.pending": event<Pick<NewDelivery, "kind">>({
		tell: (delivery) => `${part(delivery)} of the answer was queued for sending.`,
	}),
	"delivery.sent": event({
		tell: (delivery) => `${part(delivery)} was delivered.`,
		hook: "message:out",
		log: "info",
	}),
	"delivery.retry": event<Why>({
		tell: (delivery) => `${part(delivery)} will be sent again: ${delivery.facts.reason}.`,
		log: "info",
	}),
	"delivery.unknown": event<Why>({
		tell: (delivery) =>
			`It is unknown whether ${part(delivery).toLowerCase()} arrived: ${delivery.facts.reason}. \`${KERYX} outbox retry\` sends it again.`,
		log: "warn",
	}),
	"delivery.reacted": event<Reacted>(),
	"delivery.dead": event<Why>({
		tell: (delivery) => `Keryx gave up on ${part(delivery).toLowerCase()}: ${delivery.facts.reason ?? ""}.`,
		log: "warn",
	}),

	"process.begun": event({ hook: "process:begun" }),
	"process.started": event<{ pid: number }>({ hook: "process:started", log: "info" }),
	"process.adopted": event({ hook: "process:adopted" }),
	"process.ended": event<{ status: ProcessEnd["status"]; exitCode?: number; signal?: string }>({
		hook: "process:ended",
		log: "info",
	}),

	"confirmation.requested": event<Action>({ hook: "confirmation:requested", log: "info" }),
	"confirmation.auto_approved": event<Action>({ hook: "confirmation:auto_approved" }),
	"confirmation.approved": event<Action>({ hook: "confirmation:approved", log: "info" }),
	"confirmation.denied": event<Action>({ hook: "confirmation:denied", log: "info" }),
	"confirmation.expired": event<Action>({ hook: "confirmation:expired", log: "info" }),
	"confirmation.cancelled": event<Action>({ hook: "confirmation:cancelled" }),
	"confirmation.consumed": event<Action>({ hook: "confirmation:consumed" }),
	"grant.added": event<{ scope: GrantScope; action: string }>(),
	"grant.revoked": event(),
	"grant.dated": event<{ count: number }>(),

	"schedule.created": event(),
	"schedule.changed": event(),
	"schedule.deleted": event(),
	"schedule.paused": event<{ because: PausedBecause }>(),
	"schedule.resumed": event(),
	"schedule.fired": event<{ at: number; by: "schedule" | "person" }>({ hook: "schedule:fired", log: "info" }),
	"schedule.missed": event<{ count: number }>({ hook: "schedule:missed", log: "warn" }),
	"schedule.run_ended": event<{ at: number; state: Exclude<RunState, "open"> }>({
		hook: "schedule:ended",
		log: "info",
	}),

	"checkpoint.taken": event<Checked>({
		tell: ({ facts, subject }) => `A checkpoint of the files was saved ${when(facts)}: ${subject ?? "?"}.`,
	}),
	"checkpoint.unchanged": event<Checked>({
		tell: ({ facts, subject }) =>
			`No files had changed since checkpoint ${subject ?? "?"}, so it is also the one ${when(facts)}.`,
	}),
	"checkpoint.failed": event<{ workspace?: string; kind: CheckpointKind; code: string }>({
		tell: ({ facts }) => `No checkpoint of the files was saved ${when(facts)} (${facts.code}).`,
		log: "warn",
	}),
	"checkpoint.dropped": event<{ workspace: string }>(),
	"restore.begun": event<{ workspace: string; target: string }>(),
	"restore.ended": event<{
		workspace: string;
		restored: number;
		removed: number;
		kept: number;
		/** How far the chat was rewound with the files. */
		turns?: number;
	}>({ log: "info" }),
	"restore.unfinished": event<{ workspace: string; left: number }>(),

	"channel.changed": event<Connection & { state: string; before: string; proven_by?: string }>({
		log: "info",
	}),
	"chat.gone": event<Connection & { reason: string }>(),
	"chat.back": event<Connection>(),
	"chat.moved": event<Connection & { to: string }>(),
	"home.set": event(),
	"home.unset": event(),
	"pairing.requested": event<Connection>(),
	"pairing.approved": event<{ platform: string; role: PersonRole; principal: string }>({ log: "info" }),
	"pairing.denied": event<{ platform: string }>(),
	"pairing.revoked": event<{ platform: string }>(),
	"pairing.locked": event<{ platform: string; until: number }>({ log: "warn" }),

	"principal.linked": event<{ merged?: string }>({ log: "info" }),
	"token.created": event<{ role: TokenRole }>({ log: "info" }),
	"token.revoked": event({ log: "info" }),
	"login.made": event<{ role: PersonRole }>({ log: "info" }),
	"login.revoked": event({ log: "info" }),

	"config.changed": event<{ keys: readonly string[]; restart: readonly string[] }>({ log: "info" }),
	"config.refused": event<{ key: string | null; line: number | null }>({ log: "warn" }),
	"config.held": event<{ sections: readonly string[] }>(),
	"store.back": event<{ code: string; lostAt: number }>({ log: "warn" }),
} as const satisfies Readonly<Record<`${string}.${string}`, Entry<never>>>;

export type EventType = keyof typeof EVENTS;

/** The first word of an event's type: what views subscribe to. */
export type EventKind = EventType extends infer Type
	? Type extends `${infer Kind}.${string}`
		? Kind
		: never
	: never;

/** Type -> facts. */
export type EventFacts = {
	readonly [Type in EventType]: (typeof EVENTS)[Type] extends Event<infer Facts> ? Facts : never;
};

/** One pair of type and facts per event, joined with the common fields. */
export type EventOf<Common> = {
	[Type in EventType]: Common & { readonly type: Type; readonly facts: EventFacts[Type] };
}[EventType];

/** One row of the log. */
export type StoreEvent = EventOf<{
	/** Opaque: pass it back to continue after this event. */
	readonly cursor: string;
	readonly at: number;
	readonly conversation: ConversationId | null;
	readonly session: SessionId | null;
	readonly turn: string | null;
	/** The message, inbox item, delivery or other object it is about. */
	readonly subject: string | null;
}>;

const ENTRIES: { readonly [Type in EventType]: Entry<EventFacts[Type]> } = EVENTS;

export const EVENT_TYPES: readonly string[] = Object.keys(EVENTS);

/** The types of the events after which a turn is at work. */
export const TURN_BEGINS: ReadonlySet<string> = new Set(
	Object.entries<Entry<never>>(EVENTS).flatMap(([type, { beginsTurn }]) => (beginsTurn ? [type] : [])),
);

/** The sentence of an event. An unknown type comes from a store that another version wrote. */
export function tellEvent<Type extends EventType>(
	event: Telling<EventFacts[Type]> & { readonly type: Type },
): string {
	const entry: Entry<EventFacts[Type]> | undefined = ENTRIES[event.type];
	return entry?.tell?.(event) ?? event.type.replace(".", " ");
}

/** The hook of an event, if any. */
export function hookOf(type: EventType): string | undefined {
	const entry: Entry<never> | undefined = ENTRIES[type];
	return entry?.hook;
}

/** The level of an event in the log. */
export function logLevelOf(type: EventType): "debug" | "info" | "warn" {
	const entry: Entry<never> | undefined = ENTRIES[type];
	return entry?.log ?? "debug";
}

function reportSuffix({ told: isReported }: Amended): string {
	return isReported ? "; the agent is told in its next turn" : "";
}

/** A delivery's id ends in the number of its part. */
function part({ subject }: { readonly subject: string | null }): string {
	return `Part ${subject?.split(":").at(-1) ?? "?"}`;
}

function when({ kind }: { readonly kind: CheckpointKind }): string {
	return kind === "before" || kind === "after" ? `${kind} its changes` : "at the end of the session";
}
