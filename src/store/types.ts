// What goes into the store and comes out of it: plain data, readonly, in the words of the glossary. A file per subject.
export type {
	Content,
	Message,
	NewMessage,
	Part,
	PersonRole,
	Quote,
	Range,
	Role,
	RowKind,
	Speaker,
	ToolCall,
} from "../domain/index.ts";
export type {
	AuditEntry,
	AuditVia,
	ConfigChangeEntry,
	ConfigEdit,
	FirstRun,
	FirstRunStep,
	Witness,
	WitnessFound,
} from "./types/audit.ts";
export type {
	Checkpoint,
	CheckpointKind,
	CheckpointWindow,
	Restore,
	RestoreTogether,
} from "./types/checkpoints.ts";
export type { Confirmation, ConfirmationStatus, Grant, GrantScope } from "./types/confirmations.ts";
export type {
	BusyMode,
	Conversation,
	ConversationState,
	Counters,
	OperatorScope,
	Scope,
	Session,
	ToolProgress,
} from "./types/conversations.ts";
export type {
	Asked,
	Button,
	Delivery,
	DeliveryBody,
	DeliveryState,
	Destination,
	NewButton,
	NewDelivery,
	OutgoingFile,
	QuestionEnds,
} from "./types/deliveries.ts";
export type {
	Job,
	JobRun,
	JobState,
	JobTarget,
	JobTask,
	NewJob,
	PausedBecause,
	RunState,
} from "./types/jobs.ts";
export type {
	HomeChannel,
	LiveLogin,
	LoginEntry,
	Pairing,
	PairingState,
	Person,
	Token,
	TokenRole,
} from "./types/people.ts";
export type {
	Process,
	ProcessEnd,
	ProcessIdentity,
	ProcessNotify,
	ProcessStatus,
} from "./types/processes.ts";
export type {
	Disposition,
	InboxItem,
	InboxKind,
	Poster,
	Turn,
	TurnPurpose,
	TurnState,
} from "./types/turns.ts";
