// What the gateway asks of a way in and out. A channel normalises, transports and reports outcomes honestly: "they refused"
// and "we do not know" are two answers. It never computes addresses, never retries by itself, never decides who may speak.
import type { Content, ConversationId } from "../domain/index.ts";
import type { DeliveryBody, Destination, Poster } from "../store/index.ts";

export interface Inbound {
	/** On the wire, snake_case. */
	readonly source: Readonly<Record<string, unknown>>;
	/** The platform's id of the message, unique within the chat; our own ways in send a client message id. */
	readonly platformMessage: string;
	readonly content: Content;
	readonly blobs?: readonly string[];
	/** Somebody who was found to be allowed to speaks in this conversation, whatever the source's address leads to. */
	readonly conversation?: ConversationId;
	/** False for what was seen in a group and not meant for the agent. */
	readonly addressed?: boolean;
	/** When it was sent, where the platform says so. */
	readonly sentAt?: number;
	/** Committed together with the message; the channel asks for it at start. */
	readonly cursor?: string;
	/** Facts that only the transport knows. */
	readonly transport?: {
		readonly isBot?: boolean;
		/** Written by Keryx itself: always refused. */
		readonly own?: boolean;
		/** The way in lets its caller choose a profile: the source's counts. */
		readonly mayChooseProfile?: boolean;
		/** What the way in lets its caller be, whom it has authenticated itself. */
		readonly role?: "owner" | "member" | "guest";
		/** The sender's roles on the platform. */
		readonly roles?: readonly string[];
		/** Who posted it on a way in of our own. What a channel brings has none. */
		readonly poster?: Poster;
	};
}

/** What became of an inbound message so far; only after this may the platform be told that it was taken. */
export interface Admission {
	readonly id: number;
	readonly conversation: string | null;
	readonly duplicate: boolean;
	readonly refused: string | null;
}

export interface Outgoing {
	/** Stable over retries: an idempotency key where the platform has one. */
	readonly id: string;
	readonly destination: Destination;
	readonly body: DeliveryBody;
	/** Send the plain twin: the platform refused the markup. */
	readonly plain: boolean;
}

export type SendResult =
	| { readonly kind: "sent"; readonly receipt: string }
	/** Certainly not taken; try again, no earlier than the platform asked. */
	| { readonly kind: "retry"; readonly afterMs?: number; readonly reason: string }
	/** The platform does not understand the markup: the plain twin is sent. */
	| { readonly kind: "markup_refused" }
	| { readonly kind: "refused"; readonly reason: string }
	/** It may have been taken, or not. */
	| { readonly kind: "unknown"; readonly reason: string };

export interface ChannelHealth {
	/** In any but connected, what is to be sent waits; that uses up none of its attempts. */
	readonly state: "starting" | "connected" | "degraded" | "stopped";
	/** The last time the platform answered. */
	readonly aliveAt: number | null;
	readonly detail?: string;
}

export interface ChannelHost {
	/** Resolves after the commit. Rejects when nothing was committed: the platform must deliver again. */
	accept(inbound: Inbound): Promise<Admission>;
	/** Where the platform's updates were last read to. */
	cursor(): Promise<string | null>;
}

export interface Channel {
	readonly platform: string;
	readonly account: string;
	start(host: ChannelHost): Promise<void>;
	stop(): Promise<void>;
	send(outgoing: Outgoing): Promise<SendResult>;
	/** Replaces a message that was sent; without it, nothing is previewed. */
	edit?(receipt: string, outgoing: Outgoing): Promise<SendResult>;
	typing?(destination: Destination): Promise<void>;
	/** Looks up what became of a delivery by its id. */
	lookup?(
		id: string,
		destination: Destination,
	): Promise<{ readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" | "unknown" }>;
	health(): ChannelHealth;
}
