// /v1 through the clients that people use it with, against a real server on a port: the official one, and the AI SDK.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI, { APIError, NotFoundError } from "openai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createOfflineAgent, type StepAgent, type StepInput } from "../../src/agents/index.ts";
import type { ConversationId } from "../../src/domain/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { type ServedOnPort, serveOnPort } from "../../src/http/index.ts";
import { exportJsonl, importJsonl, type TokenRole } from "../../src/store/index.ts";
import { createScriptedAgent, type Script } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/index.ts";
import { eventually } from "../support/soon.ts";
import { SECRET, type Served, serve } from "./support.ts";

const SCRIPT: Script = {
	rules: [
		{ when: "fail", steps: [{ fail: { kind: "provider_down" } }] },
		{
			when: "look it up",
			steps: [
				{ text: "Let me look.", tools: [{ name: "session_search", input: { query: "anything" } }] },
				{ chunks: ["Found ", "nothing."], usage: { input_tokens: 30, output_tokens: 4 } },
			],
		},
		{ when: "which", steps: [{ tools: [{ name: "clarify", input: { question: "Which one?" } }] }] },
		{
			when: "wipe it",
			steps: [{ text: "I would.", tools: [{ name: "wipe", input: {} }] }, { text: "Wiped." }],
		},
		{ when: "forever", steps: [{ chunks: ["I begin."], hang: true }] },
	],
	otherwise: [
		{
			chunks: ["you ", "said ", "{{input}}", ", message {{count}}"],
			usage: { input_tokens: 11, output_tokens: 7 },
		},
	],
};

/** What each step of the profile `seen` was shown. */
const prompts: StepInput[] = [];
const echo = createScriptedAgent({ script: SCRIPT, clock: systemClock });
const seen: StepAgent = {
	...echo,
	step: (input) => {
		prompts.push(input);
		return echo.step(input);
	},
};
/** Says a word, and the rest when the test lets it. */
let goOn = () => {};
const held: StepAgent = {
	kind: "step",
	name: "held",
	async *step({ history }) {
		yield { type: "text", delta: "first " };
		await new Promise<void>((resolve) => {
			goOn = resolve;
		});
		const content = `first and last of ${history.length}`;
		const usage = {
			provider: "p",
			model: "m",
			inputTokens: 1,
			outputTokens: 1,
			costMicros: 0,
			currency: "USD",
		};
		yield { type: "done", message: { content, toolCalls: [], finishReason: "stop" }, usage };
	},
};

let wiped = 0;
const wipe = defineTool({
	name: "wipe",
	description: "Wipes everything.",
	input: z.object({}),
	repeatable: false,
	confirmation: () => ({ action: "wipe_everything", description: "to make room" }),
	run: async () => {
		wiped++;
		return { content: "done" };
	},
});

let keryx: Served;
let port: ServedOnPort;
let tokens = 0;
beforeAll(async () => {
	keryx = await serve(
		SCRIPT,
		{ profiles: { seen: {}, held: {}, offline: {} } },
		{ seen, held, offline: createOfflineAgent() },
		async () => ({ profiles: ["seen", "held", "offline"] }),
		{ tools: [wipe] },
	);
	port = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
	await port.close();
	await keryx.close();
});

async function token(
	more: { readonly role?: TokenRole; readonly session_key?: string; readonly principal?: string } = {},
): Promise<{ readonly name: string; readonly secret: string; readonly principal: string }> {
	const name = `t${++tokens}`;
	const response = await keryx.api.fetch(
		new Request("http://keryx/api/tokens", {
			method: "POST",
			headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
			body: JSON.stringify({ name, role: "agent", ...more }),
		}),
	);
	const made = (await response.json()) as { token: string; principal: string };
	return { name, secret: made.token, principal: made.principal };
}

function base(): string {
	return `http://127.0.0.1:${port.port}/v1`;
}

function openai(apiKey: string): OpenAI {
	return new OpenAI({ baseURL: base(), apiKey, maxRetries: 0 });
}

function say(content: string, more: object = {}) {
	return { model: "keryx", messages: [{ role: "user" as const, content }], ...more };
}

async function post(path: string, bearer: string, body: unknown, headers: Record<string, string> = {}) {
	const response = await fetch(`${base()}${path}`, {
		method: "POST",
		headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json", ...headers },
		body: JSON.stringify(body),
	});
	return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
	const all: Item[] = [];
	for await (const item of items) all.push(item);
	return all;
}

