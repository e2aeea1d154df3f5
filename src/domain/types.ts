// Keryx's domain types. Ids are branded so that one kind cannot be passed as another.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ConversationId = Branded<"ConversationId">;
export type SessionId = Branded<"SessionId">;

export const CHAT_TYPES = ["dm", "group", "channel", "thread", "forum", "webhook"] as const;
export type ChatType = (typeof CHAT_TYPES)[number];

/** Where one inbound message came from. Names and topics in it are untrusted text. */
export interface Source {
	readonly platform: string;
	/** Which of several connections to the platform received it; "" for the only one. */
	readonly account: string;
	readonly chatType: ChatType;
	readonly chatId: string;
	readonly chatIdAlt?: string;
	readonly chatName?: string;
	readonly chatTopic?: string;
	readonly parentChatId?: string;
	readonly threadId?: string;
	readonly scopeId?: string;
	readonly userId?: string;
	/** The platform's stable id of the sender; wins over userId as participant. */
	readonly userIdAlt?: string;
	readonly userName?: string;
	readonly messageId?: string;
	readonly profile?: string;
	/** Set by the transport only: never serialised, never read from the wire or the store. */
	readonly isBot?: boolean;
	readonly roleAuthorized?: boolean;
}

/** The tuple a source resolves to; it alone decides a message's conversation. Absent parts are "". */
export interface Address {
	readonly profile: string;
	readonly platform: string;
	readonly account: string;
	readonly scope: string;
	readonly chatType: ChatType;
	readonly chat: string;
	readonly thread: string;
	readonly participant: string;
}

/** Why a session ended. */
export const END_REASONS = [
	"suspended",
	"idle",
	"daily",
	"message_limit",
	"resume_expired",
	"user_new",
	"user_switch",
	"retention",
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** States of a question to a human. */
export const CONFIRMATION_STATUSES = [
	"pending",
	"approved",
	"denied",
	"expired",
	"cancelled",
	"consumed",
	"auto_approved",
] as const;
export type ConfirmationStatus = (typeof CONFIRMATION_STATUSES)[number];

/** How far a standing approval reaches. */
export const GRANT_SCOPES = ["session", "conversation", "always"] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];
