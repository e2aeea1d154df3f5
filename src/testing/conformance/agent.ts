// The promises of every agent, of both kinds. Run this suite over your own agent.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
	Agent,
	AgentFailure,
	AssistantMessage,
	FailureKind,
	LoopEvent,
	LoopInput,
	StepEvent,
	ToolSpec,
	Usage,
} from "../../agents/index.ts";
import { type Content, contentText, type PromptMessage, type ToolCall } from "../../domain/index.ts";

/** The input of an agent in one step. */
export interface Ask {
	readonly history: readonly PromptMessage[];
	readonly notes?: readonly string[];
	readonly tools?: readonly ToolSpec[];
}

export interface AgentUnderTest {
	readonly agent: Agent;
	/** Inputs it answers; with tools if it would use them. Every form of its answers should occur. */
	readonly asks: readonly Ask[];
	/** Inputs it waits on until they are aborted. */
	readonly slow: readonly Ask[];
	/** Inputs on which its model fails. */
	readonly failing: readonly { readonly ask: Ask; readonly kind: FailureKind }[];
	/** Whether the same input always gets the same answer. */
	readonly deterministic: boolean;
}

type Event = StepEvent | LoopEvent;

const PROMPT_MS = 2000;

export function agentConformance(name: string, make: () => AgentUnderTest): void {
	describe(`agent: ${name}`, () => {
		test("a step is deltas, then one end and nothing behind it, in plain data", async () => {
			const { agent, asks } = make();
			expect(asks.length).toBeGreaterThan(0);
			for (const ask of asks) expectLaws(agent, ask, await answer(agent, ask));
		});

		test("whatever stands in the history, the laws hold", async () => {
			const { agent } = make();
			await fc.assert(
				fc.asyncProperty(anyAsk, async (ask) => expectLaws(agent, ask, await answer(agent, ask))),
				{ numRuns: 50 },
			);
		});

		test("a failing model is an event of its kind, never an exception", async () => {
			const { agent, failing } = make();
			for (const { ask, kind } of failing) {
				const events = await answer(agent, ask);
				expectLaws(agent, ask, events);
				expect(events.at(-1)).toMatchObject({ type: "failed", failure: { kind } });
			}
		});

		test("a step that is aborted before it begins says nothing", async () => {
			const { agent, asks, slow } = make();
			for (const ask of [...asks, ...slow]) {
				const events = collect(start(agent, ask, AbortSignal.abort()));
				expect(await promptly(events)).toEqual([]);
			}
		});

		test("an abort ends a step that waits, promptly and without a further event", async () => {
			const { agent, slow } = make();
			for (const ask of slow) {
				const controller = new AbortController();
				const iterator = start(agent, ask, controller.signal)[Symbol.asyncIterator]();
				let next = iterator.next();
				// As far as it goes by itself; then it waits.
				while (await settlesSoon(next)) {
					expect((await next).value).toMatchObject({ type: expect.not.stringMatching(/^(done|failed)$/) });
					next = iterator.next();
				}
				controller.abort();
				expect(await promptly(next)).toEqual({ done: true, value: undefined });
			}
		});

		test("an abort between two events ends the step before the next one", async () => {
			const { agent, asks } = make();
			for (const ask of asks) {
				const length = (await answer(agent, ask)).length;
				for (let after = 1; after < length; after++) {
					const controller = new AbortController();
					const iterator = start(agent, ask, controller.signal)[Symbol.asyncIterator]();
					for (let n = 0; n < after; n++) expect((await iterator.next()).done).toBe(false);
					controller.abort();
					expect(await promptly(iterator.next())).toEqual({ done: true, value: undefined });
				}
			}
		});

		test("one conversation leaves nothing behind for another, also when they run side by side", async () => {
			const { agent, asks, deterministic } = make();
			const together = await Promise.all([...asks, ...asks].map((ask) => answer(agent, ask)));
			for (const [index, ask] of [...asks, ...asks].entries()) {
				expectLaws(agent, ask, together[index] as Event[]);
				// A fresh agent has nothing to remember.
				if (deterministic) expect(together[index]).toEqual(await answer(make().agent, ask));
			}
		});
	});
}

