// What a program that loops itself reports, stored as if the gateway had run it. No known secret goes on from here (I12).
import {
	type AgentFailure,
	CUT,
	type LoopAgent,
	type LoopEvent,
	type LoopInput,
	type Usage,
} from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { NewMessage } from "../../domain/index.ts";
import type { Secrets, TextStream } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import { withDeadlines } from "../deadline.ts";
import { asRow } from "./end.ts";
import { cutMarked } from "./model-step.ts";

export interface ReportSink {
	onText(delta: string): void;
	append(messages: readonly NewMessage[]): Promise<unknown>;
	/** A message that is not the last one was written. */
	said(message: NewMessage): void;
	used(usage: Usage): void;
	/** What was being written is whole. */
	messageEnded(): void;
}

export class ProgramReport {
	readonly #sink: ReportSink;
	readonly #secrets: Secrets;
	/** Hides in the text that is being written. */
	#text: TextStream;
	/** The message that may be the last: that one is committed with the end of the turn. */
	#held: NewMessage | null = null;
	/** The text of the message that is being written. */
	#saying = "";

	constructor(sink: ReportSink, secrets: Secrets) {
		this.#sink = sink;
		this.#secrets = secrets;
		this.#text = secrets.stream();
	}

	/** Follows the program to its end. Throws what a deadline or the signal throws. */
	async follow(
		agent: LoopAgent,
		input: LoopInput,
		{ clock, turn }: { readonly clock: Clock; readonly turn: Config["turn"] },
	): Promise<{ readonly kind: "done" } | { readonly kind: "failed"; readonly failure: AgentFailure }> {
		// Its own controller: a program that passed a deadline is told to stop, the turn goes on to say so.
		const controller = new AbortController();
		const signal = AbortSignal.any([input.signal, controller.signal]);
		const limits = { firstTokenMs: turn.first_token_seconds * 1000, totalMs: turn.max_minutes * 60_000 };
		const { maxAnswer = Number.POSITIVE_INFINITY } = input;
		let length = 0;
		try {
			const events = withDeadlines(agent.run({ ...input, signal }), { clock, limits, signal: input.signal });
			for await (const event of events) {
				if (event.type === "text") {
					length += event.delta.length;
					// A program that goes on past the limit is not listened to any more.
					if (length > maxAnswer) return await this.#cut(maxAnswer);
					this.#tell(this.#text.push(event.delta));
				} else if (event.type === "failed")
					return { kind: "failed", failure: this.#secrets.hideIn(event.failure) };
				else if (event.type === "done") return { kind: "done" };
				else if (event.type !== "thinking") await this.#store(event, maxAnswer);
			}
		} finally {
			this.#tellRest();
			controller.abort();
		}
		return { kind: "failed", failure: { kind: "malformed", detail: "the agent ended without an answer" } };
	}

	/** What it has said of this message so far is its answer. */
	async #cut(maxAnswer: number): Promise<{ readonly kind: "done" }> {
		this.#tellRest();
		await this.#appendHeld();
		this.#sink.messageEnded();
		const message = { content: this.#saying, toolCalls: [], finishReason: CUT };
		this.#held = asRow(cutMarked(message, maxAnswer));
		return { kind: "done" };
	}

	takeHeld(): NewMessage[] {
		const held = this.#held;
		this.#held = null;
		return held ? [held] : [];
	}

	#tell(delta: string): void {
		this.#saying += delta;
		if (delta !== "") this.#sink.onText(delta);
	}

	#tellRest(): void {
		this.#tell(this.#text.end());
		this.#text = this.#secrets.stream();
	}

	/** Each message is written when the next thing follows. */
	async #store(
		reported: Extract<LoopEvent, { type: "message" | "result" }>,
		maxAnswer: number,
	): Promise<void> {
		const event = this.#secrets.hideIn(
			reported.type === "message"
				? { ...reported, message: cutMarked(reported.message, maxAnswer) }
				: reported,
		);
		this.#tellRest();
		this.#saying = "";
		await this.#appendHeld();
		this.#sink.messageEnded();
		if (event.type === "message") {
			if (event.usage) this.#sink.used(event.usage);
			this.#held = asRow(event.message);
			// Its calls have begun: after a crash the record must say so.
			if (event.message.toolCalls.length > 0) await this.#appendHeld();
			return;
		}
		const { toolCallId, toolName, content, isError } = event;
		await this.#sink.append([{ role: "tool", toolCallId, toolName, content, ...(isError && { isError }) }]);
	}

	async #appendHeld(): Promise<void> {
		const held = this.takeHeld();
		await this.#sink.append(held);
		for (const message of held) this.#sink.said(message);
	}
}
