// Whether a session ends, and why. One pure function for all three occasions: a person's message arrives, the expiry watcher runs, a turn
// ends. Every rule compares with a past time, so a clock that goes back never ends a session.

import type { EndReason } from "../types.ts";
import { latestDailyBoundary, nextDailyBoundary } from "./daily.ts";
import type { ResetPolicy } from "./policy.ts";

export type BoundaryReason = Extract<
	EndReason,
	"suspended" | "idle" | "daily" | "message_limit" | "resume_expired"
>;

export type BoundaryDecision =
	| { readonly kind: "continue" }
	| { readonly kind: "boundary"; readonly reason: BoundaryReason };

export interface BoundaryInput {
	readonly session: {
		readonly lastActivityAt: number;
		readonly messageCount: number;
		/** max_messages plus what was added to this session; 0: unlimited. */
		readonly cap: number;
		readonly suspended: boolean;
		/** When the turn that waits to be resumed was interrupted. */
		readonly resumePendingSince: number | null;
	};
	readonly policy: ResetPolicy;
	/** Seconds; 0 or less: an interruption never gets too old. */
	readonly autoContinueFreshness: number;
	/** At arrival: when the turn's first message was accepted. */
	readonly now: number;
	/** Something keeps the session open: a process, an open confirmation, an unprocessed internal event. */
	readonly activeProcess: boolean;
	readonly at: "arrival" | "watch" | "turn_end";
}

export function decideBoundary(input: BoundaryInput): BoundaryDecision {
	const { session, policy, now, activeProcess, at } = input;
	const full = session.cap > 0 && session.messageCount >= session.cap;

	// Processes belong to the conversation and keep running, so nothing keeps a full session open beyond its turn.
	if (at === "turn_end") return full ? BOUNDARY.message_limit : CONTINUE;

	if (at === "arrival" && session.suspended) return BOUNDARY.suspended;
	if (!activeProcess) {
		if (isIdle(session.lastActivityAt, policy, now)) return BOUNDARY.idle;
		if (isPastDaily(session.lastActivityAt, policy, now)) return BOUNDARY.daily;
	}
	if (at === "watch") return CONTINUE;

	if (full && !activeProcess) return BOUNDARY.message_limit;
	const since = session.resumePendingSince;
	if (since !== null && !isFreshInterruption(since, input.autoContinueFreshness, now))
		return BOUNDARY.resume_expired;
	return CONTINUE;
}

/**
 * The first instant at which `decideBoundary` at "watch" ends an unheld session; null: never. The store keeps it as the session's due_at.
 */
export function nextDue({
	lastActivityAt,
	policy,
}: {
	readonly lastActivityAt: number;
	readonly policy: ResetPolicy;
}): number | null {
	const idle = lastActivityAt + policy.idleMinutes * 60_000 + 1;
	switch (policy.mode) {
		case "none":
			return null;
		case "idle":
			return idle;
		case "daily":
			return nextDailyBoundary(lastActivityAt, policy.timezone, policy.atHour);
		case "both":
			return Math.min(idle, nextDailyBoundary(lastActivityAt, policy.timezone, policy.atHour));
	}
}

/** Whether an interrupted turn is young enough to be resumed: younger than `freshness` seconds, or 0 or less given. */
export function isFreshInterruption(since: number, freshness: number, now: number): boolean {
	return freshness <= 0 || now - since < freshness * 1000;
}

function isIdle(lastActivityAt: number, { mode, idleMinutes }: ResetPolicy, now: number): boolean {
	return (mode === "idle" || mode === "both") && now > lastActivityAt + idleMinutes * 60_000;
}

function isPastDaily(lastActivityAt: number, { mode, timezone, atHour }: ResetPolicy, now: number): boolean {
	return (mode === "daily" || mode === "both") && lastActivityAt < latestDailyBoundary(now, timezone, atHour);
}

/** Shared answers: this runs once per message. */
const CONTINUE: BoundaryDecision = Object.freeze({ kind: "continue" });
const BOUNDARY: Readonly<Record<BoundaryReason, BoundaryDecision>> = {
	suspended: answer("suspended"),
	idle: answer("idle"),
	daily: answer("daily"),
	message_limit: answer("message_limit"),
	resume_expired: answer("resume_expired"),
};

function answer(reason: BoundaryReason): BoundaryDecision {
	return Object.freeze({ kind: "boundary", reason });
}