function expectLaws(agent: Agent, ask: Ask, events: readonly Event[]): void {
	const ends = events.filter(({ type }) => type === "done" || type === "failed");
	expect(ends).toHaveLength(1);
	expect(events.at(-1)).toBe(ends[0]);
	expect(JSON.parse(JSON.stringify(events))).toEqual(events);
	let shown = "";
	let open: ToolCall[] = [];
	const calls = new Set<string>();
	const hear = (message: AssistantMessage, usage: Usage | undefined) => {
		expect(contentText(message.content).startsWith(shown)).toBe(true);
		expect(message.finishReason).not.toBe("");
		shown = "";
		for (const call of message.toolCalls) {
			expect(call.id).not.toBe("");
			expect(calls).not.toContain(call.id);
			calls.add(call.id);
			// A program that loops by itself has its own tools.
			if (agent.kind === "step") expect((ask.tools ?? []).map((tool) => tool.name)).toContain(call.name);
		}
		expect(open, "every call has its result before the next message").toEqual([]);
		open = [...message.toolCalls];
		if (usage) expectUsage(usage);
	};
	for (const event of events) {
		if (event.type === "text") {
			expect(event.delta).not.toBe("");
			shown += event.delta;
		} else if (event.type === "message") hear(event.message, event.usage);
		else if (event.type === "failed") expectFailure(event.failure);
		else if (event.type === "result") {
			const call = open.find(({ id }) => id === event.toolCallId);
			expect(call?.name).toBe(event.toolName);
			open = open.filter((other) => other !== call);
		} else if ("message" in event) hear(event.message, event.usage);
		else expect(open).toEqual([]);
	}
}

function expectUsage({ provider, model, inputTokens, outputTokens, costMicros, currency }: Usage): void {
	for (const word of [provider, model, currency]) expect(word).not.toBe("");
	for (const count of [inputTokens, outputTokens, costMicros ?? 0]) {
		expect(Number.isSafeInteger(count)).toBe(true);
		expect(count).toBeGreaterThanOrEqual(0);
	}
}

function expectFailure({ detail, retryAfterMs = 0 }: AgentFailure): void {
	expect(detail).not.toBe("");
	expect(retryAfterMs).toBeGreaterThanOrEqual(0);
}

function answer(agent: Agent, ask: Ask): Promise<Event[]> {
	return collect(start(agent, ask, new AbortController().signal));
}

function start(agent: Agent, ask: Ask, signal: AbortSignal): AsyncIterable<Event> {
	const input: LoopInput = {
		conversation: "c",
		session: "20260310_120000_00000001",
		turn: "t",
		system: "You are tested.",
		notes: [],
		tools: [],
		standing: "owner",
		override: null,
		permit: () => Promise.resolve("impossible"),
		...ask,
		signal,
	};
	return agent.kind === "step" ? agent.step(input) : agent.run(input);
}

async function collect(events: AsyncIterable<Event>): Promise<Event[]> {
	const all: Event[] = [];
	for await (const event of events) all.push(event);
	return all;
}

function promptly<Value>(promise: Promise<Value>): Promise<Value> {
	const late = new Promise<never>((_resolve, reject) => {
		AbortSignal.timeout(PROMPT_MS).addEventListener("abort", () => reject(new Error("not prompt")));
	});
	return Promise.race([promise, late]);
}

/** Whether it settles within a few turns of the event loop. */
async function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
	let settled = false;
	const settle = () => {
		settled = true;
	};
	promise.then(settle, settle);
	for (let turn = 0; turn < 20 && !settled; turn++) await new Promise((resolve) => setImmediate(resolve));
	return settled;
}

export function person(content: Content): PromptMessage {
	return { role: "user", kind: "person", content };
}

export function tool(name: string): ToolSpec {
	return { name, description: `the ${name} tool`, input: { type: "object" } };
}

const anyText = fc.oneof(
	fc.string({ unit: "binary", maxLength: 200 }),
	fc.constantFrom(
		"hi",
		"help",
		"search tea",
		"remember the milk",
		"what did I say about tea?",
		"[Ann] search x",
		"",
	),
);
const anyContent: fc.Arbitrary<Content> = fc.oneof(
	anyText,
	fc.array(
		fc.oneof(
			anyText.map((text) => ({ type: "text" as const, text })),
			fc.constant({ type: "image" as const, blob: "0".repeat(64), mediaType: "image/png" }),
		),
		{ maxLength: 3 },
	),
);
const anyToolName = fc.constantFrom("session_search", "echo");
const anyStretch: fc.Arbitrary<PromptMessage[]> = fc.oneof(
	anyContent.map((content) => [person(content)]),
	anyText.map((content): PromptMessage[] => [{ role: "user", kind: "note", content }]),
	anyText.map((content): PromptMessage[] => [{ role: "assistant", content, toolCalls: [] }]),
	fc.tuple(anyToolName, anyText, fc.boolean()).map(([name, content, isError]): PromptMessage[] => [
		{ role: "assistant", content: "", toolCalls: [{ id: "earlier", name, input: {} }] },
		{ role: "tool", toolCallId: "earlier", toolName: name, content, isError },
	]),
);
const anyAsk: fc.Arbitrary<Ask> = fc.record({
	history: fc.array(anyStretch, { maxLength: 6 }).map((stretches) => stretches.flat()),
	notes: fc.array(anyText, { maxLength: 2 }),
	tools: fc.subarray(["session_search", "echo"]).map((names) => names.map(tool)),
});
