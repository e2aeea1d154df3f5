import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildPrompt } from "../../src/agents/ai-sdk/prompt.ts";
import type { StepInput } from "../../src/agents/index.ts";
import type { ModelProvider } from "../../src/config/index.ts";
import type { PromptMessage } from "../../src/domain/index.ts";
import {
	answers,
	calls,
	claude,
	type ModelServer,
	responds,
	says,
	startModelServer,
} from "../support/model-server.ts";
import { doneOf, modelAgent, PNG, run, stepInput } from "./support.ts";

let server: ModelServer;
beforeAll(async () => {
	server = await startModelServer();
});
beforeEach(() => server.forget());
afterAll(() => server.close());

const person = (content: string): PromptMessage => ({ role: "user", kind: "person", content });
const echo = { name: "echo", description: "says it back", input: { type: "object" } };

interface Body {
	readonly messages: readonly {
		readonly role: string;
		readonly content: unknown;
		readonly tool_calls?: unknown;
	}[];
	readonly input?: readonly unknown[];
	readonly system?: unknown;
	readonly tools?: unknown;
}

function sent(index = -1): Body {
	return JSON.parse(server.requests.at(index)?.body ?? "null") as Body;
}

const agents = {
	openai: () => modelAgent({ base_url: server.url }),
	responses: () => modelAgent({ base_url: server.url, provider: "openai", model: "gpt-5.4" }),
	anthropic: () =>
		modelAgent({ base_url: server.url, provider: "anthropic", model: "claude-sonnet-5", reasoning: "low" }),
};

describe.each(["openai", "responses", "anthropic"] as const)("the prompt in the shape of %s", (shape) => {
	const reply = (text: string) =>
		({
			openai: says(text),
			responses: responds({ text }),
			anthropic: claude(thought("t"), { type: "text", text }),
		})[shape];
	const call = (id: string) =>
		({
			openai: calls({ id, name: "echo", args: '{"b":2,"a":[1]}' }),
			responses: responds({ call: id, name: "echo", args: '{"b":2,"a":[1]}' }),
			anthropic: claude(thought("why"), { type: "tool_use", id, name: "echo", input: { b: 2, a: [1] } }),
		})[shape];

	test("what stands before the notes is the beginning of every later prompt, byte for byte", async () => {
		const agent = agents[shape]();
		const history: PromptMessage[] = [];
		const notes = [
			"The time is 2026-03-10T12:00:00.000Z.",
			"The time is 2026-03-10T12:00:07.000Z.",
			"Five messages are left.",
		];
		const bodies: string[] = [];
		for (const [turn, replies] of [
			[reply("Hi.")],
			[call("c1"), reply("Found.")],
			[reply("Bye.")],
		].entries()) {
			history.push(person(`message ${turn}, "quoted" and ünïcode`));
			for (const given of replies) {
				server.next(given);
				const { message } = doneOf(
					await run(agent, { history: [...history], notes: [notes[turn] as string], tools: [echo] }),
				);
				bodies.push(server.requests.at(-1)?.body ?? "");
				// Through the store and back.
				history.push({ role: "assistant", ...(JSON.parse(JSON.stringify(message)) as typeof message) });
				for (const { id, name } of message.toolCalls)
					history.push({ role: "tool", toolCallId: id, toolName: name, content: "tea", isError: false });
			}
		}
		expect(bodies).toHaveLength(4);
		for (const [index, body] of bodies.slice(0, -1).entries()) {
			const prefix = beforeNotes(body);
			expect(prefix.length).toBeGreaterThan(100);
			expect(prefix).toContain("message 0");
			expect(unmarked(bodies[index + 1] as string).startsWith(prefix)).toBe(true);
		}
		expect(bodies.map((body) => JSON.stringify((JSON.parse(body) as Body).system ?? null))).toEqual(
			bodies.map((_body, _index, [first]) =>
				JSON.stringify((JSON.parse(first as string) as Body).system ?? null),
			),
		);
	});

	test("the notes are one message, the last, and say whose they are", async () => {
		server.next(reply("ok"));
		await run(agents[shape](), { history: [person("hello")], notes: ["One.", "Two."] });
		const { messages, input } = sent();
		expect(JSON.stringify((messages ?? input)?.at(-1))).toContain("[Note from Keryx]\\nOne.\\nTwo.");
	});
});

function thought(thinking: string) {
	return { type: "thinking", thinking, signature: `signed ${thinking}` };
}

