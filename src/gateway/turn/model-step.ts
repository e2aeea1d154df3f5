// One model step: the agent's stream under its deadlines. The result is always a value and contains no known secret (I12).
import {
	type AgentFailure,
	type AssistantMessage,
	CUT,
	NO_USAGE,
	type StepAgent,
	type StepInput,
	type Usage,
} from "../../agents/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import { Aborted, type Clock, DeadlinePassed, signalWithin, withDeadlines } from "../../time/index.ts";
import { cutSentence } from "../sentences.ts";

export type StepOutcome =
	| {
			readonly kind: "done";
			readonly message: AssistantMessage;
			/** Ids of calls that contained a secret instead of its name. */
			readonly literal: ReadonlySet<string>;
			readonly usage: Usage;
	  }
	| { readonly kind: "failed"; readonly failure: AgentFailure }
	| { readonly kind: "aborted" };

export interface StepLimits {
	readonly firstTokenMs: number;
	readonly totalMs: number;
}

export async function modelStep(
	agent: StepAgent,
	input: StepInput,
	{
		clock,
		limits,
		secrets,
		onText,
	}: {
		readonly clock: Clock;
		readonly limits: StepLimits;
		readonly secrets: Secrets;
		readonly onText: (delta: string) => void;
	},
): Promise<StepOutcome> {
	// Its own signal: a step past its deadline is stopped, while the turn continues to report it.
	const { signal, end } = signalWithin(input.signal);
	let first = true;
	const text = secrets.stream();
	const { maxAnswer = Number.POSITIVE_INFINITY } = input;
	let said = "";
	let length = 0;
	const tell = (delta: string) => {
		said += delta;
		if (delta !== "") onText(delta);
	};
	try {
		for await (const event of withDeadlines(agent.step({ ...input, signal }), {
			clock,
			limits,
			signal: input.signal,
		})) {
			first = false;
			if (event.type === "done") return doneWith(event, secrets, maxAnswer);
			if (event.type === "failed") return { kind: "failed", failure: secrets.hideIn(event.failure) };
			if (event.type !== "text") continue;
			length += event.delta.length;
			// An agent that keeps going is ignored.
			if (length > maxAnswer) {
				tell(text.end());
				return cutOff(said, agent, maxAnswer);
			}
			tell(text.push(event.delta));
		}
		return failed("malformed", "the agent ended without an answer");
	} catch (error) {
		if (error instanceof Aborted || input.signal.aborted) return { kind: "aborted" };
		if (error instanceof DeadlinePassed)
			return failed("timeout", first ? "no first token in time" : "no end in time");
		return failed("malformed", secrets.hide(error instanceof Error ? error.message : String(error)));
	} finally {
		tell(text.end());
		end();
	}
}

function doneWith(
	{ message, usage }: { readonly message: AssistantMessage; readonly usage: Usage },
	secrets: Secrets,
	maxAnswer: number,
): StepOutcome {
	const hidden = secrets.hideIn(cutMarked(message, maxAnswer));
	const literal = hidden.toolCalls.filter((_, index) => secrets.isIn(message.toolCalls[index]?.input));
	return { kind: "done", message: hidden, literal: new Set(literal.map(({ id }) => id)), usage };
}

/** Marks the cut in the answer itself, so that it is stored and shown. */
export function cutMarked(message: AssistantMessage, maxAnswer: number): AssistantMessage {
	if (message.finishReason !== CUT) return message;
	const { content } = message;
	const mark = cutSentence(maxAnswer);
	return {
		...message,
		content:
			typeof content === "string" ? `${content}\n\n${mark}` : [...content, { type: "text", text: mark }],
	};
}

function cutOff(content: string, { name }: StepAgent, maxAnswer: number): StepOutcome {
	const message = { content, toolCalls: [], finishReason: CUT };
	const usage = { ...NO_USAGE, provider: name, model: "", costMicros: null };
	return { kind: "done", message: cutMarked(message, maxAnswer), literal: new Set(), usage };
}

function failed(kind: AgentFailure["kind"], detail: string): StepOutcome {
	return { kind: "failed", failure: { kind, detail } };
}
