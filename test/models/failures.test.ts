import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { StepEvent } from "../../src/agents/index.ts";
import { createSecrets } from "../../src/secrets/index.ts";
import {
	answers,
	babbles,
	breaksOff,
	hangsUp,
	type ModelServer,
	type Reply,
	refuses,
	says,
	stalls,
	startModelServer,
} from "../support/model-server.ts";
import { doneOf, failureOf, instantClock, KEY, modelAgent, run, stepInput, textIn } from "./support.ts";

let server: ModelServer;
let other: ModelServer;
beforeAll(async () => {
	server = await startModelServer();
	other = await startModelServer();
});
beforeEach(() => {
	server.forget();
	other.forget();
});
afterAll(async () => {
	await server.close();
	await other.close();
});

const image = (blob: string) => ({ type: "image" as const, blob, mediaType: "image/png" });
const withImage = {
	history: [
		{
			role: "user" as const,
			kind: "person" as const,
			content: [{ type: "text" as const, text: "look" }, image("d1")],
		},
	],
};

describe("each failure has its kind", () => {
	test.each([
		["401", 401, { message: "Incorrect API key provided" }, "key_missing"],
		["403", 403, { message: "Forbidden" }, "key_missing"],
		["a flagged 403", 403, { message: "Your input was flagged by moderation" }, "refused"],
		["402", 402, { message: "Insufficient credits" }, "refused"],
		["404", 404, { message: "model 'x' not found" }, "refused"],
		[
			"429 of an empty account",
			429,
			{ message: "You exceeded your quota", type: "insufficient_quota" },
			"refused",
		],
		["413", 413, { message: "Payload Too Large" }, "context_too_large"],
		["429", 429, { message: "Rate limit reached" }, "rate_limited"],
		["429 for size", 429, { message: "Request too large for gpt-4o on tokens per min" }, "context_too_large"],
		[
			"400 for length (OpenAI)",
			400,
			{ message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" },
			"context_too_large",
		],
		[
			"400 for length (Anthropic)",
			400,
			{ message: "prompt is too long: 210000 tokens > 200000 maximum" },
			"context_too_large",
		],
		[
			"400 for length (Google)",
			400,
			{ message: "The input token count (1200000) exceeds the maximum number of tokens allowed" },
			"context_too_large",
		],
		["another 400", 400, { message: "Unknown parameter: foo" }, "refused"],
		["500", 500, { message: "oops" }, "provider_down"],
		["529", 529, { message: "Overloaded" }, "provider_down"],
	])("%s", async (_name, status, error, kind) => {
		server.always(refuses(status, error));
		const failure = failureOf(await run(modelAgent({ base_url: server.url, retries: 0 })));
		expect(failure.kind).toBe(kind);
		expect(failure.detail).toBe(`openai-compatible test-model: ${status} ${error.message}`);
	});

	test("what a provider repeats of a secret is hidden before it is cut", async () => {
		const secrets = createSecrets(new Map([["DEPLOY_KEY", "k3y-".repeat(10)]]));
		const agent = modelAgent({ base_url: server.url, retries: 0 }, { hide: (text) => secrets.hide(text) });
		const message = (before: string) => `${before}${"k3y-".repeat(10)}${"y".repeat(5000)}`;
		server.next(refuses(400, { message: message("x".repeat(280)) }));
		expect(failureOf(await run(agent)).detail).toMatch(/ x{280}\.\.\.$/);
		server.next(refuses(400, { message: message(" ".repeat(3980)) }));
		expect(failureOf(await run(agent)).detail).not.toContain("k3y");
	});

	test("400 for one bad image names that image", async () => {
		const history = [
			{ role: "user" as const, kind: "person" as const, content: [image("good")] },
			{ role: "user" as const, kind: "person" as const, content: [image("bad"), image("fine")] },
		];
		const bytes = (digest: string) => Buffer.from(`bytes of ${digest}`);
		const agent = modelAgent(
			{ base_url: server.url },
			{ readBlob: async (_conversation, digest) => bytes(digest) },
		);
		server.next(refuses(400, { message: "Invalid image at messages[2].content[0].image_url" }));
		const named = failureOf(await run(agent, { history }));
		expect(named).toMatchObject({ kind: "attachment_refused", attachments: ["bad"] });
		// Where the provider does not say which, all that was sent may be why; where it takes none at all, all is.
		server.next(refuses(400, { message: "Could not process image" }));
		const unnamed = failureOf(await run(agent, { history }));
		expect(unnamed.attachments).toBeUndefined();
		expect(unnamed.suspects?.map(({ digest }) => digest)).toEqual(["good", "bad", "fine"]);
		server.next(refuses(404, { message: "No endpoints found that support image input" }));
		expect(failureOf(await run(agent, { history })).attachments).toEqual(["good", "bad", "fine"]);
		// What is said of a form is said of one picture, not of all.
		server.next(refuses(400, { message: "This image format is not supported" }));
		expect(failureOf(await run(agent, { history })).attachments).toBeUndefined();
		expect(server.requests).toHaveLength(4);
	});

	test.each([
		["400", 400, "Unknown parameter: foo", true],
		["413", 413, "Payload Too Large", true],
		["422", 422, "Unprocessable Entity", true],
		["a flagged 403", 403, "Your input was flagged by moderation", true],
		["500", 500, "Internal server error", true],
		["500 for length", 500, "the request exceeds the available context size", true],
		["501", 501, "Not Implemented", true],
		["401", 401, "no", false],
		["402", 402, "Insufficient credits", false],
		["403", 403, "Forbidden", false],
		["404", 404, "model 'x' not found", false],
		["408", 408, "no", false],
		["429", 429, "slow down", false],
		["500 under load", 500, "overloaded, try again", false],
		["502", 502, "Bad Gateway", false],
		["503", 503, "the image service is unavailable", false],
		["504", 504, "Gateway Timeout", false],
		["529", 529, "Overloaded", false],
	])("%s says of attachments whether they may be why", async (_name, status, message, suspected) => {
		server.always(refuses(status, { message }));
		const agent = modelAgent({ base_url: server.url, retries: 0 });
		const { suspects } = failureOf(await run(agent, withImage));
		expect(suspects?.map(({ digest }) => digest)).toEqual(suspected ? ["d1"] : undefined);
		expect(failureOf(await run(agent)).suspects).toBeUndefined();
	});

	test("after the first words of an answer no attachment is blamed: it is not to be asked again", async () => {
		server.next(inStream({ message: "image input is not supported", type: "server_error" }, "Well, "));
		const events = await run(modelAgent({ base_url: server.url }), withImage);
		expect(textIn(events)).toBe("Well, ");
		expect(failureOf(events)).toEqual({ kind: "attachment_refused", detail: expect.any(String) });
		server.next(inStream({ message: "image input is not supported", type: "server_error" }));
		expect(failureOf(await run(modelAgent({ base_url: server.url }), withImage)).attachments).toEqual(["d1"]);
	});

	test("the word image in an error is no refusal of an attachment where none was sent", async () => {
		server.always(refuses(400, { message: "image is not a known parameter" }));
		expect(failureOf(await run(modelAgent({ base_url: server.url }))).kind).toBe("refused");
	});

	test("a content filter is a refusal, and what was said before stays said", async () => {
		server.always(answers([{ content: "Well, " }], { finish: "content_filter" }));
		const events = await run(modelAgent({ base_url: server.url }));
		expect(textIn(events)).toBe("Well, ");
		expect(failureOf(events).kind).toBe("refused");
		expect(server.requests).toHaveLength(1);
	});

	test("a server that is not there is a provider that is down", async () => {
		const gone = await startModelServer();
		await gone.close();
		expect(failureOf(await run(modelAgent({ base_url: gone.url }))).kind).toBe("provider_down");
	});

	test("an error in the middle of the stream has the kind of its words", async () => {
		const agent = modelAgent({ base_url: server.url, retries: 0 });
		for (const [error, kind] of [
			[{ message: "Overloaded", type: "overloaded_error" }, "provider_down"],
			[{ message: "Rate limit exceeded", code: 429 }, "rate_limited"],
			[{ message: "maximum context length exceeded", code: "context_length_exceeded" }, "context_too_large"],
		] as const) {
			server.next(inStream(error));
			expect(failureOf(await run(agent)).kind).toBe(kind);
		}
	});
});

describe("what was shown is never begun again", () => {
	test("an answer that is cut in mid-word ends there, with what it said", async () => {
		server.next(stalls("Good mor"));
		const agent = modelAgent({ base_url: server.url, failover: [fallback()] });
		const events: StepEvent[] = [];
		for await (const event of agent.step(stepInput())) {
			events.push(event);
			server.cut();
		}
		expect(textIn(events)).toBe("Good mor");
		expect(failureOf(events).kind).toBe("provider_down");
		expect(server.requests).toHaveLength(1);
		expect(other.requests).toHaveLength(0);
	});

	test("an answer in Anthropic's shape that has no end was cut off", async () => {
		server.next((response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			const usage = { input_tokens: 1, output_tokens: 1 };
			const message = { id: "m", type: "message", role: "assistant", model: "c", content: [], usage };
			for (const event of [
				{ type: "message_start", message },
				{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
				{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Good mor" } },
			])
				response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
			response.end();
		});
		const agent = modelAgent({ base_url: server.url, provider: "anthropic", model: "claude-sonnet-5" });
		const events = await run(agent);
		expect(textIn(events)).toBe("Good mor");
		expect(failureOf(events)).toMatchObject({ kind: "provider_down" });
	});

	test.each([
		["broken off without an end", breaksOff("Good mor"), "provider_down"],
		["malformed", babbles("Good mor"), "malformed"],
	] as const)("an answer that is %s ends there, with what it said", async (_name, reply, kind) => {
		server.next(reply);
		const events = await run(modelAgent({ base_url: server.url, failover: [fallback()] }));
		expect(textIn(events)).toBe("Good mor");
		expect(failureOf(events).kind).toBe(kind);
		expect(server.requests).toHaveLength(1);
		expect(other.requests).toHaveLength(0);
	});

	test.each([
		["cut", hangsUp()],
		["malformed", babbles()],
		["500", refuses(500, { message: "oops" })],
	] as const)("%s before any text is asked again", async (_name, reply) => {
		server.next(reply, reply);
		const events = await run(modelAgent({ base_url: server.url }));
		expect(textIn(events)).toBe("ok");
		expect(doneOf(events).message.content).toBe("ok");
		expect(server.requests).toHaveLength(3);
	});
});

describe("asking again", () => {
	test("waits longer each time, and never longer than asked for", async () => {
		server.always(refuses(500, { message: "oops" }));
		const clock = instantClock();
		const events = await run(modelAgent({ base_url: server.url, retries: 3 }, { clock }));
		expect(failureOf(events).kind).toBe("provider_down");
		expect(clock.waits).toEqual([375, 750, 1500]);
		expect(server.requests).toHaveLength(4);
	});

	test.each([
		["in seconds", { "retry-after": "7" }, 7000],
		["in milliseconds", { "retry-after-ms": "1500" }, 1500],
		["as a date", { "retry-after": new Date(1_000_000 + 9000).toUTCString() }, 9000],
	])("waits at least as long as the provider asks, %s", async (_name, headers, asked) => {
		server.next(refuses(429, { message: "slow down" }, headers));
		const clock = instantClock();
		doneOf(await run(modelAgent({ base_url: server.url }, { clock })));
		expect(clock.waits).toHaveLength(1);
		expect(clock.waits[0]).toBeGreaterThanOrEqual(asked);
		expect(clock.waits[0]).toBeLessThan(asked + 500);
	});

	test("a pause that is too long for a step is told, not waited for", async () => {
		server.always(refuses(429, { message: "slow down" }, { "retry-after": "3600" }));
		const clock = instantClock();
		const failure = failureOf(await run(modelAgent({ base_url: server.url }, { clock })));
		expect(failure).toMatchObject({ kind: "rate_limited", retryAfterMs: 3_600_000 });
		expect(clock.waits).toEqual([]);
		expect(server.requests).toHaveLength(1);
	});

	test.each([
		["a wrong key", 401, "nope"],
		["a bad request", 400, "nope"],
		["a prompt that is too long", 400, "prompt is too long"],
		["an empty account", 429, "insufficient_quota"],
	])("%s is not asked again", async (_name, status, message) => {
		server.always(refuses(status, { message }));
		failureOf(await run(modelAgent({ base_url: server.url })));
		expect(server.requests).toHaveLength(1);
	});

	test("an abort ends the wait, and nothing is asked any more", async () => {
		server.always(refuses(500, { message: "oops" }));
		const controller = new AbortController();
		const clock = {
			now: () => 0,
			monotonic: () => 0,
			after: () => {
				setImmediate(() => controller.abort());
				return () => {};
			},
		};
		const agent = modelAgent({ base_url: server.url }, { clock });
		expect(await run(agent, { signal: controller.signal })).toEqual([]);
		expect(server.requests).toHaveLength(1);
	});
});

/** An error in a stream that began well. */
function inStream(error: object, ...said: readonly string[]): Reply {
	return (response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		for (const content of said)
			response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
		response.end(`data: ${JSON.stringify({ error })}\n\n`);
	};
}

function fallback() {
	return { provider: "openai-compatible" as const, model: "second", base_url: other.url };
}

describe("failover", () => {
	test("the next model answers when the first does not, and the usage names it", async () => {
		server.always(refuses(503, { message: "down" }));
		other.always(says("from the second"));
		const done = doneOf(await run(modelAgent({ base_url: server.url, retries: 1, failover: [fallback()] })));
		expect(done.message.content).toBe("from the second");
		expect(done.usage).toMatchObject({ provider: "openai-compatible", model: "second" });
		expect([server.requests.length, other.requests.length]).toEqual([2, 1]);
	});

	test.each([
		["has no credit", 402, "Insufficient credits"],
		["does not have the model", 404, "no such model"],
		["does not know the key", 401, "who are you"],
	])("the next model is asked where the first one's provider %s", async (_name, status, message) => {
		server.always(refuses(status, { message }));
		const agent = modelAgent({ base_url: server.url, failover: [fallback()] });
		expect(doneOf(await run(agent)).usage.model).toBe("second");
		expect(server.requests).toHaveLength(1);
	});

	test("each of the list is tried once, and the failure is that of the model that was meant", async () => {
		server.always(refuses(429, { message: "slow down" }, { "retry-after": "1" }));
		other.always(refuses(500, { message: "oops" }));
		const agent = modelAgent({ base_url: server.url, retries: 0, failover: [fallback(), fallback()] });
		const failure = failureOf(await run(agent));
		expect(failure).toMatchObject({ kind: "rate_limited", retryAfterMs: 1000 });
		expect(failure.detail).toBe(
			"openai-compatible test-model: 429 slow down; then openai-compatible second: provider_down, 500 oops; then openai-compatible second: provider_down, 500 oops",
		);
		expect(other.requests).toHaveLength(2);
	});

	test("the key of one provider never goes to another", async () => {
		server.always(refuses(500, { message: "oops" }));
		await run(modelAgent({ base_url: server.url, retries: 0, failover: [fallback()] }));
		expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
		expect(other.requests[0]?.headers.authorization).toBeUndefined();
	});

	test.each([
		["what was asked is refused", 400, "no", {}],
		["the prompt is too long", 400, "prompt is too long", {}],
		["an attachment is refused", 400, "bad image", withImage],
	])("another model is not asked where %s", async (_name, status, message, input) => {
		server.always(refuses(status, { message }));
		failureOf(await run(modelAgent({ base_url: server.url, failover: [fallback()] }), input));
		expect(other.requests).toHaveLength(0);
	});
});

describe("the key", () => {
	test("is read at every step, and sent as it is then", async () => {
		const env: Record<string, string> = { TEST_KEY: "first-key" };
		const agent = modelAgent({ base_url: server.url }, { env });
		await run(agent);
		env.TEST_KEY = "second-key";
		await run(agent);
		expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
			"Bearer first-key",
			"Bearer second-key",
		]);
	});

	test("that is missing is told by the name of its variable, and nothing is asked", async () => {
		const failure = failureOf(await run(modelAgent({ base_url: server.url }, { env: {} })));
		expect(failure.kind).toBe("key_missing");
		expect(failure.detail).toContain("TEST_KEY");
		expect(server.requests).toHaveLength(0);
	});

	test.each([
		["looks like one", KEY],
		["does not", "correct horse".replace(" ", "-")],
	])("that %s appears nowhere, whoever repeats it", async (_name, key) => {
		const agent = modelAgent({ base_url: server.url }, { env: { TEST_KEY: key } });
		for (const reply of [
			refuses(401, { message: `Incorrect API key provided: ${key}.` }),
			refuses(500, { message: `${key} and ${key}` }, { "x-key": key }),
			answers([], { finish: key }),
			inStream({ message: `${key} is overloaded`, type: key }),
			inStream({ [key]: key }),
		]) {
			server.always(reply);
			const events = await run(agent);
			expect(JSON.stringify(events)).not.toContain(key);
		}
	});

	test("that cannot be one is not shown either", async () => {
		const key = "sk-two\nlines";
		const events = await run(modelAgent({ base_url: server.url }, { env: { TEST_KEY: key } }));
		expect(failureOf(events).kind).toBe("key_missing");
		expect(JSON.stringify(events)).not.toContain("lines");
	});

	test("does not follow an override to an address that the configuration does not know", async () => {
		const env = { TEST_KEY: KEY, OPENAI_API_KEY: "the-usual-one" };
		const agent = modelAgent({ base_url: server.url }, { env });
		other.always(says("from elsewhere"));
		const elsewhere = await run(agent, { override: { base_url: other.url, model: "m2" } });
		expect(doneOf(elsewhere).usage.model).toBe("m2");
		expect(other.requests[0]?.headers.authorization).toBeUndefined();
		const hosted = await run(agent, { override: { provider: "openai", base_url: other.url } });
		expect(failureOf(hosted).kind).toBe("key_missing");
		expect(other.requests).toHaveLength(1);
	});
});

describe("an override", () => {
	test("replaces the model and keeps the rest", async () => {
		const done = doneOf(await run(modelAgent({ base_url: server.url }), { override: { model: "big-one" } }));
		expect(done.usage.model).toBe("big-one");
		expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({ model: "big-one" });
		expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
	});

	test("of a provider that does not exist is refused in words", async () => {
		const failure = failureOf(
			await run(modelAgent({ base_url: server.url }), { override: { provider: "acme" } }),
		);
		expect(failure.kind).toBe("refused");
		expect(failure.detail).toContain("acme");
	});
});

describe("check", () => {
	const signal = () => new AbortController().signal;

	test("says ok with the model's name and how long it took", async () => {
		let now = 0;
		const clock = { ...instantClock(), monotonic: () => (now += 20) };
		const agent = modelAgent({ base_url: server.url, reasoning: "high" }, { clock });
		expect(await agent.check(signal())).toEqual({
			ok: true,
			provider: "openai-compatible",
			model: "test-model",
			ms: 20,
		});
		expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({ max_tokens: 64 });
	});

	test("says what is wrong, without asking again", async () => {
		server.always(refuses(500, { message: "oops" }));
		const checked = await modelAgent({ base_url: server.url, failover: [fallback()] }).check(signal());
		expect(checked).toMatchObject({ ok: false, failure: { kind: "provider_down", detail: "500 oops" } });
		expect(server.requests).toHaveLength(1);
	});

	test("that is given up says that there was no answer in time", async () => {
		server.always(stalls());
		const controller = new AbortController();
		const checking = modelAgent({ base_url: server.url }).check(controller.signal);
		await server.received(1);
		controller.abort();
		expect(await checking).toMatchObject({ ok: false, failure: { kind: "timeout" } });
	});
});

test("a step that is aborted while the server stalls ends at once, and the connection with it", async () => {
	server.always(stalls("I beg"));
	const controller = new AbortController();
	const iterator = modelAgent({ base_url: server.url })
		.step(stepInput({ signal: controller.signal }))
		[Symbol.asyncIterator]();
	expect(await iterator.next()).toEqual({ done: false, value: { type: "text", delta: "I beg" } });
	const next = iterator.next();
	controller.abort();
	expect(await next).toEqual({ done: true, value: undefined });
});