async function messagesOf(conversation: string) {
	const { live_session } = await keryx.client.conversation({ conversation });
	return (await keryx.client.messages({ session: live_session as string })).messages.map(
		({ role, content }) => [role, content],
	);
}

describe("chat completions with the official client", () => {
	test("an answer comes whole, with usage, and what follows goes on in the same conversation", async () => {
		const client = openai((await token()).secret);
		const first = await client.chat.completions.create(say("hello"));
		expect(first).toMatchObject({
			object: "chat.completion",
			model: "keryx",
			choices: [
				{
					index: 0,
					finish_reason: "stop",
					message: { role: "assistant", content: "you said hello, message 1" },
				},
			],
			usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
		});
		const second = await client.chat.completions.create(say("again"));
		expect(second.choices[0]?.message.content).toBe("you said again, message 2");
	});

	test("it comes in chunks, with a usage chunk where that is asked for", async () => {
		const client = openai((await token()).secret);
		const stream = await client.chat.completions.create({
			...say("hello"),
			stream: true,
			stream_options: { include_usage: true },
		});
		const chunks = await collect(stream);
		expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
		expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(
			"you said hello, message 1",
		);
		expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
		expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 18 } });
		expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
		const plain = await collect(await client.chat.completions.create({ ...say("more"), stream: true }));
		expect(plain.some(({ choices, usage }) => choices.length === 0 || usage)).toBe(false);
	});

	test("only what stands after the last answer is new; instructions change nothing", async () => {
		const client = openai((await token()).secret);
		const { response } = await client.chat.completions
			.create({
				model: "keryx",
				messages: [
					{ role: "system", content: "you are a pirate" },
					{ role: "user", content: "said before" },
					{ role: "assistant", content: "answered before" },
					{ role: "user", content: "one" },
					{ role: "user", content: [{ type: "text", text: "two" }] },
				],
			})
			.withResponse();
		const conversation = response.headers.get("x-keryx-conversation") as string;
		expect(await messagesOf(conversation)).toEqual([
			["user", "one\n\ntwo"],
			["assistant", "you said one\n\ntwo, message 1"],
		]);
	});

	test("what Keryx's tools do is no tool call of the client's; each step's text is streamed, the reply comes whole", async () => {
		const client = openai((await token()).secret);
		const whole = await client.chat.completions.create(say("look it up"));
		expect(whole.choices[0]?.message).toEqual({
			role: "assistant",
			content: "Found nothing.",
			refusal: null,
		});
		const chunks = await collect(
			await client.chat.completions.create({ ...say("look it up"), stream: true }),
		);
		expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(
			"Let me look.\n\nFound nothing.",
		);
		expect(chunks.some(({ choices }) => choices[0]?.delta.tool_calls)).toBe(false);
	});

	test("a question to the person is the answer, and what follows answers it", async () => {
		const client = openai((await token()).secret);
		const asked = await client.chat.completions.create(say("which"));
		expect(asked.choices[0]?.message.content).toBe("Which one?");
		expect(asked.choices[0]?.finish_reason).toBe("stop");
	});

	test("I14: what waits for a human says so, and an agent's token is not that human", async () => {
		const { secret } = await token();
		const whole = await openai(secret).chat.completions.create(say("wipe it"));
		expect(whole.choices[0]?.message.content).toMatch(/^I would\.[\s\S]*wipe_everything[\s\S]*\/approve/);
		expect(whole.choices[0]?.finish_reason).toBe("stop");
		const approved = await openai(secret).chat.completions.create(say("/approve"));
		expect(approved.choices[0]?.message.content).toContain("does not say who you are");
		expect(wiped).toBe(0);
		const other = openai((await token()).secret);
		const chunks = await collect(await other.chat.completions.create({ ...say("wipe it"), stream: true }));
		const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
		expect(text.match(/I would\./g)?.length).toBe(1);
		expect(text.match(/\/approve/g)?.length).toBe(1);
	});

	test("a command is answered as a command", async () => {
		const client = openai((await token()).secret);
		const { choices } = await client.chat.completions.create(say("/whoami"));
		expect(choices[0]?.message.content).toContain("Your role here is member.");
		const chunks = await collect(await client.chat.completions.create({ ...say("/insights"), stream: true }));
		expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(
			"You cannot use /insights here. /help lists the commands you can use.",
		);
	});

	test("each user of a token has a conversation of its own", async () => {
		const client = openai((await token()).secret);
		await client.chat.completions.create(say("hello", { user: "ada" }));
		const bob = await client.chat.completions.create(say("hello", { user: "bob" }));
		expect(bob.choices[0]?.message.content).toContain("message 1");
		const ada = await client.chat.completions.create(say("more", { user: "ada" }));
		expect(ada.choices[0]?.message.content).toContain("message 2");
	});

	test("the models are Keryx and its profiles; another is not found", async () => {
		const client = openai((await token()).secret);
		const models = await collect(client.models.list());
		expect(models.map(({ id }) => id)).toEqual(["keryx", "keryx/seen", "keryx/held", "keryx/offline"]);
		const error = await client.chat.completions
			.create({ ...say("hello"), model: "gpt-5" })
			.catch((cause) => cause);
		expect(error).toBeInstanceOf(NotFoundError);
		expect(error).toMatchObject({ code: "model_not_found", param: "model", type: "invalid_request_error" });
	});

	test("/p/<profile> before the path names the profile", async () => {
		const { secret } = await token();
		const under = (profile: string) =>
			new OpenAI({ apiKey: secret, baseURL: `http://127.0.0.1:${port.port}/p/${profile}/v1`, maxRetries: 0 });
		const before = prompts.length;
		await under("seen").chat.completions.create(say("by the path"));
		expect(prompts.length).toBe(before + 1);
		await under("seen").chat.completions.create({ ...say("twice"), model: "keryx/seen" });
		for (const [profile, model, status] of [
			["nobody", "keryx", 404],
			["seen", "keryx/offline", 400],
		] as const)
			await expect(
				under(profile).chat.completions.create({ ...say("hello"), model }),
				`${profile} ${model}`,
			).rejects.toMatchObject({ status });
		for (const path of [
			"/p/seen/api/tokens",
			"/p/..%2Fseen/v1/models",
			"/p/seen/p/seen/v1/models",
			"/p/seen/",
		])
			expect(
				(
					await fetch(`http://127.0.0.1:${port.port}${path}`, {
						headers: { authorization: `Bearer ${secret}` },
					})
				).status,
				path,
			).toBe(403);
		expect((await fetch(`http://127.0.0.1:${port.port}/p/seen/v1/models`)).status).toBe(401);
	});

	test("the offline agent answers as a profile, too", async () => {
		const client = openai((await token()).secret);
		const { choices } = await client.chat.completions.create({ ...say("hello"), model: "keryx/offline" });
		expect(choices[0]?.message.content).not.toBe("");
	});

	test("a picture reaches the agent as an attachment", async () => {
		const client = openai((await token()).secret);
		const data = Buffer.from("a picture of 16 ").toString("base64");
		await client.chat.completions.create({
			model: "keryx/seen",
			messages: [
				{
					role: "user",
					content: [
						{ type: "text", text: "what is this" },
						{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
					],
				},
			],
		});
		const content = prompts.at(-1)?.history.at(-1)?.content;
		expect(content).toEqual([
			{ type: "text", text: "what is this" },
			{ type: "image", blob: expect.stringMatching(/^[0-9a-f]{64}$/), mediaType: "image/png" },
		]);
	});
});