/** Marks for the cache are no part of what is cached. */
function unmarked(body: string): string {
	return body.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}

/** Up to the end of the last row: the message that holds the notes begins or goes on there. */
function beforeNotes(body: string): string {
	const whole = unmarked(body);
	const notes = whole.lastIndexOf("[Note from Keryx]");
	const opening = Math.max(
		whole.lastIndexOf(',{"role":"user","content":"', notes),
		whole.lastIndexOf(',{"type":"text","text":"', notes),
		whole.lastIndexOf(',{"role":"user","content":[{"type":"input_text","text":"', notes),
	);
	expect(notes).toBeGreaterThan(opening);
	return whole.slice(0, opening);
}

describe("caching at Anthropic", () => {
	test("the system prompt, the last row and the last row of the step before are marked; the notes are not", async () => {
		server.always(claude({ type: "text", text: "ok" }));
		const history: PromptMessage[] = [
			person("one"),
			{ role: "assistant", content: "1", toolCalls: [] },
			person("two"),
			{ role: "assistant", content: "2", toolCalls: [] },
			person("three"),
		];
		await run(agents.anthropic(), { history });
		const { system, messages } = sent();
		expect(JSON.stringify(system)).toContain("cache_control");
		const marked = messages.flatMap(({ content }) =>
			(content as { text: string; cache_control?: object }[])
				.filter((part) => part.cache_control)
				.map(({ text }) => text),
		);
		expect(marked).toEqual(["two", "three"]);
	});
});

describe("reasoning", () => {
	test("is kept as it came, and goes back to the same family of models only", async () => {
		const agent = agents.anthropic();
		server.next(
			claude(
				thought("deep"),
				{ type: "text", text: "So." },
				{ type: "tool_use", id: "t1", name: "echo", input: {} },
			),
		);
		const events = await run(agent, { tools: [echo] });
		const { message } = doneOf(events);
		// One sign of life, before the first word.
		expect(events.map(({ type }) => type)).toEqual(["thinking", "text", "done"]);
		expect(message.reasoning).toMatchObject({ provider: "anthropic", model: "claude-sonnet-5" });
		expect(JSON.stringify(message.reasoning)).toContain("signed deep");
		expect(message.content).toBe("So.");
		const history: PromptMessage[] = [
			person("hello"),
			{ role: "assistant", ...message },
			{ role: "tool", toolCallId: "t1", toolName: "echo", content: "x", isError: false },
		];
		server.always(claude({ type: "text", text: "ok" }));
		await run(agent, { history });
		expect(sent().messages[1]?.content).toMatchObject([
			{ type: "thinking", thinking: "deep", signature: "signed deep" },
			{ type: "text", text: "So." },
			{ type: "tool_use", id: "t1" },
		]);
		await run(agent, { history, override: { model: "claude-sonnet-5-20260301" } });
		expect(server.requests.at(-1)?.body).toContain("signed deep");
		await run(agent, { history, override: { model: "claude-opus-5" } });
		expect(server.requests.at(-1)?.body).not.toContain("deep");
		expect(sent().messages[1]?.content).toMatchObject([{ type: "text" }, { type: "tool_use" }]);
	});

	test("of an OpenAI-compatible server goes back as reasoning_content", async () => {
		server.next(
			answers([{ reasoning_content: "Let me " }, { reasoning_content: "see." }, { content: "Done." }]),
		);
		const { message } = doneOf(await run(agents.openai()));
		await run(agents.openai(), { history: [person("a"), { role: "assistant", ...message }, person("b")] });
		expect(sent().messages[2]).toMatchObject({
			role: "assistant",
			content: "Done.",
			reasoning_content: "Let me see.",
		});
	});

	test("of OpenAI is sealed, goes back as it is, and nothing is left with the provider", async () => {
		server.always(responds({ text: "Done." }));
		const agent = agents.responses();
		const { message, usage } = doneOf(await run(agent));
		expect(usage).toMatchObject({
			inputTokens: 12,
			cachedInputTokens: 4,
			costMicros: 8 * 2.5 + 4 * 0.25 + 3 * 15,
		});
		await run(agent, { history: [person("a"), { role: "assistant", ...message }, person("b")] });
		expect(sent()).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
		expect(sent().input?.slice(2, 4)).toMatchObject([
			{ type: "reasoning", encrypted_content: "sealed" },
			{ role: "assistant", content: "Done." },
		]);
	});

	test("that does not fit its row is left out", async () => {
		const reasoning = {
			provider: "openai-compatible",
			model: "test-model",
			items: [{ type: "reasoning", text: "old" }],
		};
		await run(agents.openai(), {
			history: [person("a"), { role: "assistant", content: "Done.", toolCalls: [], reasoning }, person("b")],
		});
		expect(server.requests[0]?.body).not.toContain("old");
		expect(sent().messages[2]).toMatchObject({ content: "Done." });
	});
});

