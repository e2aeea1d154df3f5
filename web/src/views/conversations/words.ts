// What Keryx knows as a word of a closed list, said to a person.
import type { Session } from "../../api/types.ts";
import { duration } from "../../lib/time.ts";

const REASONS: Readonly<Record<string, string>> = {
	idle: "after a long pause",
	daily: "by the daily fresh start",
	message_limit: "at its limit of messages",
	suspended: "suspended after several interruptions",
	resume_expired: "interrupted too long ago to go on",
	user_new: "because a new one was asked for",
	user_switch: "to go on with another one",
	retention: "past its time of keeping",
};

/** Why a session ended, and how the next one began. */
export function boundaryWords(ended: Session | null, next: Session | null): string {
	if (next?.base?.kind === "branch") return "A branch begins here. The earlier version stays as it is.";
	if (isReturn(ended, next)) return "Back to an earlier session";
	const reason = ended?.end_reason ?? null;
	if (reason === null) return next?.base ? "Goes on from an earlier session" : "Another session";
	const how = reason === "idle" && ended && next ? pauseWords(ended, next) : (REASONS[reason] ?? reason);
	if (next?.base?.kind === "continue") return `Continued: the session before had ended ${how}`;
	return `New session: the one before ended ${how}`;
}

/** A session from before was made the live one again. */
export function isReturn(ended: Session | null, next: Session | null): boolean {
	return ended !== null && next !== null && next.started_at < ended.started_at;
}

function pauseWords(ended: Session, next: Session): string {
	const pause = Date.parse(next.started_at) - Date.parse(ended.last_activity_at);
	return pause > 0 ? `after ${duration(pause)} without a message` : "after a long pause";
}

const ENDS: Readonly<Record<string, string>> = {
	answered: "Answered",
	merged: "Answered together with others",
	command: "Done",
	observed: "Noted",
	stopped: "Stopped",
	dropped_by_user: "Dropped from the queue",
	refused: "Refused",
	expired: "Too old to be answered",
	failed: "Could not be answered",
};

/** Where the reason says nothing to a person; of a failure, the notice below it tells it in a sentence. */
const UNREASONED: ReadonlySet<string> = new Set(["answered", "command", "failed"]);

export function endWords(as: string, reason: string | undefined): string {
	const words = ENDS[as] ?? as;
	return reason === undefined || UNREASONED.has(as) ? words : `${words}: ${reason}`;
}

const METAS: Readonly<Record<string, string>> = {
	carry_over: "Carried over from the session before",
	summary: "Summary of what was said before",
	left_out: "Left out from here on",
	note: "Note to the agent",
};

export function metaWords(kind: string | null): string {
	return METAS[kind ?? ""] ?? "Note";
}
