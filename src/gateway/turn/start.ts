// A started turn: the facts that every later step of the turn reads. Nothing here changes during the turn.
import type { BoundaryFacts, ConversationId, SessionId, Speaker } from "../../domain/index.ts";
import type { Conversation, Destination, Job, TurnPurpose } from "../../store/index.ts";

/** A turn that has started in the store, or resumes there. */
export interface TurnStart {
	readonly turn: string;
	readonly purpose: TurnPurpose;
	readonly token: number;
	readonly conversation: ConversationId;
	/** The conversation when the turn started. */
	readonly conversationInfo: Conversation;
	readonly session: SessionId;
	readonly destination: Destination;
	readonly principal: string | null;
	readonly speakers: readonly Speaker[];
	readonly messages: number;
	readonly cap: number;
	readonly context: string;
	/** Token count of the session's last counted prompt; 0: none. */
	readonly promptTokens: number;
	/** No compaction below this many tokens; null: whenever it is due. */
	readonly compactAfter: number | null;
	readonly nextIndex: number;
	readonly boundary: BoundaryFacts | null;
	readonly attempt: number;
	/** After an interruption: why, and which calls had started. */
	readonly resumed: { readonly reason: string; readonly started: ReadonlySet<string> } | null;
	/** A notice before the answer, sent once: Keryx was away. */
	readonly away: string | null;
	/** The job it runs; null: none. */
	readonly job: Job | null;
}

/** A job's result is delivered separately: the turn posts nothing in the chat except questions for a human. */
export function isQuiet({ job }: Pick<TurnStart, "job">): boolean {
	return job !== null && (job.isOwn || job.deliver !== null);
}
