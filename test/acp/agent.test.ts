// What a program says, as Keryx's events; what it is shown; what happens when it misbehaves.
import { afterAll, describe, expect, test, vi } from "vitest";
import { type AgentUnderTest, agentConformance, person as someone } from "../conformance/agent.ts";
import { person } from "./input.ts";
import { answer, Bench, begun, rowsOf, textIn, told } from "./support.ts";

const bench = new Bench();
afterAll(() => bench.end());

agentConformance("acp", (): AgentUnderTest => {
	const ask = (text: string) => ({ history: [someone("earlier"), someone(text)] });
	return {
		agent: bench.make().agent,
		asks: ["hello", "stream", "look", "both", "may I", "begin a call", "nothing", "rubbish"].map(ask),
		slow: [ask("wait")],
		failing: [
			{ ask: ask("fail"), kind: "provider_down" },
			{ ask: ask("refuse"), kind: "refused" },
			{ ask: ask("die"), kind: "provider_down" },
		],
		deterministic: true,
	};
});

describe("what a program reports", () => {
	const { agent } = bench.make();

	test("its text is deltas and one message, with who it is in the usage", async () => {
		const events = await answer(agent, "stream");
		expect(events).toEqual([
			{ type: "text", delta: "one " },
			{ type: "text", delta: "two " },
			{ type: "text", delta: "three" },
			{
				type: "message",
				message: { content: "one two three", toolCalls: [], finishReason: "stop" },
				usage: {
					provider: "acp",
					model: "tester",
					inputTokens: 0,
					outputTokens: 0,
					costMicros: null,
					currency: "USD",
				},
			},
			{ type: "done" },
		]);
	});

	test("a call is a message when it begins, and its result follows", async () => {
		const events = await answer(agent, "look");
		const rows = rowsOf(events);
		expect(rows).toMatchObject([
			{
				role: "assistant",
				content: "Looking.",
				toolCalls: [{ name: "read", input: { title: "Read notes.txt", input: { path: "notes.txt" } } }],
			},
			{ role: "tool", toolName: "read", content: "milk, eggs", isError: false },
			{ role: "assistant", content: "Milk and eggs.", toolCalls: [] },
		]);
	});

	test("calls side by side are told one after the other, each with its own result", async () => {
		const rows = rowsOf(await answer(agent, "both"));
		expect(rows).toMatchObject([
			{ toolCalls: [{ input: { title: "a" } }] },
			{ content: "found", isError: false },
			{ toolCalls: [{ input: { title: "b" } }] },
			{ content: '{"error":"not found"}', isError: true },
			{ content: "Meanwhile." },
		]);
	});

	test("a call that never says how it ended gets a result that says so, and no text is lost", async () => {
		expect(rowsOf(await answer(agent, "begin a call"))).toMatchObject([
			{ toolCalls: [{ name: "execute", input: { title: "Dig" } }] },
			{ content: "no result was reported", isError: true },
			{ content: "Digging." },
		]);
	});

	test("thoughts and plans are a sign of life, and are kept nowhere", async () => {
		const events = await answer(agent, "think");
		expect(events[0]).toEqual({ type: "thinking" });
		expect(JSON.stringify(events)).not.toContain("hm");
		expect(textIn(events)).toBe("thought");
	});

	test("what it has spent is counted once", async () => {
		const first = await answer(agent, { conversation: "money", history: [person("spend")] });
		const history = [person("spend"), ...rowsOf(first), person("spend")];
		const second = await answer(agent, { conversation: "money", history });
		const costs = [first, second].flatMap((events) =>
			events.flatMap((event) => (event.type === "message" ? [event.usage] : [])),
		);
		expect(costs).toMatchObject([
			{ costMicros: 250_000, currency: "EUR" },
			{ costMicros: 250_000, currency: "EUR" },
		]);
	});

	test("a program that says more than anybody reads is held up, and nothing is lost", async () => {
		expect(textIn(await answer(agent, "flood"))).toHaveLength(5000);
	});

	test("an error of the program ends the turn, without the key it names", async () => {
		const events = await answer(agent, "fail");
		expect(events.at(-1)).toMatchObject({ type: "failed", failure: { kind: "provider_down" } });
		expect(JSON.stringify(events)).not.toContain("sk-live");
	});

	test("a secret that the program was given is not in what it says", async () => {
		const { agent } = bench.make("good", { hide: (text) => text.replaceAll("hunter2", "(hidden)") });
		expect(textIn(await answer(agent, "hunter2 is my word"))).toBe("You said: (hidden) is my word");
	});
});

