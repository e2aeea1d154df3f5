// The wire types under the page's names.
import type {
	EventKind,
	EventType,
	WireConversation,
	WireDelivery,
	WireDelta,
	WireEvent,
	WireMessage,
	WireSession,
} from "../../../src/http/schemas.ts";

export type { EventKind, EventType };
export type Conversation = WireConversation;
export type Session = WireSession;
export type Message = WireMessage;
export type Delivery = WireDelivery;
export type LiveEvent = WireEvent;
export type Delta = WireDelta;
