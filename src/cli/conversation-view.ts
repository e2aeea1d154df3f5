// Converts the API's frames to chat events. Messages come from rows, streaming text from deltas; side messages (notices, answers of
// commands, failures) come from deliveries.

import { contentText } from "../domain/index.ts";
import { TURN_BEGINS } from "../http/client/index.ts";
import type { Followed, WireDelivery, WireEvent, WireMessage } from "../http/index.ts";
import type { ChatEvent } from "./chat/index.ts";
import { texts } from "./texts.ts";

export class ConversationView {
	readonly #show: (event: ChatEvent) => void;
	/** Written here and already shown, by inbound id: their rows are not shown again. */
	readonly #mine = new Set<number>();
	/** On their way: what they are accepted as is not known yet. */
	#sending = 0;
	/** Messages that arrived meanwhile, from the first that may be one of these. */
	#waiting: Followed[] = [];
	/** Deliveries of an unfinished turn: shown if the transcript does not contain them. */
	readonly #replies = new Map<string, string[]>();
	readonly #answered = new Set<string>();
	#lastMessage = 0;
	#running: string | null = null;

	constructor(show: (event: ChatEvent) => void) {
		this.#show = show;
	}

	/** The turn that runs, as far as is known here. */
	get running(): string | null {
		return this.#running;
	}

	/** A message being sent from here. Its end says which message it became, or null: it was not accepted after all. */
	sent(text: string): (inbound: number | null) => void {
		this.#sending++;
		this.#show({ kind: "user", author: null, text, mine: true });
		return (inbound) => {
			if (inbound !== null) this.#mine.add(inbound);
			if (--this.#sending > 0) return;
			for (const frame of this.#waiting.splice(0)) this.#take(frame);
		};
	}

	/** The current rows of the transcript, marking one's own; rows that come again as events are skipped. */
	load(messages: readonly WireMessage[], isMine: boolean): void {
		for (const message of messages) this.#message(message, { index: null, isMine, isShown: false });
	}

	take(frame: Followed): void {
		if (this.#sending > 0 && (this.#waiting.length > 0 || isFromPerson(frame))) this.#waiting.push(frame);
		else this.#take(frame);
	}

	#take(frame: Followed): void {
		if (frame.kind === "delta") {
			const { turn, index, offset, text } = frame.delta;
			this.#show({ kind: "delta", turn, index, offset, text });
		} else if (frame.kind === "event") this.#event(frame.event);
		else if (frame.kind === "lost" || frame.kind === "restored")
			this.#show({ kind: "connection", state: frame.kind });
		else if (frame.kind === "resync") this.#show({ kind: "notice", text: texts.chat.gap });
	}

	#event({ type, turn, facts, message, delivery }: WireEvent): void {
		if (type === "message.appended" && message)
			this.#message(message, {
				index: facts.index ?? null,
				isMine: false,
				isShown: facts.inbound !== undefined && this.#mine.delete(facts.inbound),
			});
		else if (type === "delivery.pending" && delivery) this.#delivery(delivery);
		else if (turn !== null && TURN_BEGINS.has(type)) {
			this.#running = turn;
			this.#show({ kind: "turn", turn, state: "begun" });
		} else if (turn !== null && type === "turn.ended") this.#ended(turn, facts.outcome);
	}

	#delivery({ kind, turn, text, plain }: WireDelivery): void {
		if (kind === "notice") this.#show({ kind: "notice", text: plain });
		else if (kind === "command") this.#show({ kind: "reply", text });
		else if (turn !== null) this.#replies.set(turn, [...(this.#replies.get(turn) ?? []), plain]);
	}

	#ended(turn: string, outcome: string): void {
		const reply = this.#replies.get(turn);
		if (reply && (outcome === "failed" || !this.#answered.has(turn)))
			this.#show({ kind: "notice", text: reply.join("") });
		this.#replies.delete(turn);
		this.#answered.delete(turn);
		if (this.#running === turn) this.#running = null;
		this.#show({ kind: "turn", turn, state: "ended", outcome });
	}

	#message(
		message: WireMessage,
		{ index, isMine, isShown }: { index: number | null; isMine: boolean; isShown: boolean },
	): void {
		if (message.id <= this.#lastMessage) return;
		this.#lastMessage = message.id;
		if (message.hidden) return;
		const text = textOf(message.content);
		const turn = message.turn ?? "";
		if (message.role === "user" && !isShown)
			this.#show({
				kind: "user",
				author: isMine ? null : (message.author?.name ?? null),
				text,
				mine: isMine,
			});
		if (message.role === "assistant") {
			if (text !== "") this.#show({ kind: "answer", turn, index, text });
			if (text !== "" && message.tool_calls.length === 0) this.#answered.add(turn);
			for (const { id, name, input } of message.tool_calls)
				this.#show({ kind: "call", turn, id, name, args: JSON.stringify(input) ?? "" });
		}
		if (message.role === "tool")
			this.#show({
				kind: "result",
				id: message.tool_call_id ?? "",
				name: message.tool_name ?? "",
				text,
				isError: message.is_error,
			});
		if (message.role === "meta" && message.kind === "carry_over")
			this.#show({ kind: "boundary", text: "a new session" });
	}
}

function isFromPerson(frame: Followed): boolean {
	return frame.kind === "event" && frame.event.message?.role === "user";
}

/** The words of a message; an attachment counts by its name. */
export function textOf(content: WireMessage["content"]): string {
	return contentText(content, ({ type, name }) => `[${type} ${name ?? ""}]`);
}
