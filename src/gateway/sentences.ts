// The gateway's notices in one place, so that they can be read and translated together: one plain sentence each, never a stack trace.
// Answers of commands are in texts.ts.

import type { AgentFailure } from "../agents/index.ts";
import { KERYX } from "../called.ts";
import type { Config } from "../config/index.ts";
import {
	bytesInWords,
	describeDuration,
	type Message,
	messagesIn,
	rowsCovered,
	summaryWords,
} from "../domain/index.ts";
import type { Job, OutgoingFile } from "../store/index.ts";
import { asCode, counted, inert, literal, quoted } from "./commands/words.ts";

export function failureSentence(failure: AgentFailure): string {
	switch (failure.kind) {
		case "rate_limited":
			return "The model's provider is limiting requests right now. Please try again in a moment.";
		case "key_missing":
			return `The model's API key is missing or was refused. The operator can check it with \`${KERYX} doctor\`.`;
		case "context_too_large":
			return "This conversation is too long for the model. Send `/compress` to shorten it, or `/new` to start a new session.";
		case "attachment_refused":
			return "The model's provider did not accept an attachment. Please send it in another format, or continue without it.";
		case "provider_down":
			return "The model's provider cannot be reached right now. Please try again later.";
		case "program_failed":
			return `The agent program failed: it exited, could not start, or returned an error. Please try again. The operator can see its error with \`${KERYX} why\`.`;
		case "refused":
			return "The model's provider refused this request.";
		case "malformed":
			return "The model's answer could not be read. Please try again.";
		case "timeout":
			return "The model took too long to answer. Please try again.";
	}
}

/** Added to the end of an answer that was cut. */
export function cutSentence(maxAnswer: number): string {
	return `(The answer was longer than ${Math.round(maxAnswer / MEBI)} MB, so it was cut here. Setting: turn.max_answer_mb.)`;
}
const MEBI = 1024 * 1024;

export function maxAnswerOf({ turn }: Pick<Config, "turn">): number {
	return turn.max_answer_mb * MEBI;
}

export const DEADLINE =
	"This took longer than allowed, so it was stopped. Please try again, perhaps in smaller steps.";
export const STEP_LIMIT =
	"This took more steps than allowed, so it was stopped. Say `continue` to resume from here.";
export const UNEXPECTED =
	"Something went wrong inside Keryx, so this was not answered. The operator can find the error in the log.";
export const NOT_DONE =
	"Something went wrong inside Keryx, so this was not done. The operator can find the error in the log.";
export const SENT_AWAY = "Nothing was done: you no longer have access here.";
export const NO_TEXT = "(The agent finished without an answer.)";
export const SUSPENDED =
	"Your last message could not be answered: Keryx was interrupted three times in a row while working on it, so this session is suspended. Your next message starts a new session; `/continue` goes back to this one.";

/** The platform refused the file permanently. */
export function fileRefusedSentence(
	{ name, size }: Pick<OutgoingFile, "name" | "size">,
	reason: string,
): string {
	return `The file ${asCode(name)} (${bytesInWords(size)}) could not be sent here: ${literal(reason, 200)}. You can find it on Keryx's page, in this conversation.`;
}

export function fileSentence({
	name,
	size,
	caption,
}: Pick<OutgoingFile, "name" | "size" | "caption">): string {
	const about = caption === undefined ? "" : `\n${literal(caption, 1000)}`;
	return `The file ${asCode(name)} (${bytesInWords(size)}) is part of this answer, but cannot be shown here. You can find it on Keryx's page, in this conversation.${about}`;
}

interface NamedChannel {
	readonly name: string;
	readonly state: string;
	readonly detail?: string;
}

export function channelDownSentence({ name, state, detail }: NamedChannel): string {
	const why = detail === undefined ? "" : `: ${detail}`;
	return state === "needs_attention"
		? `The channel ${asCode(name)} needs your attention${why}. Messages to it are waiting.`
		: `The channel ${asCode(name)} is down${why}. Keryx keeps trying; messages to it are waiting.`;
}

