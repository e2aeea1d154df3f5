// keryx/store: the one store, in the words of the domain.

export {
	type Archive,
	type ArchiveOptions,
	archiveConversation,
	type Pruned,
	type PruneOptions,
	pruneConversation,
} from "./archive.ts";
export type { Drawn, Engine, ReadName, WriteName } from "./engine.ts";
export { systemClock, systemIds } from "./ids.ts";
export { exportMarkdown } from "./markdown.ts";
export { destinationOf } from "./operations/destination.ts";
export type { ExportWhat } from "./operations/export.ts";
export type { Undone } from "./operations/history.ts";
export type { ImportCounts } from "./operations/import-lookup.ts";
export type { Insights } from "./operations/insights.ts";
export type { Reachable } from "./operations/reach.ts";
export type { Held, PruneCandidates } from "./operations/retention.ts";
export type { SearchArgs, SearchHit, SearchResult } from "./operations/search.ts";
export type { Changed } from "./operations/session-commands.ts";
export type { Spent } from "./operations/usage.ts";
export { SCHEMA_VERSION } from "./schema.ts";
export type { SnippetPiece } from "./search-snippet.ts";
export { ownerOf } from "./sqlite/ownership.ts";
export {
	type Clock,
	type Ids,
	type OpenOptions,
	openEngine,
	openStore,
	type Store,
	storeOn,
} from "./store.ts";
export { type ExportOptions, exportJsonl, type ImportOptions, importJsonl, linesOf } from "./transfer.ts";
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
	ToolProgress,
	Turn,
	TurnPurpose,
	TurnState,
} from "./types.ts";
