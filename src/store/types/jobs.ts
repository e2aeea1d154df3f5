// Jobs and their runs.
import type { CatchUp, ConversationId, ModelOverride, Speaker, Target, Timing } from "../../domain/index.ts";

/** A job's task: asks the agent, sends a text, or runs a command. */
export interface JobTask {
	readonly kind: "prompt" | "text" | "command";
	readonly text: string;
}

/** A resolved target. */
export interface JobTarget {
	readonly target: Target;
	/** For people. Names in it are untrusted. */
	readonly shown: string;
	/** Approved by a human. Otherwise it is used only as long as it needs no approval. */
	readonly approved: boolean;
}

export interface NewJob extends Timing {
	readonly name: string;
	readonly task: JobTask;
	readonly catchUp: CatchUp;
	/** A run that would start later is missed; null: however late. */
	readonly maxDelaySeconds: number | null;
	/** Where it runs; null: in its own conversation, created with its first run. */
	readonly conversation: ConversationId | null;
	/** Where its result goes; null: to the chat of its conversation, or nowhere for its own. */
	readonly deliver: JobTarget | null;
	/** Where failures are reported; null: to its creator, where it was created. */
	readonly failure: JobTarget | null;
	/** The conversation where its owner created it: questions and failures go there. Null: none. */
	readonly origin: ConversationId | null;
	readonly profile: string;
	readonly model: ModelOverride | null;
	/** The only tools it may use; null: all that its owner may. */
	readonly tools: readonly string[] | null;
	/** Its rights: those its owner was admitted with, and never more than their current ones (I18). */
	readonly owner: Speaker;
}

export type JobState = "active" | "paused" | "ended";

/** user: someone paused it. failures: it failed too often. owner: its owner no longer has access. */
export type PausedBecause = "user" | "failures" | "owner";

export interface Job extends NewJob {
	readonly id: string;
	/** It runs in its own conversation. */
	readonly isOwn: boolean;
	readonly state: JobState;
	readonly pausedBecause: PausedBecause | null;
	/** How often in a row it has failed. */
	readonly failures: number;
	/** Its next scheduled instant; null unless it is active. */
	readonly dueAt: number | null;
	/** The instant of the unfinished run. */
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
	/** Its owner no longer has access. */
	| "refused";

/** One scheduled instant of a job, with the results of the run and of its delivery. */
export interface JobRun {
	readonly job: string;
	readonly scheduledAt: number;
	readonly begunBy: "schedule" | "person";
	readonly state: RunState;
	readonly reason: string | null;
	readonly inbox: number | null;
	readonly turn: string | null;
	/**
	 * chat: with the turn's own reply. target: sent to the job's target. by_agent: the agent itself sent something there. refused: its
	 * owner may no longer send there, or there is nobody.
	 */
	readonly via: "none" | "chat" | "target" | "by_agent" | "refused";
	/** Null: nothing is delivered. waiting: not known yet. */
	readonly delivery: "waiting" | "sent" | "unknown" | "dead" | null;
	readonly deliveryReason: string | null;
	readonly begunAt: number;
	readonly endedAt: number | null;
}