describe("what a program may do", () => {
	const { agent } = bench.make();

	test("what it asks leave for is refused this once, and the transcript says for what", async () => {
		const events = await answer(agent, "may I");
		expect(rowsOf(events)).toMatchObject([
			{ toolCalls: [{ name: "delete", input: { title: "Delete everything" } }] },
			{
				content: expect.stringMatching(/asked for permission: Delete everything\. Keryx refused/),
				isError: true,
			},
			{ content: "I was told no." },
		]);
	});

	test("where no option refuses, the request is cancelled", async () => {
		expect(textIn(await answer(agent, "may I at all"))).toBe("I was told cancelled.");
	});

	test("it gets neither Keryx's files nor a terminal", async () => {
		expect(textIn(await answer(agent, "read a file"))).toBe("-32601 -32601");
	});
});

describe("what a program is shown", () => {
	const past = [
		person("my name is Ada"),
		{
			role: "assistant",
			content: "Hello Ada.",
			toolCalls: [{ id: "1", name: "greet", input: { who: "Ada" } }],
		},
		{ role: "tool", toolCallId: "1", toolName: "greet", content: "x".repeat(5000), isError: false },
		{ role: "user", kind: "note", content: "The user stopped this turn." },
	] as const;

	test("one that was just started gets the whole conversation, calls in short", async () => {
		const { agent } = bench.make();
		const history = [...past, person("tell")];
		const { texts } = told(await answer(agent, { history, notes: ["It is noon."] }));
		expect(texts[0]).toContain("You are tested.");
		expect(texts[1]).toContain("A person wrote:\n| my name is Ada");
		expect(texts[1]).toContain("You wrote:\n| Hello Ada.");
		expect(texts[1]).toContain('You called a tool:\n| greet {"who":"Ada"}');
		expect(texts[1]?.length).toBeLessThan(1500);
		expect(texts.slice(2)).toEqual([
			"Keryx noted:\n| The user stopped this turn.",
			"tell",
			"Notes from Keryx for this turn:\n| It is noon.",
		]);
	});

	test("one that is warm gets only what is new", async () => {
		const { agent } = bench.make();
		const first = await answer(agent, { history: [...past, person("look")] });
		const history = [...past, person("look"), ...rowsOf(first), person("and now"), person("tell")];
		expect(told(await answer(agent, { history }))).toEqual({
			sessions: 1,
			prompts: 2,
			texts: ["and now", "tell"],
		});
	});

	test.each([
		["was changed", (rows: readonly ReturnType<typeof person>[]) => [person("other"), ...rows.slice(1)]],
		["lost its answer", (rows: readonly ReturnType<typeof person>[]) => rows.slice(0, 1)],
	])("a history that %s is told anew, in another session of the same program", async (_how, change) => {
		const { agent } = bench.make();
		const first = await answer(agent, "hello");
		const history = [...change([person("hello"), ...rowsOf(first)]), person("tell")];
		const shown = told(await answer(agent, { history }));
		expect(shown).toMatchObject({ sessions: 2, prompts: 2 });
		expect(shown.texts[0]).toContain("You are tested.");
	});

	test("another session of Keryx is another one of the program", async () => {
		const { agent } = bench.make();
		const history = [person("hello"), ...rowsOf(await answer(agent, "hello")), person("tell")];
		expect(told(await answer(agent, { history, session: "20260311_120000_00000001" }))).toMatchObject({
			sessions: 2,
		});
	});
});

