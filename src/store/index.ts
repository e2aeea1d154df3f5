// keryx/store: the one store, in the words of the domain.

export { systemClock, systemIds } from "./ids.ts";
export { type Clock, type Ids, type OpenOptions, openStore, type Store } from "./store.ts";
export type {
	BusyMode,
	Content,
	Conversation,
	Counters,
	Delivery,
	DeliveryBody,
	DeliveryState,
	Destination,
	Disposition,
	InboxItem,
	InboxKind,
	Message,
	MetaKind,
	NewDelivery,
	NewMessage,
	Part,
	Range,
	Role,
	Scope,
	Session,
	StoreEvent,
	ToolCall,
	Turn,
	TurnState,
} from "./types.ts";
