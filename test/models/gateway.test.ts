// A message in and an answer out, with the real gateway, store and tools, and a model behind HTTP.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../src/app/agent.ts";
import { createLocalChannel } from "../../src/channels/local/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import { confirmationSettings, createConfirmations } from "../../src/confirmations/index.ts";
import type { ConversationId, SessionId } from "../../src/domain/index.ts";
import { createGateway, type Gateway, systemClock } from "../../src/gateway/index.ts";
import { apiTransport, createApi, createClient } from "../../src/http/index.ts";
import { type Message, NO_SECRETS, openStore, type Store, systemIds } from "../../src/store/index.ts";
import { createTools, defineTool } from "../../src/tools/index.ts";
import { TERMINAL } from "../http/support.ts";
import {
	babbles,
	calls,
	floods,
	type ModelServer,
	type Reply,
	refuses,
	says,
	stalls,
	startModelServer,
} from "../support/model-server.ts";
import { KEY, PNG } from "./support.ts";

const echo = defineTool({
	name: "echo",
	description: "says it back",
	input: z.strictObject({ words: z.string() }),
	repeatable: true,
	run: async ({ words }) => ({ content: `you wrote ${words}` }),
});
const draw = defineTool({
	name: "draw",
	description: "draws a point",
	input: z.strictObject({}),
	repeatable: true,
	run: async () => ({ content: [{ type: "image", data: PNG, mediaType: "image/png" }] }),
});

const OPERATOR = { kind: "operator" } as const;

let server: ModelServer;
beforeAll(async () => {
	server = await startModelServer();
});
afterAll(() => server.close());

let store: Store;
let gateway: Gateway;
let close: () => Promise<void>;
const logged: string[] = [];
beforeEach(async () => {
	server.forget();
	logged.length = 0;
	const ids = systemIds(systemClock);
	store = await openStore({ url: "sqlite::memory:", clock: systemClock, ids, secrets: NO_SECRETS });
	const config = configSchema.parse({
		session_reset: { mode: "none" },
		turn: { first_token_seconds: 1 },
		agent: {
			kind: "ai-sdk",
			provider: "openai-compatible",
			model: "test-model",
			base_url: server.url,
			api_key_env: "TEST_KEY",
			retries: 0,
			prices: { "test-model": { input: 2, output: 10 } },
		},
	});
	gateway = createGateway({
		store,
		agent: createAgent(config, { env: { TEST_KEY: KEY }, store }),
		tools: createTools([echo, draw]),
		channels: [createLocalChannel("local", systemClock.now), createLocalChannel("web", systemClock.now)],
		config,
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
		log: (message, error) => logged.push(`${message}: ${error}`),
	});
	await gateway.start();
	close = async () => {
		await gateway.stop();
		await store.close();
	};
});
afterEach(() => close());

interface Said {
	readonly conversation: ConversationId;
	readonly reply: string;
	readonly rows: readonly Message[];
}

const WEB = { platform: "web", chat_id: "chat", user_id: "operator", chat_name: "Plan a weekend" };

async function say(text: string, source: { readonly platform: string } = TERMINAL): Promise<Said> {
	const api = createApi({
		store,
		gateway,
		confirmations: createConfirmations({
			store,
			clock: systemClock,
			settings: () => confirmationSettings(configSchema.parse({}), {}),
		}),
		operatorSecret: "none",
		version: "0.0.0",
		agent: "ai-sdk",
		startedAt: 0,
		now: systemClock.now,
	});
	try {
		const client = createClient(apiTransport(api));
		const sent = await client.send({ text, client_message_id: crypto.randomUUID(), source });
		const { turn } = await client.inbound({ id: sent.id, wait: 30 });
		const { deliveries } = await client.turn({ turn: turn as string });
		const conversation = sent.conversation as ConversationId;
		const { live_session } = await client.conversation({ conversation });
		const rows = await store.transcript({ scope: OPERATOR, session: live_session as SessionId });
		return { conversation, reply: deliveries.map((delivery) => delivery.text).join("\n"), rows };
	} finally {
		api.close();
	}
}

function outline(rows: readonly Message[]): unknown[] {
	return rows.map(({ role, content }) => [role, content]);
}

