// Stores an agent program's own tool calls and texts as if the gateway had run them. No known secret passes (I12).
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
import { type Clock, withDeadlines } from "../../time/index.ts";
import { asRow } from "./end.ts";
import { cutMarked } from "./model-step.ts";

export interface ReportSink {
	onText(delta: string): void;
	append(messages: readonly NewMessage[]): Promise<unknown>;
	/** A message that is not the last one was written. */
	said(message: NewMessage): void;
	used(usage: Usage): void;
	/** The current message is complete. */
	messageEnded(): void;
}

export class ProgramReport {
	readonly #sink: ReportSink;
	readonly #secrets: Secrets;
	/** Hides secrets in the current text. */
	#text: TextStream;
	/** Possibly the last message, which is committed with the end of the turn. */
	#held: NewMessage | null = null;
	/** The text of the current message. */
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
		// Its own controller: a program past a deadline is stopped, while the turn continues to report it.
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
					// A program that continues past the limit is ignored.
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

	/** Its text so far is its answer. */
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

	/** Each message is written when the next item follows. */
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
			// Its calls have started: after a crash the record must say so.
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
