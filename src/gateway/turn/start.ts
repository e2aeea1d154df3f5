import type { BoundaryFacts, ConversationId, SessionId, Speaker } from "../../domain/index.ts";
import type { Conversation, Destination, Job, TurnPurpose } from "../../store/index.ts";

/** A turn that has begun in the store, or goes on there. */
export interface TurnStart {
	readonly turn: string;
	readonly purpose: TurnPurpose;
	readonly token: number;
	readonly conversation: ConversationId;
	/** The conversation as it was when the turn began. */
	readonly conversationInfo: Conversation;
	readonly session: SessionId;
	readonly destination: Destination;
	readonly principal: string | null;
	readonly speakers: readonly Speaker[];
	readonly messages: number;
	readonly cap: number;
	readonly context: string;
	/** Of the last prompt of the session that a model has counted; 0: none. */
	readonly promptTokens: number;
	/** No compaction is tried while the prompt has fewer tokens; null: whenever it is due. */
	readonly compactAfter: number | null;
	readonly nextIndex: number;
	readonly boundary: BoundaryFacts | null;
	readonly attempt: number;
	/** After an interruption: why, and which calls had begun. */
	readonly resumed: { readonly reason: string; readonly started: ReadonlySet<string> } | null;
	/** Said once before the answer: that Keryx was away. */
	readonly away: string | null;
	/** The job that it is a run of; null: none. */
	readonly job: Job | null;
}

/** The result of a job goes out by itself, to where the job says: the turn says nothing in a chat but what a human has to be asked. */
export function isQuiet({ job }: Pick<TurnStart, "job">): boolean {
	return job !== null && (job.isOwn || job.deliver !== null);
}
