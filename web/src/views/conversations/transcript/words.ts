// Texts for Keryx's closed lists of words.

import type { Session } from "../../../api/types.ts";
import { duration } from "../../../lib/time.ts";
import { texts } from "../../../texts/conversations.ts";

const REASONS: Readonly<Record<string, string>> = {
	idle: texts.words.afterALongPause,
	daily: texts.words.atTheDailyFreshStart,
	message_limit: texts.words.atItsMessageLimit,
	suspended: texts.words.afterSeveralInterruptions,
	resume_expired: texts.words.becauseItWasInterruptedToo,
	user_new: texts.words.becauseYouAskedForA,
	user_switch: texts.words.becauseAnotherOneWasResumed,
	retention: texts.words.becauseItWasTooOld,
};

/** Why a session ended, and how the next one began. */
export function boundaryWords(ended: Session | null, next: Session | null): string {
	if (next?.base?.kind === "branch") return texts.words.aBranchStartsHereThe;
	if (isReturn(ended, next)) return texts.words.backToAnEarlierSession;
	const reason = ended?.end_reason ?? null;
	if (reason === null) return next?.base ? texts.words.continuesAnEarlierSession : texts.words.anotherSession;
	const how = reason === "idle" && ended && next ? pauseWords(ended, next) : (REASONS[reason] ?? reason);
	if (next?.base?.kind === "continue") return texts.words.continuedThePreviousSessionHad(how);
	return texts.words.newSessionThePreviousOne(how);
}

/** True if an earlier session was made live again. */
export function isReturn(ended: Session | null, next: Session | null): boolean {
	return ended !== null && next !== null && next.started_at < ended.started_at;
}

function pauseWords(ended: Session, next: Session): string {
	const pause = Date.parse(next.started_at) - Date.parse(ended.last_activity_at);
	return pause > 0 ? texts.words.afterWithoutAMessage(duration(pause)) : texts.words.afterALongPause;
}

const ENDS: Readonly<Record<string, string>> = {
	answered: texts.words.answered,
	merged: texts.words.answeredTogetherWithOthers,
	command: texts.words.done,
	observed: texts.words.noted,
	stopped: texts.words.stopped,
	dropped_by_user: texts.words.droppedFromTheQueue,
	refused: texts.words.refused,
	expired: texts.words.tooOldToAnswer,
	failed: texts.words.couldNotBeAnswered,
};

/** Ends whose reason is not shown: it tells a person nothing, or, for a failure, the notice below explains it. */
const UNREASONED: ReadonlySet<string> = new Set(["answered", "command", "failed"]);

export function endWords(as: string, reason: string | undefined): string {
	const words = ENDS[as] ?? as;
	return reason === undefined || UNREASONED.has(as) ? words : `${words}: ${reason}`;
}

const METAS: Readonly<Record<string, string>> = {
	carry_over: texts.words.carriedOverFromThePrevious,
	summary: texts.words.summaryOfEarlierMessages,
	left_out: texts.words.leftOutFromHereOn,
	note: texts.words.noteToTheAgent,
};

export function metaWords(kind: string | null): string {
	return METAS[kind ?? ""] ?? texts.words.note;
}
