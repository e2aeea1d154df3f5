import type { BoundaryFacts, ConversationId, SessionId } from "../domain/index.ts";
import type { Conversation, Destination } from "../store/index.ts";

/** A turn that has begun in the store, or goes on there. */
export interface TurnStart {
	readonly turn: string;
	readonly token: number;
	readonly conversation: ConversationId;
	/** The conversation as it was when the turn began. */
	readonly place: Conversation;
	readonly session: SessionId;
	readonly destination: Destination;
	readonly principal: string | null;
	readonly messages: number;
	readonly cap: number;
	readonly context: string;
	readonly nextIndex: number;
	readonly boundary: BoundaryFacts | null;
	readonly attempt: number;
	/** After an interruption: why, and which calls had begun. */
	readonly resumed: { readonly reason: string; readonly started: ReadonlySet<string> } | null;
	/** Said once before the answer: that Keryx was away. */
	readonly away: string | null;
}
