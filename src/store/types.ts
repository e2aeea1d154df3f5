// What goes into the store and comes out of it: plain data, readonly, in the words of the glossary.
import type {
	CatchUp,
	ChatType,
	Content,
	ConversationId,
	EndReason,
	ModelOverride,
	PersonRole,
	SessionId,
	Source,
	Speaker,
	Target,
	Timing,
} from "../domain/index.ts";

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

export interface Counters {
	readonly messages: number;
	readonly toolCalls: number;
	readonly toolErrors: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
	readonly lastPromptTokens: number;
	readonly costMicros: number;
	readonly costStatus: "none" | "known" | "partial" | "unknown";
}

export interface Session extends Counters {
	readonly id: SessionId;
	readonly conversation: ConversationId;
	readonly base: {
		readonly session: SessionId;
		readonly seq: number;
		readonly kind: "continue" | "branch";
	} | null;
	readonly startedAt: number;
	readonly lastActivityAt: number;
	readonly endedAt: number | null;
	readonly endReason: EndReason | null;
	readonly suspendedAt: number | null;
	readonly resumePendingSince: number | null;
	readonly cap: number;
	readonly title: string | null;
	readonly titleSource: "derived" | "model" | "user" | null;
	/** The context block as rendered when the session opened. */
	readonly context: string;
	/** The conversation's live session, or null: only sending follows it. */
	readonly live: SessionId | null;
}

export type BusyMode = "queue" | "interrupt" | "steer";

/** What is shown of the tools at work: each call with its arguments, the present one, or nothing. */
export type ToolProgress = "all" | "new" | "off";

/** deleted: hidden, and restorable until retention removes it. */
export type ConversationState = "open" | "archived" | "deleted";

export interface Conversation {
	readonly id: ConversationId;
	readonly key: string;
	readonly platform: string;
	readonly profile: string;
	readonly chatType: ChatType;
	readonly principal: string | null;
	readonly shared: boolean;
	/** What it is called: its title, or else who it is with and where. */
	readonly name: string;
	readonly title: string | null;
	readonly titleSource: "model" | "user" | null;
	readonly state: ConversationState;
	/** When it came into this state; null for one that was never put away. */
	readonly stateAt: number | null;
	readonly pinnedAt: number | null;
	/** A confirmation of it waits for a human. */
	readonly isWaiting: boolean;
	/** Who it is with, in the words of the agent's prompt. */
	readonly displayName: string;
	readonly preview: string;
	/** Where the last inbound message came from. */
	readonly source: Source;
	readonly messageCount: number;
	readonly createdAt: number;
	readonly lastActivityAt: number;
	readonly liveSession: SessionId | null;
	readonly firstSession: SessionId | null;
	readonly modelOverride: ModelOverride | null;
	/** Null: as configured. */
	readonly busy: BusyMode | null;
	readonly toolProgress: ToolProgress | null;
	/** It was begun elsewhere, where the same names may mean others. */
	readonly isImported?: true;
}

export type Disposition =
	| { readonly kind: "answered" | "merged" | "stopped"; readonly turn: string }
	| { readonly kind: "command"; readonly name: string }
	| { readonly kind: "observed" | "dropped_by_user" }
	| { readonly kind: "refused" | "expired" | "failed"; readonly reason: string };

export type InboxKind = "person" | "confirmation" | "process" | "schedule";

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

export interface InboxItem {
	readonly id: number;
	readonly kind: InboxKind;
	readonly conversation: ConversationId | null;
	readonly principal: string | null;
	readonly source: Source | null;
	readonly platformMessage: string;
	/** Null once its message row exists, or when it was refused. */
	readonly content: Content | null;
	/** What its sender was let in as; kept as long as the content. */
	readonly role: PersonRole | null;
	/** The platform's own role that let its sender in. */
	readonly platformRole: string | null;
	/** Who posted it; null where a channel brought it. Kept as long as the content. */
	readonly poster: Poster | null;
	/** Its sender changed it while it waited: never a command. */
	readonly amended: boolean;
	/** A command that took effect and is not yet answered. */
	readonly command: { readonly name: string; readonly result: unknown } | null;
	readonly acceptedAt: number;
	/** When its sender wrote it, as far as known; kept as long as the content. */
	readonly sentAt: number;
	readonly turn: string | null;
	readonly message: number | null;
	readonly disposition: Disposition | null;
	readonly disposedAt: number | null;
}