describe("attachments", () => {
	const attached = (mediaType: string, name?: string): Pick<StepInput, "history"> => ({
		history: [
			{
				role: "user",
				kind: "person",
				content: [
					{ type: "text", text: "look" },
					{ type: "file", blob: "digest", mediaType, ...(name && { name }) },
				],
			},
		],
	});

	test("an image is read from the conversation's blobs and sent", async () => {
		const asked: string[][] = [];
		const agent = modelAgent(
			{ base_url: server.url },
			{
				readBlob: async (...args) => {
					asked.push(args);
					return PNG;
				},
			},
		);
		await run(agent, attached("image/png"));
		expect(asked).toEqual([["c", "digest"]]);
		expect(sent().messages[1]?.content).toEqual([
			{ type: "text", text: "look" },
			{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } },
		]);
	});

	test.each([
		[
			"a kind that the model cannot take",
			"application/zip",
			async () => PNG,
			'[file "a.bin" (application/zip): this model cannot read it]',
		],
		["one that is gone", "image/png", async () => null, '[file "a.bin" (image/png): it is no longer stored]'],
		[
			"one that is too big",
			"image/png",
			async () => new Uint8Array(21 * 1024 * 1024),
			'[file "a.bin" (image/png): it is too big for this model]',
		],
		[
			"a text file",
			"text/csv; charset=utf-8",
			async () => Buffer.from("a,b"),
			'[file "a.bin" (text/csv; charset=utf-8)]\na,b',
		],
	])("%s becomes words", async (_name, mediaType, readBlob, text) => {
		await run(modelAgent({ base_url: server.url }, { readBlob }), attached(mediaType, "a.bin"));
		expect(sent().messages[1]?.content).toEqual([
			{ type: "text", text: "look" },
			{ type: "text", text },
		]);
	});

	describe("what one request may hold", () => {
		const MB = 1_000_000;
		const image = (n: number, mediaType: string) => ({
			type: "file" as const,
			blob: `d${n}`,
			mediaType,
			name: `${n}.png`,
		});
		/** What becomes of files of this size, one message each, the oldest first. */
		const fate = async (provider: ModelProvider, bytes: number, count: number, mediaType = "image/png") => {
			const history = Array.from({ length: count }, (_, n) => ({
				role: "user" as const,
				kind: "person" as const,
				content: [image(n, mediaType)],
			}));
			const read: string[] = [];
			const { messages, attachments } = await buildPrompt(
				stepInput({ history }),
				{ provider, model: "m", baseUrl: "", key: null },
				async (_conversation, digest) => {
					read.push(digest);
					return new Uint8Array(bytes);
				},
			);
			const parts = messages.flatMap((message) => (message.role === "user" ? message.content : []));
			return {
				read,
				sent: attachments.map(({ digest }) => digest),
				lines: parts.flatMap((part) =>
					part.type === "text" && part.text.startsWith("[file") ? [part.text] : [],
				),
			};
		};

		test.each([
			["anthropic", 3.75 * 1024 * 1024, 6],
			["anthropic", 1 * MB, 23],
			["openai", 9 * MB, 4],
			["google", 4 * MB, 3],
			["openrouter", 9 * MB, 4],
			["ollama", 9 * MB, 4],
			["openai-compatible", 9 * MB, 4],
		] as const)(
			"%s: of pictures of %i bytes the newest %i are sent, and a line stands for the others",
			async (provider, bytes, fit) => {
				const { sent, lines, read } = await fate(provider, bytes, fit + 3);
				expect(sent).toEqual(Array.from({ length: fit }, (_, n) => `d${n + 3}`));
				expect(lines).toEqual(
					[0, 1, 2].map((n) => `[file "${n}.png" (image/png): the request is full of newer attachments]`),
				);
				expect(read[0]).toBe(`d${fit + 2}`);
			},
		);

		test.each([
			["anthropic", "image/png", 3.75 * 1024 * 1024, true],
			["anthropic", "image/png", 3.75 * 1024 * 1024 + 1, false],
			["anthropic", "application/pdf", 20 * MB, true],
			["anthropic", "application/pdf", 24 * MB, false],
			["openai", "image/png", 20 * MB, true],
			["openai", "image/png", 20 * MB + 1, false],
			["openai", "application/pdf", 30 * MB, true],
			["google", "audio/wav", 14 * MB, true],
			["google", "audio/wav", 15 * MB, false],
		] as const)("%s: one %s of %i bytes alone is sent: %s", async (provider, mediaType, bytes, isSent) => {
			const { sent, lines } = await fate(provider, bytes, 1, mediaType);
			expect(sent).toEqual(isSent ? ["d0"] : []);
			expect(lines).toEqual(isSent ? [] : [expect.stringContaining("it is too big for this model")]);
		});

		test("the words of a request leave less room for its files", async () => {
			const long = "word ".repeat((30 * MB) / 5);
			const { attachments } = await buildPrompt(
				stepInput({
					system: long,
					history: [{ role: "user", kind: "person", content: [image(0, "image/png")] }],
				}),
				{ provider: "anthropic", model: "m", baseUrl: "", key: null },
				async () => new Uint8Array(2 * MB),
			);
			expect(attachments).toEqual([]);
		});

		test("a request at the limit is within it, byte for byte", async () => {
			const history = [...Array(6).keys()].map((n) => ({
				role: "user" as const,
				kind: "person" as const,
				content: [image(n, "image/png")],
			}));
			const readBlob = async () => new Uint8Array(4_900_000);
			const target = { base_url: server.url, provider: "google", model: "m", retries: 0 } as const;
			await run(modelAgent(target, { readBlob }), { history });
			const { length } = server.requests[0]?.body ?? "";
			expect([length > 19 * MB, length <= 20 * MB]).toEqual([true, true]);
		});
	});

	test("a failed read is an error, not a missing picture", async () => {
		const readBlob = async () => {
			throw new Error("disk");
		};
		await expect(
			run(modelAgent({ base_url: server.url }, { readBlob }), attached("image/png")),
		).rejects.toThrow("disk");
		expect(server.requests).toHaveLength(0);
	});

	test("those of tool results follow the last of the results", async () => {
		const image = { type: "image" as const, blob: "digest", mediaType: "image/png" };
		const result = (id: string) =>
			({ role: "tool", toolCallId: id, toolName: "echo", content: [image], isError: false }) as const;
		const toolCalls = ["c1", "c2"].map((id) => ({ id, name: "echo", input: {} }));
		const history: PromptMessage[] = [
			person("a"),
			{ role: "assistant", content: "", toolCalls },
			result("c1"),
			result("c2"),
		];
		await run(agents.openai(), { history });
		expect(sent().messages.map(({ role }) => role)).toEqual([
			"system",
			"user",
			"assistant",
			"tool",
			"tool",
			"user",
			"user",
		]);
		expect(sent().messages[3]?.content).toBe("[image/png: see below]");
		expect(sent().messages[5]?.content).toMatchObject([
			{ type: "text" },
			{ type: "image_url" },
			{ type: "image_url" },
		]);
		server.next(claude({ type: "text", text: "ok" }));
		await run(agents.anthropic(), { history });
		expect(sent().messages.at(-1)?.content).toMatchObject(
			["tool_result", "tool_result", "text", "image", "image", "text"].map((type) => ({ type })),
		);
	});
});