describe("the responses API with the official client", () => {
	test("an answer comes whole, and a later one goes on after it", async () => {
		const client = openai((await token()).secret);
		const first = await client.responses.create({ model: "keryx", input: "hello" });
		expect(first).toMatchObject({
			status: "completed",
			output_text: "you said hello, message 1",
			usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
		});
		const second = await client.responses.create({
			model: "keryx",
			input: [{ role: "user", content: [{ type: "input_text", text: "again" }] }],
			previous_response_id: first.id,
			instructions: "you are a pirate",
		});
		expect(second.output_text).toBe("you said again, message 2");
		expect(second.previous_response_id).toBe(first.id);
	});

	test("events tell the text as it is written, and the whole at the end", async () => {
		const client = openai((await token()).secret);
		const events = await collect(
			await client.responses.create({ model: "keryx", input: "hello", stream: true }),
		);
		expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
		const text = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : ""));
		expect(text.join("")).toBe("you said hello, message 1");
		expect([...new Set(events.map(({ type }) => type))]).toEqual([
			"response.created",
			"response.in_progress",
			"response.output_item.added",
			"response.content_part.added",
			"response.output_text.delta",
			"response.output_text.done",
			"response.content_part.done",
			"response.output_item.done",
			"response.completed",
		]);
		const last = events.at(-1);
		expect(last?.type === "response.completed" && last.response.output[0]).toMatchObject({
			type: "message",
			content: [{ type: "output_text", text: "you said hello, message 1" }],
		});
	});

	test("the stream helper of the client reads it", async () => {
		const stream = openai((await token()).secret).responses.stream({ model: "keryx", input: "hello" });
		expect((await stream.finalResponse()).output_text).toBe("you said hello, message 1");
	});

	test("an answer to somebody else is none to go on from", async () => {
		const own = await openai((await token()).secret).responses.create({ model: "keryx", input: "secret" });
		const other = openai((await token()).secret);
		for (const previous_response_id of [own.id, "resp_999999"])
			await expect(
				other.responses.create({ model: "keryx", input: "hello", previous_response_id }),
			).rejects.toMatchObject({ status: 404, code: "store.not_found" });
	});
});

