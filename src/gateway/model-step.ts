// One model step: the agent's stream under its deadlines. Whatever the agent does, the answer is a value.
import type { AgentFailure, AssistantMessage, StepAgent, StepInput, Usage } from "../agents/index.ts";
import type { Clock } from "../time/index.ts";
import { Aborted, DeadlinePassed, signalWithin, withDeadlines } from "./deadline.ts";

export type StepOutcome =
	| { readonly kind: "done"; readonly message: AssistantMessage; readonly usage: Usage }
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
		onText,
	}: { readonly clock: Clock; readonly limits: StepLimits; readonly onText: (delta: string) => void },
): Promise<StepOutcome> {
	// A signal of its own: a step that passed its deadline is told to stop, the turn goes on to say so.
	const { signal, end } = signalWithin(input.signal);
	let first = true;
	try {
		for await (const event of withDeadlines(agent.step({ ...input, signal }), {
			clock,
			limits,
			signal: input.signal,
		})) {
			first = false;
			if (event.type === "done") return { kind: "done", message: event.message, usage: event.usage };
			if (event.type === "failed") return { kind: "failed", failure: event.failure };
			if (event.type === "text") onText(event.delta);
		}
		return failed("malformed", "the agent ended without an answer");
	} catch (error) {
		if (error instanceof Aborted || input.signal.aborted) return { kind: "aborted" };
		if (error instanceof DeadlinePassed)
			return failed("timeout", first ? "no first token in time" : "no end in time");
		return failed("malformed", error instanceof Error ? error.message : String(error));
	} finally {
		end();
	}
}

function failed(kind: AgentFailure["kind"], detail: string): StepOutcome {
	return { kind: "failed", failure: { kind, detail } };
}
