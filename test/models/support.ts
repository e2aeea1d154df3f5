// A model agent for tests: settings with a server on this machine, a clock that does not wait, and a step as one call.
import {
	createModelAgent,
	type ModelAgent,
	type ModelAgentOptions,
	type ModelSettings,
	type StepEvent,
	type StepInput,
} from "../../src/agents/index.ts";

export const KEY = "sk-keryx-TestKey0123456789abcdef";

/** A picture of one point. */
export const PNG = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	"base64",
);

export interface Waits {
	/** What was waited for, in milliseconds. */
	readonly waits: number[];
}

/** Time that passes at once; `waits` says how much. */
export function instantClock(): ModelAgentOptions["clock"] & Waits {
	const waits: number[] = [];
	return {
		waits,
		now: () => 1_000_000,
		monotonic: () => 0,
		after: (ms, callback) => {
			waits.push(ms);
			const timer = setImmediate(callback);
			return () => clearImmediate(timer);
		},
	};
}

export function modelAgent(
	settings: Partial<ModelSettings> & Pick<ModelSettings, "base_url">,
	options: Partial<ModelAgentOptions> = {},
): ModelAgent {
	return createModelAgent({
		settings: {
			provider: "openai-compatible",
			model: "test-model",
			api_key_env: "TEST_KEY",
			failover: [],
			retries: 2,
			prices: {},
			...settings,
		},
		env: { TEST_KEY: KEY },
		clock: instantClock(),
		readBlob: async () => PNG,
		random: () => 0.5,
		...options,
	});
}

export function stepInput(input: Partial<StepInput> = {}): StepInput {
	return {
		conversation: "c",
		session: "20260310_120000_00000001",
		turn: "t",
		system: "You are tested.",
		history: [{ role: "user", kind: "person", content: "hello" }],
		notes: ["The time is now."],
		tools: [],
		standing: "owner",
		override: null,
		signal: new AbortController().signal,
		...input,
	};
}

export async function run(agent: ModelAgent, input: Partial<StepInput> = {}): Promise<StepEvent[]> {
	const events: StepEvent[] = [];
	for await (const event of agent.step(stepInput(input))) events.push(event);
	return events;
}

export function textIn(events: readonly StepEvent[]): string {
	return events.map((event) => (event.type === "text" ? event.delta : "")).join("");
}

export function doneOf(events: readonly StepEvent[]): Extract<StepEvent, { type: "done" }> {
	const end = events.at(-1);
	if (end?.type !== "done") throw new Error(`not done: ${JSON.stringify(end)}`);
	return end;
}

export function failureOf(events: readonly StepEvent[]): Extract<StepEvent, { type: "failed" }>["failure"] {
	const end = events.at(-1);
	if (end?.type !== "failed") throw new Error(`not failed: ${JSON.stringify(end)}`);
	return end.failure;
}