describe("the AI SDK", () => {
	test("generates and streams text, with usage", async () => {
		const provider = createOpenAICompatible({
			name: "keryx",
			baseURL: base(),
			apiKey: (await token()).secret,
			includeUsage: true,
		});
		const whole = await generateText({ model: provider("keryx"), prompt: "hello" });
		expect(whole.text).toBe("you said hello, message 1");
		expect(whole.finishReason).toBe("stop");
		expect(whole.usage.totalTokens).toBe(18);
		const stream = streamText({ model: provider("keryx"), prompt: "again" });
		expect((await collect(stream.textStream)).join("")).toBe("you said again, message 2");
		expect((await stream.usage).totalTokens).toBe(18);
	});
});

describe("whose conversation", () => {
	test("the header names one of the caller's own, by its id or its key", async () => {
		const { secret } = await token();
		const first = await post("/chat/completions", secret, say("hello", { user: "ada" }));
		const id = first.headers.get("x-keryx-conversation") as string;
		const { key } = await keryx.client.conversation({ conversation: id });
		for (const [n, named] of [id, key].entries()) {
			const next = await post("/chat/completions", secret, say("more"), { "x-keryx-conversation": named });
			expect(next.headers.get("x-keryx-conversation")).toBe(id);
			expect(next.body).toMatchObject({
				choices: [{ message: { content: `you said more, message ${n + 2}` } }],
			});
		}
	});

	test("an imported one of a token that had the same name elsewhere is not found", async () => {
		const [elsewhere, next] = [await token(), `t${tokens + 1}`];
		const theirs = await post(
			"/chat/completions",
			elsewhere.secret,
			say("the password is heliotrope", { user: "ada" }),
		);
		const id = theirs.headers.get("x-keryx-conversation") as string;
		const { principal } = await keryx.store.conversation({
			scope: { kind: "operator" },
			ref: { id: id as ConversationId },
		});
		const lines: string[] = [];
		const what = { kind: "conversation", id: id as ConversationId } as const;
		for await (const line of exportJsonl(keryx.store, { scope: { kind: "operator" }, what }))
			lines.push(line);
		const other = "0123456789abcdef0123456789abcdef";
		const text = lines
			.join("")
			.replaceAll(id, other)
			.replaceAll(`token:${elsewhere.name}`, `token:${next}`)
			.replaceAll(principal as string, "fedcba9876543210fedcba9876543210");
		await importJsonl(keryx.store, text.split("\n"), { origin: "elsewhere" });
		const { secret, name } = await token();
		expect(name).toBe(next);
		const asked = say("what is it", { user: "ada" });
		const named = await post("/chat/completions", secret, asked, { "x-keryx-conversation": other });
		expect(named).toMatchObject({ status: 404, body: { error: { code: "store.not_found" } } });
		const left = await post("/chat/completions", secret, asked);
		expect(left.body).toMatchObject({
			choices: [{ message: { content: "you said what is it, message 1" } }],
		});
	});

	test("scenario 12: B names A's conversation: not found, in the words for what is not there; nothing of A is in B's prompt", async () => {
		const [a, b] = [await token(), await token()];
		const theirs = await post("/chat/completions", a.secret, {
			...say("the password is heliotrope"),
			model: "keryx/seen",
		});
		const id = theirs.headers.get("x-keryx-conversation") as string;
		const { key } = await keryx.client.conversation({ conversation: id });
		const before = await messagesOf(id);
		prompts.length = 0;
		const refused = await Promise.all(
			[id, key, "no such conversation"].map((named) =>
				post(
					"/chat/completions",
					b.secret,
					{ ...say("what is the password"), model: "keryx/seen" },
					{ "x-keryx-conversation": named },
				),
			),
		);
		expect(refused.map(({ status }) => status)).toEqual([404, 404, 404]);
		expect(new Set(refused.map(({ body }) => JSON.stringify(body))).size).toBe(1);
		expect(refused[0]?.body).toMatchObject({
			error: {
				type: "invalid_request_error",
				code: "store.not_found",
				param: "X-Keryx-Conversation",
				message: expect.stringContaining("no such conversation"),
			},
		});
		expect(prompts).toEqual([]);
		expect(await messagesOf(id)).toEqual(before);
		// B's own conversation, and the user field that A's would be reached by if names were put together carelessly.
		for (const user of [undefined, `${a.name}`, `../token:${a.name}`])
			await post("/chat/completions", b.secret, {
				...say("what is the password", { user }),
				model: "keryx/seen",
			});
		expect(prompts.length).toBe(3);
		expect(JSON.stringify(prompts)).not.toContain("heliotrope");
		for (const command of ["/sessions", "/resume 1"]) {
			const { body } = await post("/chat/completions", b.secret, { ...say(command), model: "keryx/seen" });
			expect(JSON.stringify(body)).not.toContain("heliotrope");
		}
	});

	test("users of one token do not reach each other's sessions either", async () => {
		const { secret } = await token();
		await post("/chat/completions", secret, say("the password is heliotrope", { user: "ada" }));
		const { body } = await post("/chat/completions", secret, say("/sessions", { user: "bob" }));
		expect(JSON.stringify(body)).not.toContain("heliotrope");
	});

	test("a token with a session key speaks in that conversation and opens no other", async () => {
		const { conversation } = await keryx.say("in the terminal");
		const { key } = await keryx.client.conversation({ conversation });
		const { secret } = await token({ session_key: key });
		const before = (await keryx.client.conversations({ limit: 200 })).conversations.length;
		for (const body of [say("hello"), say("hello", { user: "somebody" })]) {
			const left = await post("/chat/completions", secret, body);
			expect([left.status, left.headers.get("x-keryx-conversation")]).toEqual([200, conversation]);
		}
		expect((await keryx.client.conversations({ limit: 200 })).conversations).toHaveLength(before);
		const joined = await post("/chat/completions", secret, say("joining"), { "x-keryx-conversation": key });
		expect(joined.status).toBe(200);
		expect((await messagesOf(conversation)).at(-1)?.[1]).toContain("you said joining");
		const theirs = await post("/chat/completions", (await token()).secret, say("mine"));
		const named = theirs.headers.get("x-keryx-conversation") as string;
		const other = await post("/chat/completions", secret, say("x"), { "x-keryx-conversation": named });
		expect(other.status).toBe(404);
	});

	test("a token whose session key leads to no conversation opens none", async () => {
		const { secret } = await token({ session_key: "agent:main:telegram:dm:nobody" });
		expect((await post("/chat/completions", secret, say("hello"))).status).toBe(404);
	});

	test("a token of a person reaches that person's conversations, and what it says is theirs", async () => {
		const { conversation } = await keryx.say("in the terminal");
		const { principal } = await keryx.client.conversation({ conversation });
		const { secret } = await token({ principal: principal as string });
		const joined = await post("/chat/completions", secret, say("joining"), {
			"x-keryx-conversation": conversation,
		});
		expect(joined.status).toBe(200);
		const own = await post("/chat/completions", secret, say("hello"));
		const id = own.headers.get("x-keryx-conversation") as string;
		expect(await keryx.client.conversation({ conversation: id })).toMatchObject({ principal });
	});

	test("the operator speaks in any conversation, and may decide there", async () => {
		const { secret } = await token();
		const theirs = await post("/chat/completions", secret, say("hello"));
		const named = theirs.headers.get("x-keryx-conversation") as string;
		const { body } = await post("/chat/completions", SECRET, say("/whoami"), {
			"x-keryx-conversation": named,
		});
		expect(JSON.stringify(body)).toContain("Your role here is owner.");
	});

	test("a model that is another profile's than the conversation's is refused", async () => {
		const { secret } = await token();
		const theirs = await post("/chat/completions", secret, { ...say("hello"), model: "keryx/seen" });
		const named = theirs.headers.get("x-keryx-conversation") as string;
		const headers = { "x-keryx-conversation": named };
		const other = await post("/chat/completions", secret, { ...say("x"), model: "keryx/held" }, headers);
		expect(other).toMatchObject({ status: 400, body: { error: { param: "model" } } });
		expect((await post("/chat/completions", secret, say("x"), headers)).status).toBe(200);
	});
});

