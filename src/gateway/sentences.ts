// What users are told when something did not work: one plain sentence each, never a stack trace.
import type { AgentFailure } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import {
	bytesInWords,
	describeDuration,
	type Message,
	messagesIn,
	rowsCovered,
	summaryWords,
} from "../domain/index.ts";
import type { OutgoingFile } from "../store/index.ts";
import { asCode, counted, inert, literal } from "./commands/words.ts";

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
		case "program_failed":
			return "The agent program has failed: it ended, could not be started, or answered with an error. Please try again; the operator finds its own words with `keryx why`.";
		case "refused":
			return "The model's provider refused this request.";
		case "malformed":
			return "The model's answer could not be read. Please try again.";
		case "timeout":
			return "The model took too long to answer. Please try again.";
	}
}

/** Stands at the end of an answer that was cut. */
export function cutSentence(maxAnswer: number): string {
	return `(The answer was longer than ${Math.round(maxAnswer / MEBI)} MB, so it was cut here. Setting: turn.max_answer_mb.)`;
}
const MEBI = 1024 * 1024;

export function maxAnswerOf({ turn }: Pick<Config, "turn">): number {
	return turn.max_answer_mb * MEBI;
}

export const DEADLINE =
	"This took longer than allowed, so it was ended. Please try again, perhaps in smaller steps.";
export const STEP_LIMIT =
	"This took more steps than allowed, so it was ended. Say `go on` to continue from here.";
export const UNEXPECTED =
	"Something went wrong inside Keryx, so this was not answered. The operator finds it in the log.";
export const NOT_DONE =
	"Something went wrong inside Keryx, so this was not done. The operator finds it in the log.";
export const SENT_AWAY = "Nothing was done: you may not write here any more.";
export const NO_TEXT = "(The agent ended without a text.)";
export const SUSPENDED =
	"Your last message could not be answered: the work on it was interrupted three times in a row, so this session is suspended. Your next message starts a new one; `/continue` takes up the old one again.";

/** Where a chat cannot show a file. */
export function fileSentence({
	name,
	size,
	caption,
}: Pick<OutgoingFile, "name" | "size" | "caption">): string {
	const about = caption === undefined ? "" : `\n${literal(caption, 1000)}`;
	return `The file ${asCode(name)} (${bytesInWords(size)}) belongs to this answer. It cannot be shown here: Keryx's page has it, in this conversation.${about}`;
}

interface NamedChannel {
	readonly name: string;
	readonly state: string;
	readonly detail?: string;
}

export function channelDownSentence({ name, state, detail }: NamedChannel): string {
	const why = detail === undefined ? "" : `: ${detail}`;
	return state === "needs_attention"
		? `The channel ${asCode(name)} needs you${why}. What is to be sent there waits.`
		: `The channel ${asCode(name)} is down${why}. Keryx goes on trying; what is to be sent there waits.`;
}

export function channelBackSentence({ name }: Pick<NamedChannel, "name">): string {
	return `The channel ${asCode(name)} is back.`;
}

export function loopSentence(tool: string, times: number): string {
	return `I stopped: the same call of ${tool} failed ${times} times in a row.`;
}

/** Why no row was covered by a summary. */
export type NotCompacted =
	/** Nothing may be. */
	| { readonly kind: "nothing" }
	/** The summary would be no shorter. */
	| { readonly kind: "longer" }
	| { readonly kind: "failed"; readonly failure: AgentFailure };

/** Told once in a session: from here on its prompt is as long as it is. */
export function uncompactedSentence(compacted: NotCompacted): string {
	const full = "This conversation has nearly filled what the model can read at once";
	if (compacted.kind !== "failed")
		return `${full}, and a summary would not make it shorter. I go on answering as long as it fits; \`/new\` starts fresh.`;
	return `${full}, and summing up its older messages did not work: ${whyNot(compacted.failure)}. Nothing was changed, and I go on answering as long as it fits; \`/compress\` tries again, \`/new\` starts fresh.`;
}

