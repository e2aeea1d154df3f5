// Agents. Two kinds: one makes a model step per call, with the loop in the gateway; the other runs its own loop and reports what it did.
// A model's errors are data (AgentFailure), never exceptions that reach a user.
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
	/** Byte-equal for the whole session, for prompt caches. */
	readonly system: string;
	readonly history: readonly PromptMessage[];
	/** Only for this step, last in the prompt, never stored. */
	readonly notes: readonly string[];
	readonly tools: readonly ToolSpec[];
	/** The lowest role of the people this turn speaks for: anything kept for one role must not serve another. */
	readonly standing: Standing;
	readonly override: ModelOverride | null;
	/** Aborted when the turn is stopped or passes a deadline. */
	readonly signal: AbortSignal;
	/** Characters. A longer answer is cut there, with the finish reason CUT. */
	readonly maxAnswer?: number;
}

export interface Usage {
	readonly provider: string;
	readonly model: string;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** How many input tokens came from the provider's cache, if known. */
	readonly cachedInputTokens?: number;
	/** In millionths of the currency; null if no price is known. */
	readonly costMicros: number | null;
	readonly currency: string;
}

export interface AssistantMessage {
	readonly content: Content;
	readonly toolCalls: readonly ToolCall[];
	/** Provider-specific items, verbatim, with the provider's name; useless to others. */
	readonly reasoning?: unknown;
	readonly finishReason: string;
}

/** The finish reason of a too long answer. */
export const CUT = "max_answer";

export const FAILURE_KINDS = [
	"rate_limited",
	"key_missing",
	"context_too_large",
	"attachment_refused",
	"provider_down",
	/** An agent program exited, could not start, or returned an error. */
	"program_failed",
	"refused",
	"malformed",
	"timeout",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export interface Suspect {
	readonly digest: string;
	/** The file's size, not its size in the request. */
	readonly bytes: number;
}

export interface AgentFailure {
	readonly kind: FailureKind;
	/** For the record and the operator; the user gets a plain sentence by kind. */
	readonly detail: string;
	readonly retryAfterMs?: number;
	/** Digests of the attachments the provider named: one part of the request, or all of a refused kind. */
	readonly attachments?: readonly string[];
	/**
	 * The refused request's attachments, newest last, if the refusal may be about them. Absent if the cause is known to be another, or if
	 * part of the answer was shown.
	 */
	readonly suspects?: readonly Suspect[];
}

/**
 * Deltas, then exactly one done or failed. The joined deltas are the final text or its start. After an abort the iteration ends soon,
 * without further events.
 */
export type StepEvent =
	| { readonly type: "text"; readonly delta: string }
	/** The model is working, with nothing to show yet: its first token has arrived. */
	| { readonly type: "thinking" }
	| { readonly type: "done"; readonly message: AssistantMessage; readonly usage: Usage }
	| { readonly type: "failed"; readonly failure: AgentFailure };

export interface StepAgent {
	readonly kind: "step";
	readonly name: string;
	step(input: StepInput): AsyncIterable<StepEvent>;
}

/** An agent program's reports; calls and results are stored as if the gateway had run them. */
export type LoopEvent =
	| { readonly type: "text"; readonly delta: string }
	/** The program is working, with nothing to show: it thinks, or waits for a human. */
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

/** The answer to a program's permission request. impossible: nobody can be asked. limited: too many questions were asked. */
export type Permission = "approved" | "denied" | "expired" | "cancelled" | "impossible" | "limited";

export interface LoopInput extends StepInput {
	/** Asks a human, and waits. Never throws; ends as cancelled with the turn. */
	readonly permit: (
		call: ToolCall,
		question: { readonly action: string; readonly description: string },
	) => Promise<Permission>;
}

export interface LoopAgent {
	readonly kind: "loop";
	readonly name: string;
	run(input: LoopInput): AsyncIterable<LoopEvent>;
	/** Stops what it keeps running between turns. */
	close?(): Promise<void>;
}

export type Agent = StepAgent | LoopAgent;

export const NO_USAGE = { inputTokens: 0, outputTokens: 0, costMicros: 0, currency: "USD" } as const;
