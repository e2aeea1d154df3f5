// A message's location, and the part stored in its body.
import { contentText, type SessionId } from "../../../domain/index.ts";
import type { Content, NewMessage } from "../../types.ts";
import type { StoredContent } from "./blobs.ts";

/** Where rows are appended, with the facts the search index needs. */
export interface Target {
	readonly conversation: string;
	readonly session: number;
	readonly sessionId: SessionId;
	readonly turn: string | null;
	/** The turn starts with these rows: it has none yet. */
	readonly isNew?: boolean;
	readonly platform: string;
	readonly profile: string;
	readonly principal: string | null;
}

type Detail =
	| "toolCalls"
	| "reasoning"
	| "finishReason"
	| "tokens"
	| "quoted"
	| "observed"
	| "covers"
	| "leavesOut"
	| "confirmation"
	| "sentFrom";

export type MessageBody = Pick<NewMessage, Detail> & {
	readonly content: StoredContent;
	readonly authorName?: string;
};

const DETAILS: Readonly<Record<Detail, true>> = {
	toolCalls: true,
	reasoning: true,
	finishReason: true,
	tokens: true,
	quoted: true,
	observed: true,
	covers: true,
	leavesOut: true,
	confirmation: true,
	sentFrom: true,
};

/** What a body adds to its message. An imported body may have other keys: they take no row's place. */
export function isDetail(key: string): key is Detail {
	return Object.hasOwn(DETAILS, key);
}

/** The words of a content, for search, previews and titles; an attachment counts by its name. */
export function textOf(content: Content): string {
	return contentText(content, ({ name }) => name ?? "");
}

/** The blobs a body refers to: large text, and attachments. */
export function blobsOf({ content }: Pick<MessageBody, "content">): string[] {
	if (typeof content === "string") return [];
	if ("digest" in content) return [content.digest];
	return content.flatMap((part) =>
		part.type === "text_blob" ? [part.digest] : part.type === "text" ? [] : [part.blob],
	);
}

/** Those that contain its text: without one there is no message, whereas an attachment may be gone. */
export function textBlobsOf({ content }: Pick<MessageBody, "content">): string[] {
	if (typeof content === "string" || "digest" in content) return blobsOf({ content });
	return blobsOf({ content: content.filter((part) => part.type === "text_blob") });
}
