import { describe, expect, test } from "vitest";
import type { PromptMessage } from "../domain/index.ts";
import { createVirtualClock } from "../testing/index.ts";
import type { Script } from "./script.ts";
import { createScriptedAgent, createScriptedLoopAgent } from "./scripted.ts";
import type { LoopEvent, LoopInput, StepEvent } from "./types.ts";

const person = (content: string): PromptMessage => ({ role: "user", kind: "person", content });
const note = (content: string): PromptMessage => ({ role: "user", kind: "note", content });
const assistant = (content: string): PromptMessage => ({ role: "assistant", content, toolCalls: [] });

function input(history: readonly PromptMessage[], signal = new AbortController().signal): LoopInput {
	return {
		conversation: "c",
		session: "s",
		turn: "t",
		system: "",
		history,
		notes: [],
		tools: [{ name: "echo", description: "", input: {} }],
		standing: "owner",
		override: null,
		signal,
		permit: () => Promise.resolve("impossible"),
	};
}

async function collect<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
	const all: Event[] = [];
	for await (const event of events) all.push(event);
	return all;
}

async function textOf(script: Script, ...history: PromptMessage[]): Promise<unknown> {
	const agent = createScriptedAgent({ script, clock: createVirtualClock(0) });
	const end = (await collect(agent.step(input(history)))).at(-1);
	return end?.type === "done" ? end.message.content : end;
}

describe("a scripted agent", () => {
	const script: Script = {
		rules: [
			{ when: "one", steps: [{ text: "first" }, { text: "second" }] },
			{ when: { regex: "^n\\d+$" }, steps: [{ text: "a number" }] },
			{ when: "again", repeat: true, steps: [{ text: "start" }, { text: "over and over" }] },
		],
		otherwise: [{ text: "{{input}} is number {{count}}" }],
	};

	test("plays the first rule that fits the last person's words", async () => {
		expect(await textOf(script, person("n7"), person("one n7"))).toBe("first");
		expect(await textOf(script, person("n7"))).toBe("a number");
		expect(await textOf(script, person("n7 ?"))).toBe("n7 ? is number 1");
	});

	test("finds its step by the replies since a person spoke, so that a new agent goes on where the transcript stands", async () => {
		expect(await textOf(script, person("one"), assistant("first"))).toBe("second");
		expect(await textOf(script, person("one"), assistant("first"), note("Keryx was restarted"))).toBe(
			"second",
		);
		expect(await textOf(script, person("one"), assistant("first"), person("one"))).toBe("first");
	});

	test("repeats its last step only where the script says so", async () => {
		const replies = [assistant("1"), assistant("2"), assistant("3")];
		expect(await textOf(script, person("again"), ...replies)).toBe("over and over");
		expect(await textOf(script, person("one"), ...replies)).toMatchObject({
			type: "failed",
			failure: { kind: "malformed", detail: expect.stringContaining("step 4") },
		});
	});

	test("puts in what a person wrote as it is, whatever stands in it", async () => {
		const said = "$& {{count}} $1 {{input}}";
		expect(await textOf(script, person("x"), person(said))).toBe(`${said} is number 2`);
	});

	test("says that nothing fits rather than nothing", async () => {
		expect(await textOf({ rules: [] }, person("hello"))).toMatchObject({ failure: { kind: "malformed" } });
	});

	test("takes the time the script says, on the clock it is given", async () => {
		const clock = createVirtualClock(0);
		const slow: Script = { otherwise: [{ chunks: ["a", "b", "c"], delay_ms: 1000, chunk_delay_ms: 200 }] };
		const times: [number, string][] = [];
		const ended = (async () => {
			for await (const event of createScriptedAgent({ script: slow, clock }).step(input([person("x")])))
				times.push([clock.now(), event.type === "text" ? event.delta : event.type]);
		})();
		await clock.advance(2000);
		await ended;
		expect(times).toEqual([
			[1000, "a"],
			[1200, "b"],
			[1400, "c"],
			[1400, "done"],
		]);
	});

	test("calls only what is offered, unless it is to make a tool up", async () => {
		const call = (unoffered: boolean): Script => ({ otherwise: [{ tools: [{ name: "rm", unoffered }] }] });
		expect(await textOf(call(false), person("x"))).toMatchObject({ failure: { kind: "malformed" } });
		expect(await textOf(call(true), person("x"))).toBe("");
	});

	test("gives calls ids that are the same when a step is made again, and never twice in one turn", async () => {
		const calling: Script = {
			rules: [{ when: "", repeat: true, steps: [{ tools: [{ name: "echo" }, { name: "echo" }] }] }],
		};
		const agent = createScriptedAgent({ script: calling, clock: createVirtualClock(0) });
		const idsAt = async (history: readonly PromptMessage[]) => {
			const end = (await collect(agent.step(input(history)))).at(-1) as Extract<StepEvent, { type: "done" }>;
			return end.message.toolCalls.map(({ id }) => id);
		};
		const history = [person("x")];
		const seen: string[] = [];
		for (let n = 0; n < 5; n++) {
			const ids = await idsAt(history);
			expect(await idsAt(history)).toEqual(ids);
			seen.push(...ids);
			history.push(
				{ role: "assistant", content: "", toolCalls: ids.map((id) => ({ id, name: "echo", input: {} })) },
				...ids.map(
					(id): PromptMessage => ({
						role: "tool",
						toolCallId: id,
						toolName: "echo",
						content: "",
						isError: true,
					}),
				),
			);
		}
		// Compaction shortens the history in mid-turn.
		seen.push(...(await idsAt([note("a summary"), ...history.slice(-3)])));
		expect(new Set(seen).size).toBe(seen.length);
	});

	test("misbehaves where it is told to: it throws, and when deaf it does not hear the abort", async () => {
		const clock = createVirtualClock(0);
		const agent = createScriptedAgent({
			script: {
				rules: [
					{ when: "throw", steps: [{ text: "so far", throws: "kaboom" }] },
					{ when: "late", steps: [{ text: "at last", delay_ms: 1000, deaf: true }] },
					{ when: "stuck", steps: [{ hang: true, deaf: true }] },
				],
			},
			clock,
		});
		await expect(collect(agent.step(input([person("throw")])))).rejects.toThrow("kaboom");

		const late = collect(agent.step(input([person("late")], AbortSignal.abort())));
		await clock.advance(1000);
		expect(await late).toMatchObject([{ delta: "at last" }, { type: "done" }]);

		let ended = false;
		void collect(agent.step(input([person("stuck")], AbortSignal.abort()))).finally(() => {
			ended = true;
		});
		await clock.advance(3_600_000);
		expect(ended).toBe(false);
	});

	test("leaves no timer behind when it is aborted", async () => {
		const clock = createVirtualClock(0);
		const controller = new AbortController();
		const script: Script = { otherwise: [{ text: "x", delay_ms: 1000 }] };
		const step = collect(
			createScriptedAgent({ script, clock }).step(input([person("x")], controller.signal)),
		);
		await clock.advance(1);
		expect(clock.pendingTimers()).toEqual([1000]);
		controller.abort();
		expect(await step).toEqual([]);
		expect(clock.pendingTimers()).toEqual([]);
	});
});

