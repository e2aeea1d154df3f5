// Parses ids. Text that cannot be an id is answered like one that does not exist, so trying reveals nothing.
import { KeryxError } from "../errors.ts";
import type { ConversationId, SessionId } from "./types.ts";

/** Longer than any that Keryx makes. */
const LONGEST = 64;

/** Whether it could be one; whether it is one is for the store to say. */
export function isConversationId(text: string): text is ConversationId {
	return isPossible(text);
}

export function conversationId(text: string): ConversationId {
	if (isConversationId(text)) return text;
	throw noSuch("conversation", text);
}

export function sessionId(text: string): SessionId {
	if (isPossible<SessionId>(text)) return text;
	throw noSuch("session", text);
}

function isPossible<Id extends string>(text: string): text is Id {
	return text !== "" && text.length <= LONGEST;
}

function noSuch(field: "conversation" | "session", text: string): KeryxError {
	return new KeryxError("store.not_found", `no ${field} has an id of ${text.length} characters`, { field });
}
