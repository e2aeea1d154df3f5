// What users are told when something did not work: one plain sentence each, never a stack trace.
import type { AgentFailure } from "../agents/index.ts";
import { describeDuration } from "../domain/index.ts";

export function failureSentence(failure: AgentFailure): string {
	switch (failure.kind) {
		case "rate_limited":
			return "The model's provider asks for a pause (rate limit). Please try again in a moment.";
		case "key_missing":
			return "The model's key is missing or was refused. The operator can check it with `keryx doctor`.";
		case "context_too_large":
			return "This conversation is too long for the model. `/compress` shortens it, `/new` starts fresh.";
		case "attachment_refused":
			return "The model's provider did not take an attachment. Please send it in another form, or go on without it.";
		case "provider_down":
			return "The model's provider cannot be reached right now. Please try again later.";
		case "refused":
			return "The model's provider refused this request.";
		case "malformed":
			return "The model's answer could not be read. Please try again.";
		case "timeout":
			return "The model took too long to answer. Please try again.";
	}
}

export const DEADLINE =
	"This took longer than allowed, so it was ended. Please try again, perhaps in smaller steps.";
export const STEP_LIMIT =
	"This took more steps than allowed, so it was ended. Say `go on` to continue from here.";
export const UNEXPECTED =
	"Something went wrong inside Keryx, so this was not answered. The operator finds it in the log.";
export const NO_TEXT = "(The agent ended without a text.)";
export const SUSPENDED =
	"Your last message could not be answered: the work on it was interrupted three times in a row, so this session is suspended. Your next message starts a new one; `/continue` takes up the old one again.";

export function loopSentence(tool: string, times: number): string {
	return `I stopped: the same call of ${tool} failed ${times} times in a row.`;
}

export function awaySentence(since: number, timezone: string): string {
	return `Keryx was away since ${clockTime(since, timezone)}; this answers what arrived meanwhile.`;
}

export function resumedSentence(since: number, timezone: string): string {
	return `Keryx was away since ${clockTime(since, timezone)}; this goes on with what it had begun.`;
}

/** `freshness` in seconds: how long an interrupted turn may still be taken up again; 0 or less: always. */
export function cutOffSentence(freshness: number): string {
	const back = freshness > 0 ? `is back within ${describeDuration(freshness * 1000)}` : "is back";
	return `Keryx has to stop before this is answered. Your message is kept; when Keryx ${back}, it goes on with it.`;
}

export function expiredSentence(texts: readonly string[]): string {
	const one = texts.length === 1;
	const list = texts.slice(0, 5).map((text) => `- ${text}`);
	const more = texts.length > 5 ? [`- and ${texts.length - 5} more`] : [];
	return [
		`While Keryx was away, ${one ? "a message" : `${texts.length} messages`} of yours got too old to be answered (setting: inbox.max_age_minutes):`,
		...list,
		...more,
		`Send ${one ? "it" : "them"} again if ${one ? "it still matters" : "they still matter"}.`,
	].join("\n");
}

function clockTime(at: number, timezone: string): string {
	const format = new Intl.DateTimeFormat("en-GB", {
		timeZone: timezone,
		dateStyle: "medium",
		timeStyle: "short",
	});
	return `${format.format(at)} (${timezone})`;
}