describe("a scripted agent that loops itself", () => {
	const script: Script = {
		rules: [
			{
				when: "look",
				steps: [
					{
						text: "Looking.",
						tools: [
							{ name: "ls", input: { path: "." }, result: "a.txt" },
							{ name: "cat", result: "no such file", is_error: true },
						],
					},
					{ text: "There is a.txt.", usage: { output_tokens: 4 } },
				],
			},
			{ when: "forever", repeat: true, steps: [{ tools: [{ name: "ls" }] }] },
		],
	};
	const agent = createScriptedLoopAgent({ script, clock: createVirtualClock(0) });

	test("reports its calls and the results that the script gives for them", async () => {
		const events = await collect(agent.run(input([person("look")])));
		const [first] = events.filter((event) => event.type === "message");
		const [ls, cat] = first?.message.toolCalls ?? [];
		expect(events).toMatchObject([
			{ type: "text", delta: "Looking." },
			{ type: "message", message: { content: "Looking.", toolCalls: [{ name: "ls" }, { name: "cat" }] } },
			{ type: "result", toolCallId: ls?.id, toolName: "ls", content: "a.txt", isError: false },
			{ type: "result", toolCallId: cat?.id, toolName: "cat", content: "no such file", isError: true },
			{ type: "text", delta: "There is a.txt." },
			{ type: "message", message: { toolCalls: [] }, usage: { outputTokens: 4 } },
			{ type: "done" },
		]);
	});

	test("goes on where an interrupted turn stands", async () => {
		const events = await collect(agent.run(input([person("look"), assistant("Looking.")])));
		expect(events.map(({ type }) => type)).toEqual(["text", "message", "done"]);
	});

	test("that never ends can still be aborted", async () => {
		const controller = new AbortController();
		const events: LoopEvent[] = [];
		setImmediate(() => controller.abort());
		for await (const event of agent.run(input([person("forever")], controller.signal))) events.push(event);
		expect(events.length).toBeGreaterThan(1);
		expect(events.some(({ type }) => type === "done" || type === "failed")).toBe(false);
	});
});
