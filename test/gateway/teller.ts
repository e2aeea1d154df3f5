// An agent for conversations that several people share, where each message has its writer's name before it.
import type { StepAgent } from "../../src/agents/index.ts";

/** Does what the newest message says, and says aloud what came of it. */
export function teller(): StepAgent {
	return {
		kind: "step",
		name: "teller",
		async *step({ history }) {
			const last = history.at(-1);
			const text = typeof last?.content === "string" ? last.content : JSON.stringify(last?.content);
			const lines = last?.role === "user" && last.kind === "person" ? text.split("\n") : [];
			const [, name, input] =
				lines.map((line) => /(?:^|\] )call (\w+) (.*)$/.exec(line)).find((match) => match !== null) ?? [];
			const toolCalls = name
				? [{ id: `c${history.length}`, name, input: JSON.parse(input as string) as unknown }]
				: [];
			yield {
				type: "done",
				message: { content: name ? "one moment" : `heard: ${text}`, toolCalls, finishReason: "stop" },
				usage: {
					provider: "teller",
					model: "teller",
					inputTokens: 0,
					outputTokens: 0,
					costMicros: null,
					currency: "USD",
				},
			};
		},
	};
}
