// The agent of a job that runs a command: one terminal call, approved like any other, with its output as the answer. No model.
import { NO_USAGE, type StepAgent, type StepEvent } from "../../agents/index.ts";
import { contentText } from "../../domain/index.ts";

export function commandAgent(command: string): StepAgent {
	return {
		kind: "step",
		name: "job",
		async *step({ history, turn, tools }): AsyncIterable<StepEvent> {
			const usage = { provider: "keryx", model: "job", ...NO_USAGE };
			const last = history.at(-1);
			if (last?.role === "tool") {
				const text = contentText(last.content);
				if (last.isError) yield { type: "failed", failure: { kind: "refused", detail: text.slice(0, 500) } };
				else yield { type: "done", message: { content: text, toolCalls: [], finishReason: "stop" }, usage };
				return;
			}
			if (!tools.some(({ name }) => name === "terminal")) {
				const detail = "the owner of the job may not run commands";
				yield { type: "failed", failure: { kind: "refused", detail } };
				return;
			}
			const call = { id: `job-${turn}`, name: "terminal", input: { command } };
			yield { type: "done", message: { content: "", toolCalls: [call], finishReason: "tool-calls" }, usage };
		},
	};
}