export function compressedSentence(summary: Message, rows: readonly Message[]): string {
	const messages = counted(messagesIn(rowsCovered(rows, summary)), "message");
	const words = counted(summaryWords(summary), "word");
	return `${messages} became a summary of ${words}. Nothing is lost: all of them stay readable and searchable. \`/undo\` takes the summary back, together with your last turn.`;
}

export function notCompressedSentence(compacted: NotCompacted, keepLast: number): string {
	if (compacted.kind === "nothing") return nothingToCompress(keepLast);
	if (compacted.kind === "longer")
		return "The summary would have been no shorter than what it stands for, so nothing was changed.";
	return `Summing up did not work: ${whyNot(compacted.failure)}. Nothing was changed; \`/compress\` tries again.`;
}

export function nothingToCompress(keepLast: number): string {
	return `There is nothing to sum up: the last ${counted(keepLast, "message")} of a session always ${keepLast === 1 ? "stays as it is" : "stay as they are"} (setting: compaction.keep_last).`;
}

export const COMPACTS_ITSELF =
	"Nothing was changed: the agent that answers here keeps its own record of the conversation, and shortens it by itself.";

export const NO_SUMMARISER =
	"Nothing was changed: the agent that answers here asks no model that could sum up (setting: agent.kind).";

/** Within a sentence. */
function whyNot(failure: AgentFailure): string {
	switch (failure.kind) {
		case "rate_limited":
			return "the model's provider asks for a pause";
		case "key_missing":
			return "the model's key is missing or was refused";
		case "context_too_large":
			return "they are too long for the model";
		case "provider_down":
			return "the model's provider cannot be reached right now";
		case "program_failed":
			return "the agent program has failed";
		case "timeout":
			return "the model took too long";
		case "refused":
		case "attachment_refused":
			return "the model's provider refused it";
		case "malformed":
			return "the model's summary could not be used";
	}
}

/** Told with the end of a turn that found out. `lines` say which, and why; `others` were left out of this one answer. */
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
		`The model no longer reads ${one ? "this attachment" : "these attachments"}:\n${lines}`,
		...(others.length > 0
			? [
					`This answer was made without ${new Intl.ListFormat("en").format(others)}, too. The model reads ${others.length === 1 ? "it" : "them"} again from your next message on.`,
				]
			: []),
		`${one ? "It is" : "They are"} still in the transcript. To show ${one ? "it" : "them"} to the model, send ${one ? "it" : "them"} smaller or in another form.`,
	].join("\n\n");
}

/** Once in a conversation, when the first checkpoint of its folder would have been taken. */
export function unagreedSentence(folder: string): string {
	return `Files are changed here without a checkpoint: ${asCode(folder)} was there before Keryx, so none is taken unasked. If the owner writes \`/checkpoint\` once, one is taken before and after every turn that changes files, and \`/rollback\` and \`/undo --files\` can take changes back.`;
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

/** With the last message of a bot that is answered until a person writes. */
export function hopsSentence(limit: number): string {
	return `Bots have written ${limit} messages here without a person. I answer bots again when a person has written.`;
}

/** To a stranger, who may be anybody: it says nothing about who runs this Keryx. */
export function pairingSentence(platform: string, code: string): string {
	return `I do not know you yet. Whoever runs this Keryx can let you in with \`keryx pair approve ${platform} ${code}\` within an hour.`;
}

/** To whoever runs this Keryx. What the stranger says of themselves proves nothing. */
export function pairingQuestion({
	platform,
	id,
	name,
	code,
}: {
	readonly platform: string;
	readonly id: string;
	readonly name: string | null;
	/** Null: not to be shown there. */
	readonly code: string | null;
}): string {
	const who = name === null ? "Somebody" : `Somebody who calls themselves ${inert(name)}`;
	return [
		`${who} (${inert(id)} on ${platform}) asks to be let in.`,
		code === null
			? `Say yes only if you know that it is them: anybody may take any name. \`keryx pair approve ${platform}\` and the code they were sent is certain.`
			: `They were sent the code \`${code}\`: say yes only if the person you expect reads it out to you.`,
		"/pair lists who waits; it is over in an hour.",
	].join("\n");
}

export const LET_IN = "You have been let in. Write to me whenever you like.";