describe("what is empty", () => {
	test("is never sent as such, and the prompt never ends with the model's own words", async () => {
		server.always(claude({ type: "text", text: "ok" }));
		await run(agents.anthropic(), {
			system: "",
			notes: [],
			history: [
				person(" "),
				{ role: "assistant", content: "", toolCalls: [] },
				{ role: "assistant", content: "So", toolCalls: [] },
			],
		});
		const { system, messages } = sent();
		expect(system).toBeUndefined();
		expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
		expect(JSON.stringify(messages)).not.toMatch(/"text":"\s*"/);
	});
});

describe("tools", () => {
	test("are offered as JSON schema, and parallel calls come out with the provider's ids", async () => {
		server.next(
			calls(
				{ id: "call_a", name: "echo", args: '{"words":"tea"}' },
				{ id: "call_b", name: "echo", args: "" },
			),
		);
		const { message } = doneOf(await run(agents.openai(), { tools: [echo] }));
		expect(message).toMatchObject({
			content: "",
			finishReason: "tool_calls",
			toolCalls: [
				{ id: "call_a", name: "echo", input: { words: "tea" } },
				{ id: "call_b", name: "echo", input: {} },
			],
		});
		expect(sent().tools).toEqual([
			{
				type: "function",
				function: {
					name: "echo",
					description: "says it back",
					parameters: { type: "object", properties: {} },
				},
			},
		]);
	});

	test("a call whose arguments are no JSON keeps their text, and goes back in a form that providers take", async () => {
		server.next(calls({ id: "call_a", name: "echo", args: '{"words": tea' }));
		const { message } = doneOf(await run(agents.openai(), { tools: [echo] }));
		expect(message.toolCalls).toEqual([{ id: "call_a", name: "echo", input: '{"words": tea' }]);
		const history: PromptMessage[] = [
			person("a"),
			{ role: "assistant", ...message },
			{ role: "tool", toolCallId: "call_a", toolName: "echo", content: "no", isError: true },
		];
		server.next(claude({ type: "text", text: "ok" }));
		await run(agents.anthropic(), { history });
		expect(sent().messages[1]?.content).toMatchObject([
			{ type: "tool_use", input: { arguments: '{"words": tea' } },
		]);
		expect(sent().messages[2]?.content).toMatchObject([{ type: "tool_result", is_error: true }, {}]);
	});

	test("an id that the provider gives twice becomes another", async () => {
		server.always(calls({ id: "0", name: "echo", args: "{}" }));
		const first = doneOf(await run(agents.openai(), { tools: [echo] })).message;
		const history: PromptMessage[] = [
			person("a"),
			{ role: "assistant", ...first },
			{ role: "tool", toolCallId: "0", toolName: "echo", content: "x", isError: false },
		];
		const second = doneOf(await run(agents.openai(), { tools: [echo], history })).message;
		expect([...first.toolCalls, ...second.toolCalls].map(({ id }) => id)).toEqual(["0", "0_2"]);
	});
});

