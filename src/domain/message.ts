// Messages: the rows of a transcript, as created and as stored.
import type { SessionId } from "./types.ts";

export type Role = "system" | "user" | "assistant" | "tool" | "meta";

export type Part =
	| { readonly type: "text"; readonly text: string }
	| {
			readonly type: "image" | "audio" | "file";
			/** Digest of a blob of the same conversation. */
			readonly blob: string;
			readonly mediaType: string;
			readonly name?: string;
			/** The agent sends it to the people in the chat. A prompt only names it. */
			readonly sent?: SentFile;
	  };

export interface SentFile {
	/** In bytes. */
	readonly size: number;
	readonly caption?: string;
}
export type Content = string | readonly Part[];

/**
 * The words of a content, each part on its own lines. The caller decides what represents an attachment. Also for contents on the wire,
 * whose attachments have other fields.
 */
export function contentText<
	Other extends { readonly type: Exclude<Part["type"], "text"> } = Exclude<Part, { type: "text" }>,
>(
	content: string | readonly (Extract<Part, { type: "text" }> | Other)[],
	ofAttachment: (part: Other) => string | null = () => null,
): string {
	if (typeof content === "string") return content;
	return content
		.map((part) => (part.type === "text" ? part.text : ofAttachment(part)))
		.filter((words) => words !== null)
		.join("\n");
}

export interface ToolCall {
	readonly id: string;
	readonly name: string;
	readonly input: unknown;
}

/** The message that another one replies to, as shown by its platform: untrusted, and not an instruction. */
export interface Quote {
	readonly text: string;
	/** The writer's name. */
	readonly author?: string;
	/** Written by Keryx. */
	readonly own: boolean;
}

/** A range of rows of one session, both ends included. */
export interface Range {
	readonly session: SessionId;
	readonly fromSeq: number;
	readonly toSeq: number;
}

/**
 * The purpose of a row. Meta rows are not counted, and no person or model wrote them as part of the exchange. `sent` is an assistant row:
 * a message sent to this conversation from elsewhere.
 */
export type RowKind = "carry_over" | "summary" | "note" | "left_out" | "sent";

/** Where an unprompted message came from. */
export interface SentFrom {
	/** For people and the prompt: "a DM with Ann on Telegram", "the job Morning report". Untrusted. */
	readonly where: string;
	/** The conversation that it was sent from. */
	readonly conversation?: string;
}

/** A message as its author makes it; the store adds id, session, seq and time. */
export interface NewMessage {
	readonly role: Role;
	readonly content: Content;
	readonly kind?: RowKind;
	readonly toolCalls?: readonly ToolCall[];
	readonly toolCallId?: string;
	readonly toolName?: string;
	readonly isError?: boolean;
	/** Provider-specific items, verbatim; assistant rows only. */
	readonly reasoning?: unknown;
	readonly finishReason?: string;
	readonly tokens?: number;
	readonly author?: { readonly principal: string; readonly name?: string };
	/** The message that a person replied to. */
	readonly quoted?: Quote;
	/** Seen in a group, not addressed to the agent. */
	readonly observed?: boolean;
	/** For summary rows: what they cover. */
	readonly covers?: readonly Range[];
	/** For left-out rows: digests of attachments that no prompt shows from here on. */
	readonly leavesOut?: readonly string[];
	/** Sent rows: where the message came from. */
	readonly sentFrom?: SentFrom;
	/** For notes about a confirmation: the decision, or the approved call's result. */
	readonly confirmation?: { readonly id: string; readonly as: "outcome" | "result" };
}

export interface Message extends NewMessage {
	readonly id: number;
	readonly session: SessionId;
	readonly seq: number;
	readonly turn: string | null;
	readonly createdAt: number;
	readonly hidden: boolean;
}