test("a message is answered after two calls in parallel, the transcript is true, and the usage is recorded", async () => {
	server.next(
		calls(
			{ id: "call_a", name: "echo", args: '{"words":"tea"}' },
			{ id: "call_b", name: "echo", args: '{"words": tea' },
		),
		says("You wrote ", "tea."),
	);
	const { conversation, reply, rows } = await say("say tea");
	expect(reply).toBe("You wrote tea.");
	expect(rows.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
	expect(rows[1]?.toolCalls).toEqual([
		{ id: "call_a", name: "echo", input: { words: "tea" } },
		{ id: "call_b", name: "echo", input: '{"words": tea' },
	]);
	expect(rows[2]).toMatchObject({ toolCallId: "call_a", content: "you wrote tea" });
	// What is wrong with the arguments went back to the model.
	expect(rows[3]).toMatchObject({ toolCallId: "call_b", isError: true });
	expect(server.requests[1]?.body).toContain("The arguments for echo are not valid");
	expect(rows[4]).toMatchObject({ content: "You wrote tea.", finishReason: "stop" });
	const { session } = await store.usage({ scope: OPERATOR, conversation, since: 0 });
	expect(session).toMatchObject({
		calls: 2,
		inputTokens: 24,
		outputTokens: 6,
		costs: [{ currency: "USD", micros: 2 * (12 * 2 + 3 * 10) }],
		unpriced: 0,
	});
	expect(logged).toEqual([]);
});

test("what a tool brings is read from the store and shown to the model", async () => {
	server.next(calls({ id: "call_a", name: "draw", args: "{}" }), says("A point."));
	expect((await say("draw")).reply).toBe("A point.");
	expect(server.requests[1]?.body).toContain(PNG.toString("base64"));
});

const FAILURES: readonly (readonly [string, Reply, RegExp])[] = [
	["500", refuses(500, { message: "oops" }), /cannot be reached right now/],
	["401", refuses(401, { message: `wrong key ${KEY}` }), /key is missing or was refused/],
	["429", refuses(429, { message: "slow down" }), /limiting requests/],
	["400 for length", refuses(400, { message: "maximum context length" }), /too long for the model/],
	["another 400", refuses(400, { message: "no" }), /refused this request/],
	["a stall", stalls(), /took too long/],
];
test.each(FAILURES)(
	"%s is a plain sentence to the user and a note in the transcript",
	async (_name, reply, sentence) => {
		server.next(reply);
		const failed = await say("hello");
		expect(failed.reply).toMatch(sentence);
		expect(failed.rows).toMatchObject([{ role: "user" }, { role: "meta", kind: "note" }]);
		expect(JSON.stringify(failed)).not.toContain(KEY);
		// And the next one is answered.
		expect((await say("again")).reply).toBe("ok");
		expect(JSON.stringify([...logged])).not.toContain(KEY);
	},
);

test("a picture that the provider refuses is left out from then on, the user is told, and the turn goes on", async () => {
	server.next(calls({ id: "call_a", name: "draw", args: "{}" }), refuses(400, { message: "Invalid image" }));
	const { reply, rows } = await say("draw");
	expect(reply).toContain("image (image/png, 70 bytes): the model's provider does not accept it");
	expect(rows.at(-2)?.content).toBe("ok");
	expect(rows.map(({ kind }) => kind === "left_out")).toEqual([false, false, false, false, true]);
	const [refused, again] = server.requests.slice(-2).map(({ body }) => body.includes("image_url"));
	expect([refused, again]).toEqual([true, false]);
});

test("an answer that breaks in mid-word stays in the transcript as far as it came", async () => {
	server.next(babbles("Good mor"));
	const { reply, rows } = await say("hello");
	expect(reply).toMatch(/could not be read/);
	expect(outline(rows).slice(0, 2)).toEqual([
		["user", "hello"],
		["assistant", "Good mor"],
	]);
	expect(rows[1]?.finishReason).toBe("error");
	expect(server.requests).toHaveLength(1);
});

test("an answer past turn.max_answer_mb is cut, stored and said to be, and the session goes on", async () => {
	// A gigabyte, in pieces, as long as somebody reads.
	server.next(floods("x".repeat(100_000), 10_000));
	const mark = "(The answer was longer than 2 MB, so it was cut here. Setting: turn.max_answer_mb.)";
	const { reply } = await say("talk");
	expect(reply.endsWith(mark)).toBe(true);
	expect(reply.startsWith("x".repeat(2_000_000))).toBe(true);
	expect(reply.length).toBeLessThan(2 * 1024 * 1024 + 100);
	server.next(says("here"));
	// With a word about how full the conversation is.
	expect((await say("still there?")).reply.endsWith("here")).toBe(true);
});

test("a chat of the page is named by the model after its first exchange, once, and its cost is counted", async () => {
	server.next(says("Rome is lovely."), says('"Weekend in Rome."'), says("In May."));
	const { conversation } = await say("Plan a weekend in Rome", WEB);
	const read = () => store.conversation({ scope: OPERATOR, ref: { id: conversation } });
	await expect.poll(async () => (await read()).name).toBe("Weekend in Rome");
	expect((await read()).titleSource).toBe("model");
	expect(server.requests[1]?.body).toContain("Plan a weekend in Rome");
	const calls = async () => (await store.usage({ scope: OPERATOR, conversation, since: 0 })).session?.calls;
	expect(await calls()).toBe(2);
	expect((await say("When?", WEB)).reply).toBe("In May.");
	await gateway.stop();
	expect([server.requests.length, await calls()]).toEqual([3, 3]);
	expect(logged).toEqual([]);
});

test("a model that cannot name a chat disturbs nobody, and is asked again after the next exchange", async () => {
	server.next(says("Hello."), refuses(500, { message: "oops" }), says("Again."), says("Greetings"));
	const { conversation, reply } = await say("Hello", WEB);
	expect(reply).toBe("Hello.");
	const calls = async () => (await store.usage({ scope: OPERATOR, conversation, since: 0 })).session?.calls;
	await expect.poll(calls).toBe(2);
	const read = () => store.conversation({ scope: OPERATOR, ref: { id: conversation } });
	expect((await read()).name).toBe("Plan a weekend");
	await say("Hello again", WEB);
	await expect.poll(async () => (await read()).name).toBe("Greetings");
	expect(logged).toEqual([]);
});

test("only the page's chats are named by the model", async () => {
	await say("Hello");
	await gateway.stop();
	expect(server.requests).toHaveLength(1);
});
