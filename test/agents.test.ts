import { expect, test } from "vitest";
import {
	createOfflineAgent,
	createScriptedAgent,
	createScriptedLoopAgent,
	type Script,
} from "../src/agents/index.ts";
import { loadConfig } from "../src/config/index.ts";
import { finalLimitText, limitInfo, nearLimitText } from "../src/domain/index.ts";
import { createGateway } from "../src/gateway/index.ts";
import { NO_SECRETS, openEngine, storeOn } from "../src/store/index.ts";
import {
	type AgentUnderTest,
	type Ask,
	agentConformance,
	person,
	tool,
} from "../src/testing/conformance/agent.ts";
import { createScriptedChannel, createVirtualClock, trackedEngine } from "../src/testing/index.ts";
import { createTools, sessionSearch } from "../src/tools/index.ts";
import { countedIds, NOON } from "./support/clock.ts";

const script: Script = {
	rules: [
		{
			when: "look",
			steps: [
				{ text: "Looking.", tools: [{ name: "echo", input: { words: "tea" } }, { name: "echo" }] },
				{ text: "Found." },
			],
		},
		{
			when: "stream",
			steps: [{ chunks: ["one ", "two ", "{{input}} {{count}}"], usage: { input_tokens: 7 } }],
		},
		{ when: "nothing", steps: [{}] },
		{ when: "wait", steps: [{ chunks: ["a", "b"], delay_ms: 5, chunk_delay_ms: 5 }] },
		{ when: "pause", steps: [{ chunks: ["a", "b"], chunk_delay_ms: 5 }] },
		{ when: "hang", steps: [{ text: "I begin", hang: true }] },
		{ when: "limited", steps: [{ text: "Half", fail: { kind: "rate_limited", retry_after_ms: 30_000 } }] },
		{ when: "down", steps: [{ fail: { kind: "provider_down", detail: "503" } }] },
		{ when: "short", steps: [{ tools: [{ name: "echo" }] }] },
	],
	otherwise: [{ text: "You said {{input}}" }, { text: "That was all." }, { text: "Really." }],
};

const echo = [tool("echo")];
const called = [
	person("look"),
	{ role: "assistant", content: "", toolCalls: [{ id: "x", name: "echo", input: {} }] },
	{ role: "tool", toolCallId: "x", toolName: "echo", content: "tea", isError: false },
] as const;

function scripted(make: () => AgentUnderTest["agent"]): AgentUnderTest {
	const ask = (text: string): Ask => ({ history: [person("earlier"), person(text)], tools: echo });
	return {
		agent: make(),
		asks: [
			ask("look"),
			ask("stream"),
			ask("nothing"),
			ask("anything"),
			{ history: called, tools: echo },
			{ history: [] },
		],
		slow: [ask("wait"), ask("pause"), ask("hang")],
		failing: [
			{ ask: ask("limited"), kind: "rate_limited" },
			{ ask: ask("down"), kind: "provider_down" },
			// A script that has run out, or that calls what is not there, is a mistake that shows.
			{
				ask: { history: [...called, ...called.slice(1), ...called.slice(1)], tools: echo },
				kind: "malformed",
			},
		],
		deterministic: true,
	};
}

agentConformance("scripted", () =>
	scripted(() => createScriptedAgent({ script, clock: createVirtualClock(0) })),
);
agentConformance("scripted, looping itself", () =>
	scripted(() => createScriptedLoopAgent({ script, clock: createVirtualClock(0) })),
);

agentConformance("offline", () => {
	const search = [tool("session_search")];
	const ask = (text: string, notes: readonly string[] = []): Ask => ({
		history: [person(text)],
		tools: search,
		notes,
	});
	return {
		agent: createOfflineAgent(),
		asks: [
			ask("hello"),
			ask("help"),
			ask("search tea"),
			ask("remember that the key lies under the mat"),
			ask("what did I say about tea?"),
			ask("why is the sky blue?"),
			ask("search tea", [nearLimitText(limitInfo(17, 20))]),
			ask("search tea", [finalLimitText(limitInfo(20, 20))]),
			{ history: [person("search tea")] },
			{ history: [] },
		],
		slow: [],
		failing: [],
		deterministic: true,
	};
});

test("the offline agent finds what was said, through the gateway, the store's search and its tool", async () => {
	const engine = trackedEngine(await openEngine({ url: "sqlite::memory:", clock: { now: () => NOON } }));
	const clock = createVirtualClock(NOON, { settle: engine.idle });
	const channel = createScriptedChannel({ platform: "telegram", clock });
	const gateway = createGateway({
		store: storeOn(engine, { clock, ids: countedIds(), secrets: NO_SECRETS }),
		agent: createOfflineAgent(),
		tools: createTools([sessionSearch]),
		channels: [channel],
		config: loadConfig({ home: "/no/config/here", env: { KERYX_AUTH_TELEGRAM_ALLOW_ALL: "true" } }).values,
		clock,
		pseudonymKey: new Uint8Array(32),
	});
	await gateway.start();
	for (const text of ["remember the key lies under the flowerpot", "what did I say about flowerpot?"]) {
		channel.world.say({ chat: "42", text });
		await clock.advance(5000);
	}
	const texts = channel.world.visible("42").map(({ text }) => text);
	expect(texts).toHaveLength(2);
	expect(texts[0]).toContain("search flowerpot");
	expect(texts[1]).toContain("2026-03-10 12:00 UTC");
	expect(texts[1]).toContain("remember the key lies under the flowerpot");
	expect(texts[1]).not.toContain("what did I say");
	await gateway.stop();
	await engine.close();
});
