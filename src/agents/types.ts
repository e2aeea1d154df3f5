// What answers. Two kinds: one that makes a model step per call, with the loop in the gateway; and one that loops itself and
// reports what it did. Errors of a model are data (AgentFailure), never exceptions that reach a user.
import type { Content, ModelOverride, PromptMessage, Standing, ToolCall } from "../domain/index.ts";

export interface ToolSpec {
	readonly name: string;
	readonly description: string;
	/** JSON Schema of the arguments. */
	readonly input: Readonly<Record<string, unknown>>;
}

export interface StepInput {
	readonly conversation: string;
	readonly session: string;
	readonly turn: string;
	/** Byte-equal for the whole session, so that prompt caches hold. */
	readonly system: string;
	readonly history: readonly PromptMessage[];
	/** For this step only, last in the prompt, never stored. */
	readonly notes: readonly string[];
	readonly tools: readonly ToolSpec[];
	/** The least that the people this turn speaks for are: what is kept for one must not serve another. */
	readonly standing: Standing;
	readonly override: ModelOverride | null;
	/** Aborted when the turn is stopped or passes a deadline. */
	readonly signal: AbortSignal;
	/** Characters. An answer that grows past this is ended there, with what there is of it and the finish reason CUT. */
	readonly maxAnswer?: number;
}

export interface Usage {
	readonly provider: string;
	readonly model: string;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** How many of the input tokens came from the provider's cache, where it says so. */
	readonly cachedInputTokens?: number;
	/** In millionths of the currency; null where no price is known. */
	readonly costMicros: number | null;
	readonly currency: string;
}

export interface AssistantMessage {
	readonly content: Content;
	readonly toolCalls: readonly ToolCall[];
	/** Provider-specific items, verbatim, with the provider's name; of use to nobody else. */
	readonly reasoning?: unknown;
	readonly finishReason: string;
}

/** The finish reason of an answer that is longer than allowed. */
export const CUT = "max_answer";

export const FAILURE_KINDS = [
	"rate_limited",
	"key_missing",
	"context_too_large",
	"attachment_refused",
	"provider_down",
	/** A program that answers ended, could not be started, or answered with an error. */
	"program_failed",
	"refused",
	"malformed",
	"timeout",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export interface Suspect {
	readonly digest: string;
	/** Of the file, not of its form in the request. */
	readonly bytes: number;
}

export interface AgentFailure {
	readonly kind: FailureKind;
	/** For the record and the operator; the user gets a plain sentence by kind. */
	readonly detail: string;
	readonly retryAfterMs?: number;
	/** Digests of what the provider named as the reason: one part of the request, or all of a kind that it does not take. */
	readonly attachments?: readonly string[];
	/**
	 * What was attached to the refused request, the newest last, where the refusal may be about that. Left out where its reason is
	 * known to be another, or where a part of the answer was shown.
	 */
	readonly suspects?: readonly Suspect[];
}

/**
 * Deltas, then exactly one done or failed. Joined, the deltas are the final text or its beginning. After an abort the
 * iteration ends soon, with nothing more: whoever aborted knows why, and needs no event to say so.
 */
export type StepEvent =
	| { readonly type: "text"; readonly delta: string }
	/** The model is at work, and has nothing to show yet: its first token is there. */
	| { readonly type: "thinking" }
	| { readonly type: "done"; readonly message: AssistantMessage; readonly usage: Usage }
	| { readonly type: "failed"; readonly failure: AgentFailure };

export interface StepAgent {
	readonly kind: "step";
	readonly name: string;
	step(input: StepInput): AsyncIterable<StepEvent>;
}

/** What a program that loops itself reports; calls and results are stored as if the gateway had run them. */
export type LoopEvent =
	| { readonly type: "text"; readonly delta: string }
	/** The program is at work, and has nothing to show: it thinks, or waits for a human. */
	| { readonly type: "thinking" }
	| { readonly type: "message"; readonly message: AssistantMessage; readonly usage?: Usage }
	| {
			readonly type: "result";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly content: Content;
			readonly isError: boolean;
	  }
	| { readonly type: "done" }
	| { readonly type: "failed"; readonly failure: AgentFailure };

/**
 * What a human, or nobody in time, has said to a call that a program asks leave for. impossible: nobody can be asked. limited: people
 * were asked about as many of these as they may be.
 */
export type Permission = "approved" | "denied" | "expired" | "cancelled" | "impossible" | "limited";

export interface LoopInput extends StepInput {
	/** Asks a human, and waits. Never throws; ends as cancelled when the turn does. */
	readonly permit: (
		call: ToolCall,
		question: { readonly action: string; readonly description: string },
	) => Promise<Permission>;
}

export interface LoopAgent {
	readonly kind: "loop";
	readonly name: string;
	run(input: LoopInput): AsyncIterable<LoopEvent>;
	/** Ends what it keeps running between turns. */
	close?(): Promise<void>;
}

export type Agent = StepAgent | LoopAgent;

export const NO_USAGE = { inputTokens: 0, outputTokens: 0, costMicros: 0, currency: "USD" } as const;