/**
 * Whoever wrote a message without being a person whom a channel knows: a program through the API, a platform's bot, or somebody whom the
 * platform does not vouch for.
 */
export interface Poster {
	/** As the audit names it. */
	readonly who: string;
	readonly via: AuditVia;
	/** Has shown to be somebody who may decide. */
	readonly decides: boolean;
	/** A person, but only by what they say of themselves. */
	readonly unproven?: true;
}

export type TurnState = "running" | "interrupted" | "completed" | "failed" | "stopped" | "expired";

/** An answer to messages, or a summary of what was said, which answers nothing. */
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
	readonly attempts: number;
	readonly destination: Destination;
	readonly startedAt: number;
	readonly interruptedAt: number | null;
	readonly endedAt: number | null;
}

export type DeliveryState = "open" | "pending" | "sending" | "sent" | "unknown" | "dead";

/** One part on its way out: the platform's markup, and the plain text that is sent where the markup is refused. */
export interface DeliveryBody {
	readonly text: string;
	readonly plain: string;
	/** With the first part of the answer to a command: no row and no inbound message keeps what was written. */
	readonly asked?: Asked;
	/** Files that go out with it; the text is what is said of them. */
	readonly attachments?: readonly OutgoingFile[];
	/** In rows. What pressing one does is in the store alone. */
	readonly buttons?: readonly (readonly Button[])[];
	/** The delivery whose message this one replaces. */
	readonly edits?: string;
}

/** A file of the conversation on its way out. */
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
	/** Opaque, at most 64 bytes: all that the platform keeps of what it does. */
	readonly id: string;
	readonly label: string;
	readonly style?: "primary" | "danger" | "plain";
}

/** What a button of a delivery does, and for whom. */
export interface NewButton {
	readonly id: string;
	/** Carried out as if whoever presses had written it there. */
	readonly command: string;
	/** Who may press beside the owner; null: nobody. */
	readonly principal: string | null;
	/** False: only that person, not even the owner. */
	readonly owner: boolean;
	/** From then on it does nothing. */
	readonly until: number;
	/** The confirmation that it answers: when that is over, so is the button. */
	readonly confirmation?: string;
}

/** What a question's message becomes when it was answered, in whatever way, or is over. */
export type QuestionEnds = Readonly<
	Record<"approved" | "denied" | "expired" | "cancelled", Pick<DeliveryBody, "text" | "plain">>
>;

/** A command as it was written. */
export interface Asked {
	readonly inbox: number;
	readonly platformMessage: string;
	readonly platform: string;
	/** Of who wrote it, where the platform told. */
	readonly name: string | null;
	readonly text: string;
	readonly at: number;
}

