// Conversations and sessions, and who may read them.
import type {
	ChatType,
	ConversationId,
	EndReason,
	ModelOverride,
	SessionId,
	Source,
} from "../../domain/index.ts";

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

/** What is shown of running tools: each call with its arguments, the current one, or nothing. */
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
	/** Its name: the title, or else who and where. */
	readonly name: string;
	readonly title: string | null;
	readonly titleSource: "model" | "user" | null;
	readonly state: ConversationState;
	/** When it entered this state; null if it was never archived or deleted. */
	readonly stateAt: number | null;
	readonly pinnedAt: number | null;
	/** One of its confirmations waits for a human. */
	readonly isWaiting: boolean;
	/** Who it is with, as in the agent's prompt. */
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
	/** It started elsewhere, where the same names may mean other people. */
	readonly isImported?: true;
}

/** Keryx itself, or its operator. */
export interface OperatorScope {
	readonly kind: "operator";
}

/** The reader. There is no default: a principal sees its own conversations, and the current one, within one profile. */
export type Scope =
	| OperatorScope
	| {
			readonly kind: "principal";
			readonly principal: string;
			/** null: in every profile, for someone who looks at all of their own conversations. */
			readonly profile: string | null;
			readonly conversation?: ConversationId;
	  };