describe("a message that is sent twice", () => {
	test.each(["x-keryx-message-id", "idempotency-key"])(
		"by its %s it is accepted only once, and answered alike",
		async (header) => {
			const { secret } = await token();
			const headers = { [header]: "m-1" };
			const first = await post("/chat/completions", secret, say("only once"), headers);
			const again = await post("/chat/completions", secret, say("only once"), headers);
			expect(again.body).toMatchObject({
				choices: [{ message: { content: "you said only once, message 1" } }],
				usage: { total_tokens: 18 },
			});
			expect(again.headers.get("x-keryx-message")).toBe(first.headers.get("x-keryx-message"));
			const stream = await openai(secret).chat.completions.create(
				{ ...say("only once"), stream: true },
				{ headers },
			);
			const chunks = await collect(stream);
			expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(
				"you said only once, message 1",
			);
			const conversation = first.headers.get("x-keryx-conversation") as string;
			expect((await messagesOf(conversation)).length).toBe(2);
		},
	);

	test("the same id of another token is another message", async () => {
		for (let n = 0; n < 2; n++) {
			const { secret } = await token();
			const { body } = await post("/chat/completions", secret, say("mine"), { "x-keryx-message-id": "m-2" });
			expect(JSON.stringify(body)).toContain("message 1");
		}
	});
});

