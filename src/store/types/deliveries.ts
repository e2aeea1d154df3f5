// Messages on their way out: where to, what, and how far.
import type { ConversationId } from "../../domain/index.ts";

/** Where a reply goes: a value on the inbound message, never looked up later. Ids only, no names. */
export interface Destination {
	readonly platform: string;
	readonly account: string;
	readonly chatId: string;
	readonly threadId?: string;
	readonly replyTo?: string;
	readonly userId?: string;
	/** Several people read there. */
	readonly group?: true;
}

export type DeliveryState = "open" | "pending" | "sending" | "sent" | "unknown" | "dead";

/** One outgoing part: the platform's markup, and the plain text for when the markup is refused. */
export interface DeliveryBody {
	readonly text: string;
	readonly plain: string;
	/** With the first part of a command's answer: no row or inbound message keeps the command's text. */
	readonly asked?: Asked;
	/** Files sent with it; the text is their caption. */
	readonly attachments?: readonly OutgoingFile[];
	/** In rows. Only the store knows what pressing one does. */
	readonly buttons?: readonly (readonly Button[])[];
	/** The delivery whose message this one replaces. */
	readonly edits?: string;
}

/** An outgoing file of the conversation. */
export interface OutgoingFile {
	/** The digest of its blob. */
	readonly blob: string;
	readonly name: string;
	readonly mediaType: string;
	/** In bytes. */
	readonly size: number;
	readonly caption?: string;
}

export interface Button {
	/** Opaque, at most 64 bytes: all that the platform knows of it. */
	readonly id: string;
	readonly label: string;
	readonly style?: "primary" | "danger" | "plain";
}

/** What a button of a delivery does, and for whom. */
export interface NewButton {
	readonly id: string;
	/** Runs as if the presser had written it there. */
	readonly command: string;
	/** Who may press besides the owner; null: nobody. */
	readonly principal: string | null;
	/** False: only that person, not even the owner. */
	readonly owner: boolean;
	/** It does nothing after that. */
	readonly until: number;
	/** The confirmation it answers: the button ends with it. */
	readonly confirmation?: string;
}

/** What a question's message becomes when it is settled. */
export type QuestionEnds = Readonly<
	Record<"approved" | "denied" | "expired" | "cancelled", Pick<DeliveryBody, "text" | "plain">>
>;

/** A command as written. */
export interface Asked {
	readonly inbox: number;
	readonly platformMessage: string;
	readonly platform: string;
	/** The writer's name, if the platform gave one. */
	readonly name: string | null;
	readonly text: string;
	readonly at: number;
}

export interface NewDelivery {
	/** Derived from its context (turn and part), so that a repeated write is the same row. */
	readonly id: string;
	readonly kind: "reply" | "notice" | "command";
	readonly destination: Destination;
	readonly body: DeliveryBody;
	/** The platform asked for a pause: not due before this. */
	readonly notBefore?: number;
	/** The effects of the body's buttons; committed with it. */
	readonly presses?: readonly NewButton[];
	/** With a confirmation's buttons, if messages can be edited. */
	readonly ends?: QuestionEnds;
}

export interface Delivery extends NewDelivery {
	readonly n: number;
	readonly conversation: ConversationId;
	readonly turn: string | null;
	readonly state: DeliveryState;
	readonly receipt: string | null;
	readonly reason: string | null;
	readonly attempts: number;
	readonly createdAt: number;
	readonly settledAt: number | null;
	readonly dueAt: number | null;
}
