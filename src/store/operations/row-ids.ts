// Ids and constants that callers share with the operations. Here, so that a caller need not load an operation.
import type { JobRun } from "../types.ts";

/** Programs that ask without a token, on the compat port. They never report using an approval. */
export const COMPAT = "compat";

/** The id of the delivery that notifies a chat; those of one confirmation are adjacent. */
export function noticeId(confirmation: string, n: number): string {
	return `confirmation:${confirmation}:${n}`;
}

/** Ids of all deliveries about a request start with this. */
export function pairingNoticeId(digest: string): string {
	return `pairing:${digest.slice(0, 32)}`;
}

/** Its result is known later. */
export function isOnItsWay(via: JobRun["via"]): boolean {
	return via === "target" || via === "chat" || via === "by_agent";
}

/** The send id of a run's result: sent once. */
export function runId({ job, at }: { readonly job: string; readonly at: number }): string {
	return `${job}:${at}`;
}

/** Rows of a session per position. */
export const POSITION_ROWS = 20;
