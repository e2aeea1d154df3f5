// Messages on their way in, and the turns that answer them.
import type { Content, ConversationId, PersonRole, SessionId, Source, Speaker } from "../../domain/index.ts";
import type { AuditVia } from "./audit.ts";
import type { Destination } from "./deliveries.ts";

export type Disposition =
	| { readonly kind: "answered" | "merged" | "stopped"; readonly turn: string }
	| { readonly kind: "command"; readonly name: string }
	| { readonly kind: "observed" | "dropped_by_user" }
	| { readonly kind: "refused" | "expired" | "failed"; readonly reason: string };

export type InboxKind = "person" | "confirmation" | "process" | "schedule";

export interface InboxItem {
	readonly id: number;
	readonly kind: InboxKind;
	readonly conversation: ConversationId | null;
	readonly principal: string | null;
	readonly source: Source | null;
	readonly platformMessage: string;
	/** Null once its message row exists, or if it was refused. */
	readonly content: Content | null;
	/** The sender's role on admission; kept as long as the content. */
	readonly role: PersonRole | null;
	/** The platform role that admitted its sender. */
	readonly platformRole: string | null;
	/** The poster; null if a channel delivered it. Kept as long as the content. */
	readonly poster: Poster | null;
	/** Edited while it waited: never a command. */
	readonly amended: boolean;
	/** A command that took effect and is not yet answered. */
	readonly command: { readonly name: string; readonly result: unknown } | null;
	readonly acceptedAt: number;
	/** When its sender wrote it, if known; kept as long as the content. */
	readonly sentAt: number;
	readonly turn: string | null;
	readonly message: number | null;
	readonly disposition: Disposition | null;
	readonly disposedAt: number | null;
}

/**
 * The writer of a message who is not a person known to a channel: a program on the API, a platform's bot, or someone the platform does
 * not vouch for.
 */
export interface Poster {
	/** Its name in the audit. */
	readonly who: string;
	readonly via: AuditVia;
	/** Has proved to be someone who may decide. */
	readonly decides: boolean;
	/** A person, but only by their own claim. */
	readonly unproven?: true;
}

export type TurnState = "running" | "interrupted" | "completed" | "failed" | "stopped" | "expired";

/** An answer to messages, or a summary, which answers nothing. */
export type TurnPurpose = "answer" | "compaction";

export interface Turn {
	readonly id: string;
	readonly conversation: ConversationId;
	readonly session: SessionId;
	readonly principal: string | null;
	/** Whom it speaks for (I18). */
	readonly speakers: readonly Speaker[];
	readonly token: number;
	readonly state: TurnState;
	readonly detail: string | null;
	/** The node that ran it last. */
	readonly node: number;
	readonly attempts: number;
	readonly destination: Destination;
	readonly startedAt: number;
	readonly interruptedAt: number | null;
	readonly endedAt: number | null;
}