export function channelBackSentence({ name }: Pick<NamedChannel, "name">): string {
	return `The channel ${asCode(name)} is back.`;
}

export function loopSentence(tool: string, times: number): string {
	return `I stopped because the same call to ${tool} failed ${times} times in a row.`;
}

/** Why no row was covered by a summary. */
export type NotCompacted =
	/** Nothing may be. */
	| { readonly kind: "nothing" }
	/** The summary would not be shorter. */
	| { readonly kind: "longer" }
	| { readonly kind: "failed"; readonly failure: AgentFailure };

/** Sent once per session: from here on the prompt is not shortened. */
export function uncompactedSentence(compacted: NotCompacted): string {
	const full = "This conversation is almost too long for the model";
	if (compacted.kind !== "failed")
		return `${full}, and a summary would not make it shorter. I keep answering as long as it fits; \`/new\` starts a new session.`;
	return `${full}, and its older messages could not be summarised: ${whyNot(compacted.failure)}. Nothing was changed, and I keep answering as long as it fits; \`/compress\` tries again, \`/new\` starts a new session.`;
}

export function compressedSentence(summary: Message, rows: readonly Message[]): string {
	const messages = counted(messagesIn(rowsCovered(rows, summary)), "message");
	const words = counted(summaryWords(summary), "word");
	return `${messages} became a summary of ${words}. Nothing is lost: you can still read and search all of them. \`/undo\` removes the summary and your last turn.`;
}

export function notCompressedSentence(compacted: NotCompacted, keepLast: number): string {
	if (compacted.kind === "nothing") return nothingToCompress(keepLast);
	if (compacted.kind === "longer")
		return "The summary would not have been shorter than the messages, so nothing was changed.";
	return `The summary failed: ${whyNot(compacted.failure)}. Nothing was changed; \`/compress\` tries again.`;
}

export function nothingToCompress(keepLast: number): string {
	return `There is nothing to summarise: the last ${counted(keepLast, "message")} of a session ${keepLast === 1 ? "is" : "are"} always kept in full (setting: compaction.keep_last).`;
}

export const COMPACTS_ITSELF =
	"Nothing was changed: the agent used here keeps its own history and shortens it automatically.";

export const NO_SUMMARISER =
	"Nothing was changed: the agent used here has no model that could write a summary (setting: agent.kind).";

/** Within a sentence. */
function whyNot(failure: AgentFailure): string {
	switch (failure.kind) {
		case "rate_limited":
			return "the model's provider is limiting requests";
		case "key_missing":
			return "the model's API key is missing or was refused";
		case "context_too_large":
			return "they are too long for the model";
		case "provider_down":
			return "the model's provider cannot be reached right now";
		case "program_failed":
			return "the agent program failed";
		case "timeout":
			return "the model took too long";
		case "refused":
		case "attachment_refused":
			return "the model's provider refused it";
		case "malformed":
			return "the model's summary could not be used";
	}
}

/** Sent at the end of the turn. `lines` say which and why; `others` were left out only of this answer. */
export function leftOutSentence({
	lines,
	attachments,
	others,
}: {
	readonly lines: string;
	readonly attachments: number;
	readonly others: readonly string[];
}): string {
	const one = attachments === 1;
	return [
		`The model can no longer read ${one ? "this attachment" : "these attachments"}:\n${lines}`,
		...(others.length > 0
			? [
					`This answer also left out ${new Intl.ListFormat("en").format(others)}. The model reads ${others.length === 1 ? "it" : "them"} again from your next message.`,
				]
			: []),
		`${one ? "It is" : "They are"} still in the transcript. For the model to read ${one ? "it" : "them"}, send ${one ? "it" : "them"} again, smaller or in another format.`,
	].join("\n\n");
}

