import type { LoopInput } from "../../src/agents/index.ts";
import type { PromptMessage } from "../../src/domain/index.ts";

export function person(content: string): PromptMessage {
	return { role: "user", kind: "person", content };
}

export function inputOf(given: Partial<LoopInput> | string): LoopInput {
	return {
		conversation: "c",
		session: "20260310_120000_00000001",
		turn: "t",
		system: "You are tested.",
		history: [],
		notes: [],
		tools: [],
		standing: "owner",
		override: null,
		permit: () => Promise.resolve("impossible"),
		signal: new AbortController().signal,
		...(typeof given === "string" ? { history: [person(given)] } : given),
	};
}