describe("a program that misbehaves", () => {
	test("rubbish on its streams is passed over", async () => {
		const { agent } = bench.make();
		expect(textIn(await answer(agent, "rubbish"))).toBe("still here");
	});

	test("one that dies in mid-turn is a failure that says why; what it said stays, and the next one knows it", async () => {
		const { agent } = bench.make();
		const events = await answer(agent, "die");
		expect(events).toEqual([
			{ type: "text", delta: "I am about to" },
			{
				type: "failed",
				failure: {
					kind: "provider_down",
					detail: "tester: it was ended by SIGKILL; it printed last: out of ideas",
				},
			},
		]);
		const said = { role: "assistant", content: "I am about to", toolCalls: [] } as const;
		const shown = told(await answer(agent, { history: [person("die"), said, person("tell")] }));
		expect(shown).toMatchObject({ sessions: 1, prompts: 1 });
		expect(shown.texts[1]).toContain("You wrote:\n| I am about to");
	});

	test("one that dies in a call leaves a result of unknown outcome", async () => {
		const { agent } = bench.make();
		const events = await answer(agent, "die while calling");
		expect(rowsOf(events)).toMatchObject([
			{ toolCalls: [{ input: { title: "Dig" } }] },
			{ content: "interrupted: the outcome of this call is unknown", isError: true },
		]);
		expect(textIn(events)).toBe("Digging.");
		expect(events.at(-1)).toMatchObject({ failure: { detail: expect.stringContaining("code 3") } });
	});

	test("one that never answers initialize is ended at its deadline", async () => {
		const { agent, clock } = bench.make("mute");
		const waiting = answer(agent, "hello");
		await vi.waitFor(() => expect(clock.pendingTimers()).toEqual([30_000]), { timeout: 10_000 });
		await clock.advance(30_000);
		expect(await waiting).toMatchObject([
			{
				type: "failed",
				failure: { kind: "timeout", detail: expect.stringContaining("did not answer initialize") },
			},
		]);
	});

	test("one that is not there, cannot be logged in to, or speaks another version is a failure that says so", async () => {
		const missing = bench.make("good", { command: "/no/such/program" });
		const nowhere = bench.make("good", { workspaceOf: () => "/no/such/place" });
		const failures = await Promise.all(
			[missing, nowhere, bench.make("locked"), bench.make("future")].map(async ({ agent }) =>
				(await answer(agent, "hello")).at(-1),
			),
		);
		expect(failures).toMatchObject([
			{ failure: { kind: "provider_down", detail: expect.stringContaining("not found") } },
			{ failure: { kind: "provider_down", detail: expect.stringContaining("cannot be started") } },
			{ failure: { kind: "key_missing", detail: expect.stringContaining("login") } },
			{ failure: { kind: "malformed", detail: expect.stringContaining("version 99") } },
		]);
	});

	test("one that did not agree to talk is not talked to again, but started anew", async () => {
		const { agent } = bench.make("unwilling");
		for (let turn = 0; turn < 2; turn++)
			expect(await answer(agent, "hello")).toMatchObject([
				{ type: "failed", failure: { detail: expect.stringContaining("not today") } },
			]);
	});

	test("an answer that is not of the protocol is a failure, and the program can be asked again", async () => {
		const { agent } = bench.make();
		expect(await answer(agent, "garble")).toMatchObject([{ type: "failed", failure: { kind: "malformed" } }]);
		expect(told(await answer(agent, "tell"))).toMatchObject({ sessions: 2, prompts: 2 });
	});

	test("a workspace that cannot be had is a failure, not an exception", async () => {
		const workspaceOf = () => {
			throw new Error("no such place");
		};
		const { agent } = bench.make("good", { workspaceOf });
		expect(await answer(agent, "hello")).toMatchObject([
			{ type: "failed", failure: { detail: "no such place" } },
		]);
	});

	test("one that is cancelled ends its prompt and stays warm", async () => {
		const { agent } = bench.make();
		const turn = await begun(agent, { history: [person("wait")] });
		turn.abort();
		expect(await turn.next()).toEqual({ done: true, value: undefined });
		const said = { role: "assistant", content: "I begin", toolCalls: [] } as const;
		const note = { role: "user", kind: "note", content: "The user stopped this turn." } as const;
		const shown = told(await answer(agent, { history: [person("wait"), said, note, person("tell")] }));
		expect(shown).toEqual({
			sessions: 1,
			prompts: 2,
			texts: ["Keryx noted:\n| The user stopped this turn.", "tell"],
		});
	});
});