/** Once per conversation, when the first checkpoint of its folder would have been taken. */
export function unagreedSentence(folder: string): string {
	return `Files here are changed without checkpoints, because ${asCode(folder)} existed before Keryx. To turn checkpoints on, the owner sends \`/checkpoint\` once. Keryx then saves one before and after every turn that changes files, and \`/rollback\` and \`/undo --files\` can restore them.`;
}

export function awaySentence(since: number, timezone: string): string {
	return `Keryx was offline since ${clockTime(since, timezone)}. This answers what arrived in the meantime.`;
}

export function resumedSentence(since: number, timezone: string): string {
	return `Keryx was offline since ${clockTime(since, timezone)}. It continues where it stopped.`;
}

/** `freshness` in seconds: how long an interrupted turn may still be resumed; 0 or less: always. */
export function cutOffSentence(freshness: number): string {
	const back = freshness > 0 ? `is back within ${describeDuration(freshness * 1000)}` : "is back";
	return `Keryx has to stop before it can answer. Your message is saved; Keryx continues with it when it ${back}.`;
}

export function expiredSentence(texts: readonly string[]): string {
	const one = texts.length === 1;
	const list = texts.slice(0, 5).map((text) => `- ${text}`);
	const more = texts.length > 5 ? [`- and ${texts.length - 5} more`] : [];
	return [
		`While Keryx was offline, ${one ? "one of your messages" : `${texts.length} of your messages`} became too old to answer (setting: inbox.max_age_minutes):`,
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

/** With the last bot message that is answered before a person must write. */
export function hopsSentence(limit: number): string {
	return `Bots have sent ${limit} messages in a row here. I answer bots again after a person writes.`;
}

/** To a stranger, who may be anyone: it reveals nothing about who runs this Keryx. */
export function pairingSentence(platform: string, code: string): string {
	return `I do not know you yet. The person who runs this bot can let you in with \`${KERYX} pair approve ${platform} ${code}\`. The code expires in an hour.`;
}

/** To the owner. The stranger's own claims prove nothing. */
export function pairingQuestion({
	platform,
	id,
	name,
	code,
}: {
	readonly platform: string;
	readonly id: string;
	readonly name: string | null;
	/** Null: do not show it there. */
	readonly code: string | null;
}): string {
	const who = name === null ? "Someone" : `Someone named ${inert(name)}`;
	return [
		`${who} (${inert(id)} on ${platform}) wants to talk to your agent.`,
		code === null
			? `Anyone can choose any name, so approve only if you are sure who it is. To be certain, ask for the code they were sent and run \`${KERYX} pair approve ${platform} <code>\`.`
			: `They were sent the code \`${code}\`. Approve only if the person you expect can read it out to you.`,
		"/pair lists open requests. This one expires in an hour.",
	].join("\n");
}

export const LET_IN = "You are in. Write to me whenever you like.";

/** For the failure target of a job. */
export function jobFailedSentence({ name }: Pick<Job, "name">, reason: string | null): string {
	return `The scheduled job ${quoted(name, 100)} failed${reason === null ? "" : `: ${literal(reason, 300)}`}.`;
}

export function jobUndeliveredSentence(
	{ name, deliver }: Pick<Job, "name" | "deliver">,
	reason: string | null,
	isUnknown: boolean,
): string {
	const to = deliver === null ? "its chat" : literal(deliver.shown, 100);
	const why = reason === null ? "" : `: ${literal(reason, 300)}`;
	return isUnknown
		? `The scheduled job ${quoted(name, 100)} ran, but it is unknown whether its result reached ${to}${why}.`
		: `The scheduled job ${quoted(name, 100)} ran, but its result could not be delivered to ${to}${why}.`;
}

export function jobPausedSentence({ id }: Pick<Job, "id">, failures: number): string {
	return `It failed ${failures} times in a row, so it is paused now. \`/schedule resume ${id}\` starts it again.`;
}

export function jobRefusedSentence({ id, name }: Pick<Job, "id" | "name">, reason: string): string {
	return `The scheduled job ${quoted(name, 100)} did not run, and is paused: ${literal(reason, 300)}. \`/schedule delete ${id}\` removes it.`;
}
