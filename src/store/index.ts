// keryx/store: the one store, in the words of the domain (I1).
// An operation is one transaction; all SQL is below `operations`, and each engine has a folder.
// Never here: waiting, retrying, sending, or a decision that a pure domain function can make.

export { createSecrets, NO_SECRETS, type Secrets } from "../secrets/index.ts";
export { systemClock } from "../time/index.ts";
export {
	type Archive,
	type ArchiveOptions,
	archiveConversation,
	type Pruned,
	type PruneOptions,
	pruneConversation,
} from "./archive.ts";
export { ASK_EVERY_MS, Duty } from "./duty.ts";
export {
	BROADCAST_BYTES,
	type Cluster,
	type Drawn,
	type Engine,
	type MigrationProgress,
	type NodeOptions,
	type ReadName,
	type StoreFacts,
	type WriteName,
} from "./engine.ts";
export {
	EVENT_TYPES,
	type EventKind,
	type EventOf,
	type EventType,
	hookOf,
	logLevelOf,
	type StoreEvent,
	TURN_BEGINS,
	tellEvent,
} from "./events.ts";
export { systemIds } from "./ids.ts";
export { readInsights } from "./insights.ts";
export { exportMarkdown } from "./markdown.ts";
export { type MovedTable, type MoveProgress, moveStore } from "./move/move.ts";
export type { LastBackup } from "./operations/backups.ts";
export type { EndedRestore } from "./operations/checkpoints.ts";
export type { AuditFilter, Verified } from "./operations/confirmations/audit.ts";
export type { AskedForCall, UsedForTurn } from "./operations/confirmations/calls.ts";
export type {
	Cancelled,
	Consumed,
	ResolveArgs,
	Resolved,
} from "./operations/confirmations/confirmations.ts";
export type { ConfirmationScope, DueNotice } from "./operations/confirmations/read.ts";
export type { ConfirmationRequest, Requested } from "./operations/confirmations/request.ts";
export type { AuditStanding } from "./operations/confirmations/witness.ts";
export { destinationOf } from "./operations/deliveries/destination.ts";
export type { Send } from "./operations/deliveries/sends.ts";
export type { Pressed } from "./operations/inbox/presses.ts";
export type { Woken } from "./operations/inbox/wake.ts";
export type { LiveEvent } from "./operations/live-events.ts";
export type { PairingDecision, PairingRef } from "./operations/people/pairings.ts";
export type { SpeakerFacts } from "./operations/people/speaker-facts.ts";
export type { BeginProcessArgs, BegunProcess } from "./operations/processes/begin.ts";
export type { EndProcessArgs } from "./operations/processes/end.ts";
export type { ProcessScope } from "./operations/processes/read.ts";
export {
	COMPAT,
	isOnItsWay,
	noticeId,
	pairingNoticeId,
	runId,
} from "./operations/row-ids.ts";
export type { JobChanges } from "./operations/schedules/jobs.ts";
export type { RunWork } from "./operations/schedules/read.ts";
export type { JobScope } from "./operations/schedules/rows.ts";
export type { SearchArgs, SearchHit, SearchResult } from "./operations/search/search.ts";
export type { BranchPoint, Changed } from "./operations/sessions/commands.ts";
export type { Reachable } from "./operations/sessions/reach.ts";
export type { ConversationRef } from "./operations/sessions/read-conversations.ts";
export type { Held, PruneCandidates } from "./operations/sessions/retention.ts";
export type { Undone, UndoTarget } from "./operations/transcript/history.ts";
export { type PackedTranscript, unpackTranscript } from "./operations/transcript/packed.ts";
export type { ExportWhat } from "./operations/transfer/export.ts";
export type { ImportCounts } from "./operations/transfer/import-lookup.ts";
export type { Spent } from "./operations/turns/usage.ts";
export type { Workload } from "./operations/workload.ts";
export { OPERATOR } from "./operator.ts";
export { isPassing } from "./passing.ts";
export { shownUrl } from "./postgres/address.ts";
export { NodeCalls } from "./postgres/node-calls.ts";
export { SCHEMA_VERSION } from "./schema.ts";
export type { SnippetPiece } from "./search-snippet.ts";
export { isAlive, ownerOf, tryLock } from "./sqlite/ownership.ts";
export { glanceAt, inspectStore, replaceStore, saveStore } from "./sqlite/snapshot.ts";
export { beginWitness } from "./sqlite/witness.ts";
export {
	type Ids,
	migrateStore,
	type OpenOptions,
	openEngine,
	openStore,
	type Store,
	serverFacts,
	storeOn,
} from "./store.ts";
export {
	type ExportOptions,
	exportJsonl,
	exportTexts,
	type ImportOptions,
	importJsonl,
	linesOf,
} from "./transfer.ts";
export type { ExportLine } from "./transfer-format.ts";
export { parseLine } from "./transfer-parse.ts";
export type {
	Asked,
	AuditEntry,
	AuditVia,
	BusyMode,
	Button,
	Checkpoint,
	CheckpointKind,
	CheckpointWindow,
	ConfigChangeEntry,
	ConfigEdit,
	Confirmation,
	ConfirmationStatus,
	Content,
	Conversation,
	ConversationState,
	Counters,
	Delivery,
	DeliveryBody,
	DeliveryState,
	Destination,
	Disposition,
	FirstRun,
	FirstRunStep,
	Grant,
	GrantScope,
	HomeChannel,
	InboxItem,
	InboxKind,
	Job,
	JobRun,
	JobState,
	JobTarget,
	JobTask,
	LiveLogin,
	Message,
	NewButton,
	NewDelivery,
	NewJob,
	NewMessage,
	OperatorScope,
	OutgoingFile,
	Pairing,
	Part,
	PausedBecause,
	Person,
	PersonRole,
	Poster,
	Process,
	ProcessEnd,
	ProcessIdentity,
	ProcessNotify,
	ProcessStatus,
	QuestionEnds,
	Range,
	Restore,
	RestoreTogether,
	Role,
	RunState,
	Scope,
	Session,
	Token,
	TokenRole,
	ToolCall,
	ToolProgress,
	Turn,
	TurnPurpose,
	TurnState,
} from "./types.ts";
