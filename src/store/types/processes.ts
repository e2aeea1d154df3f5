// Programs that the agent started.
import type { ConversationId, PersonRole } from "../../domain/index.ts";
import type { Destination } from "./deliveries.ts";

export type ProcessStatus = "starting" | "running" | "exited" | "killed" | "lost" | "failed_start";

/** What the conversation is told about a background process: nothing, its end, its end and progress, or only failures. */
export type ProcessNotify = "none" | "result" | "all" | "error";

/** Identifies a process: a pid alone is reused. */
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

/** A program the agent started. */
export interface Process {
	readonly id: string;
	readonly conversation: ConversationId;
	readonly turn: string | null;
	/** The role of the turn that started it. */
	readonly role: PersonRole | null;
	readonly backend: string;
	readonly command: string;
	readonly cwd: string;
	/** Its wall; null: none, or started before this was recorded. */
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
	/** Output up to this byte was passed to the conversation, or reported to its chat. */
	readonly polledTo: number;
	readonly checkedTo: number;
	/** Known once it has ended. */
	readonly logBytes: number | null;
	readonly logLost: number | null;
	readonly destination: Destination;
	/** When its progress is reported next; null: never. */
	readonly nextCheckAt: number | null;
	readonly startedAt: number;
	readonly endedAt: number | null;
}