describe("what is refused, in OpenAI's form", () => {
	test("who may not talk: nobody, readers, approvers", async () => {
		const [reader, approver] = [await token({ role: "reader" }), await token({ role: "approver" })];
		const answers = await Promise.all(
			["kx_nobody", reader.secret, approver.secret].map((bearer) =>
				post("/chat/completions", bearer, say("hello")),
			),
		);
		expect(answers.map(({ status }) => status)).toEqual([401, 403, 403]);
		expect(answers.map(({ body }) => (body as { error: { type: string } }).error.type)).toEqual([
			"authentication_error",
			"permission_error",
			"permission_error",
		]);
	});

	test("an agent's token reaches nothing but /v1", async () => {
		const { secret } = await token();
		for (const path of ["/api/conversations", "/events", "/openapi.json"]) {
			const { status } = await fetch(`http://127.0.0.1:${port.port}${path}`, {
				headers: { authorization: `Bearer ${secret}` },
			});
			expect([path, status]).toEqual([path, 403]);
		}
	});

	test.each([
		["no messages", { model: "keryx", messages: [] }, "messages"],
		["no model", { messages: [{ role: "user", content: "x" }] }, "model"],
		["nothing new", { model: "keryx", messages: [{ role: "assistant", content: "x" }] }, "messages"],
		[
			"nothing but instructions",
			{ model: "keryx", messages: [{ role: "system", content: "x" }] },
			"messages",
		],
		["an empty message", say("  "), "messages"],
		["a tool's result", { model: "keryx", messages: [{ role: "tool", content: "x" }] }, "messages.0"],
		[
			"a picture to fetch",
			{
				model: "keryx",
				messages: [
					{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/x.png" } }] },
				],
			},
			"messages.0.content.0",
		],
		[
			"sound",
			{ model: "keryx", messages: [{ role: "user", content: [{ type: "input_audio" }] }] },
			"messages.0.content.0",
		],
		["several answers", say("x", { n: 2 }), "n"],
		["an answer in JSON", say("x", { response_format: { type: "json_object" } }), "response_format.type"],
		["a call of the client's tools", say("x", { tool_choice: "required" }), "tool_choice"],
	])("%s", async (_name, body, param) => {
		const { secret } = await token();
		expect(await post("/chat/completions", secret, body)).toMatchObject({
			status: 400,
			body: { error: { type: "invalid_request_error", code: "argument.invalid", param } },
		});
	});

	test("what is not there", async () => {
		const { secret } = await token();
		expect(await post("/embeddings", secret, {})).toMatchObject({
			status: 404,
			body: { error: { code: "http.no_route" } },
		});
	});

	test("a turn that fails is an error that no client tries again by itself, whole and streamed", async () => {
		const client = openai((await token()).secret);
		const whole = await client.chat.completions.create(say("fail")).catch((cause) => cause);
		expect(whole).toBeInstanceOf(APIError);
		expect(whole).toMatchObject({ status: 422, code: "message.unanswered" });
		const streamed = await collect(
			await client.chat.completions.create({ ...say("fail"), stream: true }),
		).catch((cause) => cause);
		expect(streamed).toBeInstanceOf(APIError);
		expect(streamed.message).toContain("has no answer");
	});
});

describe("a client that hangs up, or waits long", () => {
	test("I3: the turn goes on, and its answer is in the record", async () => {
		const { secret } = await token();
		const controller = new AbortController();
		const stream = await openai(secret).chat.completions.create(
			{ ...say("take your time"), model: "keryx/held", stream: true },
			{ signal: controller.signal, headers: { "x-keryx-message-id": "long" } },
		);
		for await (const { choices } of stream) if (choices[0]?.delta.content === "first ") break;
		controller.abort();
		goOn();
		const again = await post(
			"/chat/completions",
			secret,
			{ ...say("take your time"), model: "keryx/held" },
			{ "x-keryx-message-id": "long" },
		);
		expect(again.body).toMatchObject({ choices: [{ message: { content: "first and last of 1" } }] });
	});

	test("if Keryx stops first, a client that can ask again without saying it twice is told to", async () => {
		const stopping = await serve(SCRIPT);
		const ask = async (user: string, headers: Record<string, string>) => {
			const response = await stopping.api.fetch(
				new Request("http://keryx/v1/chat/completions", {
					method: "POST",
					headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json", ...headers },
					body: JSON.stringify(say("forever", { user })),
				}),
			);
			const { error } = (await response.json()) as { error: { type: string; code: string } };
			return [response.status, error.type, error.code];
		};
		const asked = [ask("ada", { "x-keryx-message-id": "one" }), ask("ben", {})];
		await eventually(async () =>
			expect((await stopping.client.conversations({})).conversations).toHaveLength(2),
		);
		stopping.api.close();
		expect(await Promise.all(asked)).toEqual([
			[503, "server_error", "message.unfinished"],
			[422, "invalid_request_error", "message.unanswered"],
		]);
		await stopping.close();
	});

	test("what was stopped is answered with what was written", async () => {
		const { secret } = await token();
		const stream = await openai(secret).chat.completions.create({ ...say("forever"), stream: true });
		let text = "";
		for await (const { choices } of stream) {
			text += choices[0]?.delta.content ?? "";
			if (choices[0]?.delta.content === "I begin.") await post("/chat/completions", secret, say("/stop"));
		}
		expect(text).toBe("I begin.");
	});

	test("comments keep the connection alive while the agent is silent", async () => {
		vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
		try {
			const response = await keryx.api.fetch(
				new Request("http://keryx/v1/chat/completions", {
					method: "POST",
					headers: { "content-type": "application/json" },
					body: JSON.stringify({ ...say("quiet"), model: "keryx/held", stream: true }),
				}),
			);
			const reader = (response.body as ReadableStream<Uint8Array>).getReader();
			let read = "";
			const until = async (wanted: string) => {
				while (!read.includes(wanted)) {
					const { value, done } = await reader.read();
					if (done) throw new Error(`ended before ${wanted}: ${read}`);
					read += Buffer.from(value).toString("utf8");
				}
			};
			await until("first ");
			vi.advanceTimersByTime(15_000);
			await until(": working\n\n");
			goOn();
			await until("data: [DONE]");
		} finally {
			vi.useRealTimers();
		}
	});
});
