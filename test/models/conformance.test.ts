import { afterAll, beforeAll } from "vitest";
import {
	type AgentUnderTest,
	type Ask,
	agentConformance,
	person,
	tool,
} from "../../src/testing/conformance/agent.ts";
import {
	answers,
	babbles,
	calls,
	type ModelServer,
	type Received,
	type Reply,
	refuses,
	says,
	stalls,
	startModelServer,
} from "../support/model-server.ts";
import { modelAgent } from "./support.ts";

let server: ModelServer;
beforeAll(async () => {
	server = await startModelServer();
	server.always((response, request) => replyTo(request)(response, request));
});
afterAll(() => server.close());

const REPLIES: Readonly<Record<string, Reply>> = {
	stream: says("one ", "two ", "three"),
	nothing: answers([]),
	think: answers([{ reasoning_content: "Hm." }, { reasoning_content: " Yes." }, { content: "Yes." }]),
	wait: stalls(),
	pause: stalls("I begin"),
	limited: refuses(429, { message: "slow down" }),
	down: refuses(500, { message: "oops" }),
	locked: refuses(401, { message: "who are you" }),
	long: refuses(400, { message: "prompt is too long" }),
	broken: babbles("Half"),
};

/** By the last person's words; calls only what is offered. */
function replyTo({ body }: Received): Reply {
	const { messages, tools = [] } = JSON.parse(body) as {
		messages: { role: string; content: unknown }[];
		tools?: { function: { name: string } }[];
	};
	const texts = messages.flatMap(({ role, content }) =>
		role === "user" && typeof content === "string" && !content.startsWith("[Note") ? [content] : [],
	);
	const last = texts.at(-1) ?? "";
	const name = tools[0]?.function.name;
	if (last === "look" && name !== undefined && messages.at(-1)?.role !== "tool")
		return calls({ id: "call_1", name, args: '{"a":1}' }, { id: "call_2", name, args: "no json" });
	return REPLIES[last] ?? says(`You said ${last}`);
}

function underTest(): AgentUnderTest {
	const ask = (text: string): Ask => ({ history: [person("earlier"), person(text)], tools: [tool("echo")] });
	return {
		agent: modelAgent({ base_url: server.url, retries: 1 }),
		asks: [ask("look"), ask("stream"), ask("nothing"), ask("think"), ask("anything"), { history: [] }],
		slow: [ask("wait"), ask("pause")],
		failing: [
			{ ask: ask("limited"), kind: "rate_limited" },
			{ ask: ask("down"), kind: "provider_down" },
			{ ask: ask("locked"), kind: "key_missing" },
			{ ask: ask("long"), kind: "context_too_large" },
			{ ask: ask("broken"), kind: "malformed" },
		],
		deterministic: true,
	};
}

agentConformance("ai-sdk, over an OpenAI-compatible server", underTest);
