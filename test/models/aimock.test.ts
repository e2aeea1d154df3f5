// The main paths against a server that is not ours, in the shapes of the providers' own services.
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelAgent, ModelSettings } from "../../src/agents/index.ts";
import type { PromptMessage } from "../../src/domain/index.ts";
import { doneOf, failureOf, KEY, modelAgent, run, textIn } from "./support.ts";

const mock = new LLMock({ port: 0, host: "127.0.0.1" });
beforeAll(async () => {
	await mock.start();
});
beforeEach(() => {
	mock.reset();
});
afterAll(() => mock.stop());

const SHAPES = [
	["openai", "gpt-5.4", "/v1", 1000 * 2.5 + 50 * 15],
	["anthropic", "claude-sonnet-5", "/v1", 1000 * 2 + 50 * 10],
	["google", "gemini-2.5-flash", "/v1beta", 1000 * 0.3 + 50 * 2.5],
	["openai-compatible", "some-model", "/v1", null],
] as const;

/** In each provider's own words. */
const USAGE = {
	prompt_tokens: 1000,
	completion_tokens: 50,
	total_tokens: 1050,
	input_tokens: 1000,
	output_tokens: 50,
	promptTokenCount: 1000,
	candidatesTokenCount: 50,
	totalTokenCount: 1050,
};

function agentOf(provider: ModelSettings["provider"], model: string, path: string): ModelAgent {
	return modelAgent({ provider, model, base_url: `${mock.url}${path}` });
}

const echo = {
	name: "echo",
	description: "says it back",
	input: { type: "object", properties: { words: { type: "string" } } },
};
const person = (content: string): PromptMessage => ({ role: "user", kind: "person", content });

describe.each(SHAPES)("%s", (provider, model, path, costMicros) => {
	test("an answer is streamed, and its usage counted", async () => {
		mock.on(
			{ predicate: () => true },
			{ content: "Good morning, friend. It is a fine day for a long walk.", usage: USAGE },
		);
		const events = await run(agentOf(provider, model, path));
		expect(textIn(events)).toBe("Good morning, friend. It is a fine day for a long walk.");
		const { message, usage } = doneOf(events);
		expect(message).toMatchObject({ content: textIn(events), toolCalls: [], finishReason: "stop" });
		expect(usage).toMatchObject({ provider, model, inputTokens: 1000, outputTokens: 50, costMicros });
	});

	test("calls in parallel come out, their results go in, and the answer follows", async () => {
		const toolCalls = [
			{ name: "echo", arguments: { words: "tea" }, id: "call_one" },
			{ name: "echo", arguments: { words: "milk" }, id: "call_two" },
		];
		mock.on({ predicate: ({ messages }) => !messages.some(({ role }) => role === "tool") }, { toolCalls });
		mock.on(
			{ predicate: ({ messages }) => messages.some(({ role }) => role === "tool") },
			{ content: "Both." },
		);
		const agent = agentOf(provider, model, path);
		const { message } = doneOf(await run(agent, { tools: [echo] }));
		expect(message.toolCalls.map(({ name, input }) => ({ name, input }))).toEqual([
			{ name: "echo", input: { words: "tea" } },
			{ name: "echo", input: { words: "milk" } },
		]);
		expect(message.finishReason).toBe("tool_calls");
		const history: PromptMessage[] = [
			person("hello"),
			{ role: "assistant", ...message },
			...message.toolCalls.map(
				({ id, name }): PromptMessage => ({
					role: "tool",
					toolCallId: id,
					toolName: name,
					content: `result of ${id}`,
					isError: false,
				}),
			),
		];
		expect(doneOf(await run(agent, { tools: [echo], history })).message.content).toBe("Both.");
		const body = JSON.stringify(mock.getLastRequest()?.body);
		for (const { id } of message.toolCalls) expect(body).toContain(`result of ${id}`);
	});

	test.each([
		[401, "key_missing"],
		[429, "rate_limited"],
		[500, "provider_down"],
	] as const)("%i is a failure of its kind, without the key", async (status, kind) => {
		mock.on({ predicate: () => true }, { error: { message: `no: ${KEY}`, type: "some_error" }, status });
		const events = await run(agentOf(provider, model, path));
		expect(failureOf(events).kind).toBe(kind);
		expect(JSON.stringify(events)).not.toContain(KEY);
	});

	test("after a 500 it is asked again", async () => {
		mock.on({ predicate: () => true }, { content: "Here." });
		mock.nextRequestError(500, { message: "oops" });
		expect(doneOf(await run(agentOf(provider, model, path))).message.content).toBe("Here.");
		expect(mock.getRequests()).toHaveLength(2);
	});
});

describe.each(SHAPES)("a picture that %s refuses", (provider, model, path) => {
	const history: PromptMessage[] = [
		{
			role: "user",
			kind: "person",
			content: [
				{ type: "text", text: "look" },
				{ type: "image", blob: "d1", mediaType: "image/png", name: "cat.png" },
			],
		},
	];

	test.each([
		[413, "Request exceeds the maximum size", "context_too_large"],
		[400, "invalid content type", "refused"],
		[500, "image input is not supported", "attachment_refused"],
		[400, "prompt is too long: 210000 tokens > 200000 maximum", "context_too_large"],
	] as const)("with %i %s may be left out", async (status, message, kind) => {
		mock.on({ predicate: () => true }, { error: { message, type: "invalid_request_error" }, status });
		const failure = failureOf(await run(agentOf(provider, model, path), { history }));
		expect(failure).toMatchObject({ kind, suspects: [{ digest: "d1", bytes: 70 }] });
		expect(mock.getRequests()).toHaveLength(1);
	});
});

test.each([
	["openai", "gpt-5.4", "/v1"],
	["anthropic", "claude-sonnet-5", "/v1"],
] as const)(
	"what a model of %s thought is kept, and goes back with the next step",
	async (provider, model, path) => {
		mock.on({ predicate: () => true }, { content: "Yes.", reasoning: "Let me see." });
		const agent = agentOf(provider, model, path);
		const { message } = doneOf(await run(agent));
		expect(message).toMatchObject({ content: "Yes.", reasoning: { provider, model } });
		expect(JSON.stringify(message.reasoning)).toContain("Let me see.");
		const again = await run(agent, {
			history: [person("a"), { role: "assistant", ...message }, person("b")],
		});
		expect(textIn(again)).toBe("Yes.");
	},
);
