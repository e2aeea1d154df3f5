// One model step: the agent's stream under its deadlines. Whatever the agent does, the answer is a value, and no known secret
// stands in it (I12).
import type { AgentFailure, AssistantMessage, StepAgent, StepInput, Usage } from "../agents/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Clock } from "../time/index.ts";
import { Aborted, DeadlinePassed, signalWithin, withDeadlines } from "./deadline.ts";

export type StepOutcome =
	| {
			readonly kind: "done";
			readonly message: AssistantMessage;
			/** Ids of calls that held a secret where its name belongs. */
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
	// A signal of its own: a step that passed its deadline is told to stop, the turn goes on to say so.
	const { signal, end } = signalWithin(input.signal);
	let first = true;
	const text = secrets.stream();
	const tell = (delta: string) => delta !== "" && onText(delta);
	try {
		for await (const event of withDeadlines(agent.step({ ...input, signal }), {
			clock,
			limits,
			signal: input.signal,
		})) {
			first = false;
			if (event.type === "done") return doneWith(event, secrets);
			if (event.type === "failed") return { kind: "failed", failure: secrets.hideIn(event.failure) };
			if (event.type === "text") tell(text.push(event.delta));
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
): StepOutcome {
	const hidden = secrets.hideIn(message);
	const literal = hidden.toolCalls.filter((_, index) => secrets.isIn(message.toolCalls[index]?.input));
	return { kind: "done", message: hidden, literal: new Set(literal.map(({ id }) => id)), usage };
}

function failed(kind: AgentFailure["kind"], detail: string): StepOutcome {
	return { kind: "failed", failure: { kind, detail } };
}
