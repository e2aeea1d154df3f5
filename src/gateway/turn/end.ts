// What the end of a turn says and stores, from its outcome. Pure.
import type { AssistantMessage } from "../../agents/index.ts";
import type { Question } from "../../confirmations/index.ts";
import {
	type BoundaryFacts,
	boundaryNotice,
	carriesOver,
	type NewMessage,
	notifiesBoundaries,
	type ResetPolicy,
} from "../../domain/index.ts";
import type { NewDelivery, Store } from "../../store/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { questionDeliveries } from "../outbox/question.ts";
import { toDeliveries } from "../outbox/reply.ts";
import type { SessionSettings } from "../session-settings.ts";
import { isQuiet, type TurnStart } from "./start.ts";

export type Outcome =
	| {
			readonly kind: "completed";
			readonly text: string;
			/** Appended to the text. */
			readonly questions?: readonly Question[];
			readonly last: readonly NewMessage[];
	  }
	| { readonly kind: "failed"; readonly reason: string; readonly sentence: string }
	| { readonly kind: "stopped" };

/** The rows committed with the end. A turn that was cut short keeps its text, and a note of why it ended. */
export function lastRows(
	outcome: Outcome,
	{ held, partial }: { readonly held: readonly NewMessage[]; readonly partial: string },
): NewMessage[] {
	if (outcome.kind === "completed") return [...outcome.last];
	const finishReason = outcome.kind === "stopped" ? "stopped" : "error";
	const why =
		outcome.kind === "failed" ? `The turn failed: ${outcome.reason}` : "The user stopped this turn.";
	return [
		...held,
		...(partial === "" ? [] : [{ role: "assistant" as const, content: partial, finishReason }]),
		{ role: "meta", kind: "note", content: why },
	];
}

/** The reply and the notices before it. A turn stopped by the user has none. */
export function replyTo(outcome: Outcome, start: TurnStart, about: NoticeAbout): NewDelivery[] {
	if (isQuiet(start)) return asked(outcome, start, about);
	const before = noticesBefore(start, about);
	if (outcome.kind === "stopped") return before;
	return [
		...before,
		...(outcome.kind === "completed" ? said(outcome, start, about) : failed(outcome, start, about)),
	];
}

function failed(
	{ sentence }: Extract<Outcome, { kind: "failed" }>,
	start: TurnStart,
	{ outlet }: NoticeAbout,
) {
	return toDeliveries(sentence, posting(start), outlet);
}

/** Only what a human has to decide. */
function asked(outcome: Outcome, start: TurnStart, about: NoticeAbout): NewDelivery[] {
	if (outcome.kind !== "completed" || !outcome.questions?.length) return [];
	return said({ ...outcome, text: "" }, start, about);
}

/** A question with buttons or reactions is a separate message; any other is the end of the text. */
function said(
	{ text, questions = [] }: Extract<Outcome, { kind: "completed" }>,
	start: TurnStart,
	{ outlet }: NoticeAbout,
): NewDelivery[] {
	const to = posting(start);
	const { buttons, answeredByReaction } = outlet.shows(start.destination);
	if (questions.length === 0 || !(buttons || answeredByReaction)) {
		const all = [...(text === "" ? [] : [text]), ...questions.map((question) => question.text)];
		return toDeliveries(all.join("\n\n"), to, outlet);
	}
	const parts = text === "" ? [] : toDeliveries(text, to, outlet);
	for (const question of questions)
		parts.push(...questionDeliveries(question, { ...to, firstPart: parts.length + 1 }, outlet));
	return parts;
}

function posting({ turn: id, destination }: TurnStart) {
	return { id, kind: "reply", destination } as const;
}

export interface NoticeAbout {
	readonly policy: ResetPolicy;
	/** The model that answered; null: the agent has none. */
	readonly model: string | null;
	readonly outlet: Outlet;
}

/** Notices before the reply: Keryx was away, a new session started. Each at most once, by its id. */
export function noticesBefore(start: TurnStart, { policy, model, outlet }: NoticeAbout): NewDelivery[] {
	const { away, boundary, turn, session, destination, conversationInfo, cap } = start;
	const began = { model, cap };
	const notify = notifiesBoundaries(policy, conversationInfo.platform);
	const opened = boundary && isUnannounced(boundary) ? boundaryNotice({ ...boundary, notify, began }) : null;
	const notice = { kind: "notice", destination } as const;
	return [
		...(away === null ? [] : toDeliveries(away, { ...notice, id: `${turn}:away`, class: "status" }, outlet)),
		...(opened === null
			? []
			: toDeliveries(opened, { ...notice, id: `${session}:opened`, class: "warning" }, outlet)),
	];
}

/** After a rotation the user was notified at once; this note is only for the agent, if nothing was carried over. */
function isUnannounced({ cause, carriedOver }: BoundaryFacts): boolean {
	return cause.reason !== "message_limit" || carriedOver;
}

/** What a rotation at the end of this turn needs. */
export function rotation(
	{ session, destination, conversationInfo }: TurnStart,
	{
		policy,
		model,
		outlet,
		cap,
		opening,
		processes,
		confirmations,
		checkpoint,
	}: NoticeAbout & {
		readonly cap: number;
		readonly opening: ReturnType<SessionSettings["openingOf"]>;
		readonly processes: BoundaryFacts["processes"];
		readonly confirmations: BoundaryFacts["confirmations"];
		readonly checkpoint: BoundaryFacts["checkpoint"];
	},
): NonNullable<Parameters<Store["endTurn"]>[0]["ifRotated"]> {
	const material = { processes, confirmations, checkpoint };
	const facts: BoundaryFacts = {
		cause: { reason: "message_limit", cap },
		ended: { id: session, title: null, hadActivity: true },
		carriedOver: carriesOver(policy, "message_limit"),
		lastExchange: { user: null, assistant: "" },
		...material,
	};
	const notice = boundaryNotice({
		...facts,
		notify: notifiesBoundaries(policy, conversationInfo.platform),
		began: { model, cap: policy.maxMessages },
	});
	return {
		...opening,
		material,
		notice:
			// A separate message that nobody asked for; the next answer is a message anyway.
			notice === null || outlet.isOneMessage(destination)
				? []
				: toDeliveries(
						notice,
						{ id: `${session}:rotated`, kind: "notice", class: "warning", destination },
						outlet,
					),
	};
}

export function asRow(message: AssistantMessage): NewMessage {
	const { content, toolCalls, reasoning, finishReason } = message;
	return {
		role: "assistant",
		content,
		finishReason,
		...(toolCalls.length > 0 && { toolCalls }),
		...(reasoning !== undefined && { reasoning }),
	};
}