describe("usage", () => {
	const usage = { input: 1000, output: 100, cached: 400 };

	test("counts tokens, and has no cost where no price is known", async () => {
		server.next(answers([{ content: "ok" }], { usage }));
		expect(doneOf(await run(agents.openai())).usage).toEqual({
			provider: "openai-compatible",
			model: "test-model",
			inputTokens: 1000,
			outputTokens: 100,
			cachedInputTokens: 400,
			costMicros: null,
			currency: "USD",
		});
	});

	test("costs what the user's prices say, in whole millionths", async () => {
		const prices = { "test-model": { input: 2.5, output: 10.001, cached_input: 0.25, currency: "EUR" } };
		server.next(answers([{ content: "ok" }], { usage }));
		const done = doneOf(await run(modelAgent({ base_url: server.url, prices })));
		expect(done.usage).toMatchObject({ costMicros: 600 * 2.5 + 400 * 0.25 + 1000, currency: "EUR" });
	});

	test("costs what the table says, with what was read from and written to the cache at its own price", async () => {
		server.next(claude({ type: "text", text: "ok" }));
		const { usage } = doneOf(await run(agents.anthropic()));
		expect(usage).toMatchObject({ inputTokens: 125, outputTokens: 7, cachedInputTokens: 100 });
		expect(usage.costMicros).toBe(5 * 2 + 100 * 0.2 + 20 * 2.5 + 7 * 10);
	});

	test("without counts there is no cost either", async () => {
		server.next(answers([{ content: "ok" }], { usage: null }));
		const prices = { "test-model": { input: 2, output: 10, currency: "USD" } };
		const done = doneOf(await run(modelAgent({ base_url: server.url, prices })));
		expect(done.usage).toMatchObject({ inputTokens: 0, outputTokens: 0, costMicros: null });
	});

	test("costs what OpenRouter says it charged", async () => {
		server.next((response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.end(
				`data: ${JSON.stringify({ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, cost: 0.001234 } })}\n\ndata: [DONE]\n\n`,
			);
		});
		const done = doneOf(await run(modelAgent({ base_url: server.url, provider: "openrouter" })));
		expect(done.usage).toMatchObject({ provider: "openrouter", costMicros: 1234 });
	});
});