export interface NewDelivery {
	/** Derived from what it belongs to (turn and part), so that a repeated write is the same row. */
	readonly id: string;
	readonly kind: "reply" | "notice" | "command";
	readonly destination: Destination;
	readonly body: DeliveryBody;
	/** The platform asked for a pause: not due before this. */
	readonly notBefore?: number;
	/** What the body's buttons do; committed with it. */
	readonly presses?: readonly NewButton[];
	/** With the buttons of a confirmation, where messages can be edited. */
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

/** Keryx itself, or who runs it. */
export interface OperatorScope {
	readonly kind: "operator";
}

/** Who reads. There is no default: a principal sees its own conversations, and the one it is speaking in, within one profile. */
export type Scope =
	| OperatorScope
	| {
			readonly kind: "principal";
			readonly principal: string;
			/** null: in every profile, for somebody who looks at all of their own conversations. */
			readonly profile: string | null;
			readonly conversation?: ConversationId;
	  };

export type ConfirmationStatus =
	| "pending"
	| "approved"
	| "denied"
	| "expired"
	| "cancelled"
	| "consumed"
	| "auto_approved";

/** A question to a human about one exact action (I14). */
export interface Confirmation {
	readonly id: string;
	readonly action: string;
	readonly description: string;
	readonly details: Readonly<Record<string, unknown>>;
	/** What the asker calls itself; who it is stands in `askedBy`. */
	readonly requester: string;
	readonly sessionKey: string;
	readonly status: ConfirmationStatus;
	/** Over action, details, requester and session key. */
	readonly digest: string;
	/** Who was authenticated: `token:<name>`, or `agent:<profile>` for Keryx's own. */
	readonly askedBy: string;
	/** program: asks for the outcome itself. turn: the outcome begins a turn. live: a running turn waits for it. */
	readonly waiter: "program" | "turn" | "live";
	readonly conversation: ConversationId | null;
	/** The turn that asked, and what it wants to call. */
	readonly turn: string | null;
	readonly call: string | null;
	readonly tool: string | null;
	readonly timeoutSeconds: number;
	readonly createdAt: number;
	readonly expiresAt: number;
	readonly resolvedAt: number | null;
	/** Who was authenticated, `grant:<id>`, or `system:timeout`. */
	readonly resolvedBy: string | null;
	/** What the resolver calls itself; nobody has checked it. */
	readonly resolvedLabel: string | null;
	readonly reason: string | null;
	/** The arguments that were asked about, where the approver changed them. */
	readonly detailsBefore: Readonly<Record<string, unknown>> | null;
	readonly usedAt: number | null;
	/** When an approval that nobody used ran out; who gave it, and when, stays. */
	readonly useExpiredAt: number | null;
	/** Who was to be told, and how that went. */
	readonly notices: readonly { readonly to: string; readonly state: "pending" | "sent" | "dead" }[];
}

export type GrantScope = "session" | "conversation" | "always";

/** A human's standing yes. */
export interface Grant {
	readonly id: string;
	readonly scope: GrantScope;
	readonly action: string;
	readonly pattern: string | null;
	/** Whose requests it serves; null: everybody's. */
	readonly askedBy: string | null;
	/** The one person whose turns it serves; null: everybody's but a guest's. */
	readonly principal: string | null;
	readonly sessionKey: string | null;
	readonly session: string | null;
	readonly until: number | null;
	readonly createdAt: number;
	readonly createdBy: string;
	readonly revokedAt: number | null;
	readonly revokedBy: string | null;
}

export type AuditVia = "page" | "chat" | "api" | "cli" | "agent" | "system";

export interface AuditEntry {
	readonly n: number;
	readonly at: number;
	readonly kind:
		| "requested"
		| "auto_approved"
		| "approved"
		| "denied"
		| "expired"
		| "cancelled"
		| "consumed"
		| "refused"
		| "granted"
		| "grant_revoked"
		| "token_created"
		| "token_revoked"
		/** A login link was made for somebody, who becomes a person of this role; a browser was logged in; logins ended. */
		| "login_offered"
		| "login_made"
		| "login_revoked"
		/** A stranger was let in, refused, or sent away again. */
		| "paired"
		| "unpaired"
		/** A human took the audit for right that was not what its witness saw. */
		| "audit_accepted"
		/** Programs run without walls from here on, because the configuration says so. */
		| "walls_off"
		/** Somebody changed config.yaml through Keryx. Recorded before the file is written; where that failed, a second entry says so. */
		| "config_changed"
		| "config_not_written";
	readonly confirmation: string | null;
	readonly who: string;
	readonly via: AuditVia;
	readonly facts: Readonly<Record<string, unknown>>;
	/** The code over this entry and the one before. */
	readonly mac: string;
}

/** Connect a model; add a chat; be known there, or say something here. */
export type FirstRunStep = "model" | "chat" | "you";

/** One key of config.yaml. null: the file did not, or does not, name it, so its default holds. */
export interface ConfigEdit {
	readonly key: string;
	readonly before: unknown;
	readonly after: unknown;
	/** What was there held a secret, which is not kept: it cannot be put back. */
	readonly lost?: boolean;
}

/** One change of config.yaml that was made through Keryx. */
export interface ConfigChangeEntry {
	/** Of its entry in the audit. */
	readonly n: number;
	readonly at: number;
	readonly who: string;
	readonly via: AuditVia;
	readonly edits: readonly ConfigEdit[];
	/** The change that this one took back. */
	readonly undoes: number | null;
	/** Why the file was not written after all. */
	readonly failed: string | null;
}

export interface FirstRun {
	readonly ended: boolean;
	readonly skipped: readonly FirstRunStep[];
}

/** Of the audit, kept outside the store. */
export interface Witness {
	readonly count: number;
	/** The code of that entry; empty where there was none. */
	readonly last: string;
	readonly mac: string;
}

/** unkept: whoever opened the store named none. */
export type WitnessFound =
	| { readonly kind: "unkept" | "missing" | "unreadable" }
	| { readonly kind: "found"; readonly witness: Witness };

/** operator: everything. approver: resolves, reads. agent: asks, reads and uses its own. reader: reads. channel: speaks for one channel. */
export type TokenRole = "operator" | "approver" | "agent" | "reader" | "channel";

export interface Token {
	readonly name: string;
	readonly role: TokenRole;
	readonly principal: string;
	/** The one conversation that its holder may name; null: any. */
	readonly sessionKey: string | null;
	/** With the role channel: the one it speaks for. */
	readonly channel: string | null;
	readonly createdAt: number;
	readonly createdBy: string;
	readonly expiresAt: number | null;
	readonly revokedAt: number | null;
}

/** Somebody who logs in to the page under a name. */
export interface Person {
	readonly name: string;
	readonly role: PersonRole;
}

/** One browser of a person. */
export interface LoginEntry {
	readonly id: string;
	readonly person: Person;
	readonly createdAt: number;
	readonly expiresAt: number;
	readonly revokedAt: number | null;
}

/** A login that is valid. */
export interface LiveLogin extends LoginEntry {
	readonly principal: string;
}

/** As its owner set it in a chat. */
export interface HomeChannel {
	readonly platform: string;
	readonly account: string;
	readonly chatId: string;
	readonly threadId?: string;
	readonly name: string;
	readonly setAt: number;
}

export type PairingState = "open" | "approved" | "denied" | "expired" | "revoked";

/** A stranger's request to be let in, and what became of it. */
export interface Pairing {
	readonly n: number;
	readonly platform: string;
	readonly account: string;
	/** The sender's id on the platform. */
	readonly id: string;
	/** What the sender calls itself; untrusted. */
	readonly name: string | null;
	readonly state: PairingState;
	readonly role: PersonRole | null;
	readonly principal: string | null;
	readonly destination: Destination;
	readonly askedAt: number;
	readonly expiresAt: number;
	readonly decidedAt: number | null;
	readonly decidedBy: string | null;
}

export type ProcessStatus = "starting" | "running" | "exited" | "killed" | "lost" | "failed_start";

/** What the conversation is told of a process in the background: nothing, its end, that and its progress, or only that it failed. */
export type ProcessNotify = "none" | "result" | "all" | "error";

/** Which process is meant: a pid alone is given again. */
export interface ProcessIdentity {
	readonly bootId: string;
	readonly pid: number;
	readonly startTime: string;
}

export interface ProcessEnd {
	readonly status: "exited" | "killed" | "lost" | "failed_start";
	readonly exitCode: number | null;
	readonly signal: string | null;
	/** In words, for the record. */
	readonly cause: string;
}

/** A program that the agent started. */
export interface Process {
	readonly id: string;
	readonly conversation: ConversationId;
	readonly turn: string | null;
	/** Of the turn that started it. */
	readonly role: PersonRole | null;
	readonly backend: string;
	readonly command: string;
	readonly cwd: string;
	/** The kind of wall that it runs behind; null: none, or it was started before that was noted. */
	readonly wall: string | null;
	readonly status: ProcessStatus;
	readonly background: boolean;
	readonly pty: boolean;
	readonly notify: ProcessNotify;
	readonly checkMs: number | null;
	readonly identity: ProcessIdentity | null;
	readonly exitCode: number | null;
	readonly signal: string | null;
	readonly cause: string | null;
	/** Output up to here, in bytes from its beginning, has been handed to the conversation, or reported to its chat. */
	readonly polledTo: number;
	readonly checkedTo: number;
	/** Known once it has ended. */
	readonly logBytes: number | null;
	readonly logLost: number | null;
	readonly destination: Destination;
	/** When its progress is reported next; null: not at all. */
	readonly nextCheckAt: number | null;
	readonly startedAt: number;
	readonly endedAt: number | null;
}

/** When a checkpoint was taken: about a turn's changes of files, at a rotation, on demand, or around a restore. */
export type CheckpointKind = "before" | "after" | "rotation" | "manual" | "restore";

/** A snapshot of a workspace's files. */
export interface Checkpoint {
	/** Later ones have greater numbers. */
	readonly n: number;
	readonly id: string;
	/** The name of its repository. */
	readonly workspace: string;
	/** Where the workspace is. */
	readonly folder: string;
	readonly kind: CheckpointKind;
	readonly label: string;
	readonly conversation: string | null;
	readonly session: string | null;
	readonly turn: string | null;
	readonly commit: string;
	readonly tree: string;
	/** How many it holds. */
	readonly files: number;
	/** Against the one before; null for the first. */
	readonly changed: {
		readonly files: number;
		readonly insertions: number;
		readonly deletions: number;
	} | null;
	/** What of the workspace it does not hold, by reason. */
	readonly excluded: readonly {
		readonly reason: string;
		readonly count: number;
		readonly examples: readonly string[];
	}[];
	readonly at: number;
}

/** The stretch between two checkpoints that is a turn's, or a restore's. */
export interface CheckpointWindow {
	readonly owner: string;
	readonly from: number;
	/** Null: it has no end that is known. */
	readonly to: number | null;
}

/** What takes effect in the transaction that ends a restore, also where that comes after a crash. */
export interface RestoreTogether {
	/** The chat goes back by so many turns, which begin with this row. */
	readonly undo?: { readonly conversation: ConversationId; readonly turns: number; readonly row: number };
	/** The message that asked for it. */
	readonly command?: { readonly inbox: number; readonly name: string };
}

/** A restore that was begun and has not ended. */
export interface Restore {
	readonly id: string;
	readonly workspace: string;
	readonly folder: string;
	readonly target: string;
	readonly before: string;
	readonly plan: unknown;
	readonly begunAt: number;
}

/** What a job does: asks the agent, sends a text as it is, or runs a command. */
export interface JobTask {
	readonly kind: "prompt" | "text" | "command";
	readonly text: string;
}

/** Where something is sent, resolved when it was given. */
export interface JobTarget {
	readonly target: Target;
	/** As people read it. Names in it are untrusted. */
	readonly shown: string;
	/** A human agreed to it. Otherwise it is used only as long as nobody has to. */
	readonly approved: boolean;
}

export interface NewJob extends Timing {
	readonly name: string;
	readonly task: JobTask;
	readonly catchUp: CatchUp;
	/** A run that would begin later is missed; null: however late. */
	readonly maxDelaySeconds: number | null;
	/** Where it runs; null: in its own conversation, made with its first run. */
	readonly conversation: ConversationId | null;
	/** Where its result goes; null: to the chat of the conversation it runs in, or nowhere for its own. */
	readonly deliver: JobTarget | null;
	/** Who hears of failures; null: whoever made it, where they made it. */
	readonly failure: JobTarget | null;
	/** The conversation that its owner made it in: questions and failures go there. Null: none. */
	readonly origin: ConversationId | null;
	readonly profile: string;
	readonly model: ModelOverride | null;
	/** The only tools that it may use; null: all that its owner may. */
	readonly tools: readonly string[] | null;
	/** Whose rights it has: what they were let in as, and never more than they have then (I18). */
	readonly owner: Speaker;
}

export type JobState = "active" | "paused" | "ended";
/** user: somebody paused it. failures: it failed too often. owner: its owner is no longer let in. */
export type PausedBecause = "user" | "failures" | "owner";

export interface Job extends NewJob {
	readonly id: string;
	/** It runs in a conversation of its own, made for it. */
	readonly isOwn: boolean;
	readonly state: JobState;
	readonly pausedBecause: PausedBecause | null;
	/** How often in a row it has failed. */
	readonly failures: number;
	/** Its next scheduled instant; null unless it is active. */
	readonly dueAt: number | null;
	/** The instant of the run that has not ended. */
	readonly openRun: number | null;
	readonly createdAt: number;
	readonly updatedAt: number;
}

export type RunState =
	| "open"
	| "answered"
	/** A person was asked first; the rest happens in the conversation. */
	| "asked"
	| "failed"
	| "expired"
	| "stopped"
	| "missed"
	/** Its owner is no longer let in. */
	| "refused";

/** One scheduled instant of a job, and what became of it: of the run, and of the delivery of its result. */
export interface JobRun {
	readonly job: string;
	readonly scheduledAt: number;
	readonly begunBy: "schedule" | "person";
	readonly state: RunState;
	readonly reason: string | null;
	readonly inbox: number | null;
	readonly turn: string | null;
	/**
	 * chat: with the turn's own reply. target: sent where the job says. by_agent: the agent had sent something there itself. refused: its
	 * owner may not send there any more, or there is nobody.
	 */
	readonly via: "none" | "chat" | "target" | "by_agent" | "refused";
	/** Null: nothing is delivered. waiting: not known yet. */
	readonly delivery: "waiting" | "sent" | "unknown" | "dead" | null;
	readonly deliveryReason: string | null;
	readonly begunAt: number;
	readonly endedAt: number | null;
}
