// What a program says, as Keryx's events; what it is shown; what happens when it misbehaves.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { LoopInput, Permission } from "../../src/agents/index.ts";
import { createSecrets } from "../../src/secrets/index.ts";
import {
	type AgentUnderTest,
	agentConformance,
	person as someone,
} from "../../src/testing/conformance/agent.ts";
import { eventually } from "../support/soon.ts";
import { inputOf, person } from "./input.ts";
import { answer, Bench, begun, goneSoon, PROGRAM, rowsOf, textIn, told } from "./support.ts";

describe.each([
	["in the open", null],
	["behind mask", "mask"],
] as const)("%s", (_name, wall) => {
	const bench = new Bench(wall);
	afterAll(() => bench.end());

	agentConformance("acp", (): AgentUnderTest => {
		const ask = (text: string) => ({ history: [someone("earlier"), someone(text)] });
		return {
			agent: bench.make().agent,
			asks: ["hello", "stream", "look", "both", "delete: it", "begin a call", "nothing", "rubbish"].map(ask),
			slow: [ask("wait")],
			failing: [
				{ ask: ask("fail"), kind: "program_failed" },
				{ ask: ask("refuse"), kind: "refused" },
				{ ask: ask("die"), kind: "program_failed" },
			],
			deterministic: true,
		};
	});

	describe("the MCP servers it is passed", () => {
		const local = { name: "files", command: "/bin/true", args: ["x"], env: [{ name: "A", value: "b" }] };
		const remote = { type: "http" as const, name: "wiki", url: "http://127.0.0.1:9/mcp", headers: [] };
		const mcpServers = ({ standing }: { readonly standing: string }) =>
			standing === "owner" ? [local, remote] : [];

		test("are those of the turn's role, and those that it can reach", async () => {
			const shown = async (manner: string, given: Partial<LoopInput>) =>
				JSON.parse(textIn(await answer(bench.make(manner, { mcpServers }).agent, given)));
			const history = [person("which servers")];
			expect(await shown("good", { history, standing: "owner" })).toEqual([local]);
			expect(await shown("networked", { history, standing: "owner" })).toEqual([local, remote]);
			expect(await shown("networked", { history, standing: "member" })).toEqual([]);
		});
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

		test("an answer is cut at its limit, the program is ended, and the next turn has another one", async () => {
			const { agent } = bench.make();
			const before = JSON.parse(textIn(await answer(agent, "where"))).pid as number;
			const events = await answer(agent, { history: [person("talk for ever")], maxAnswer: 3_500_000 });
			expect(events.slice(-2)).toMatchObject([
				{ type: "message", message: { finishReason: "max_answer", toolCalls: [] } },
				{ type: "done" },
			]);
			expect(textIn(events)).toHaveLength(3_000_000);
			// Behind a wall its number means nothing out here.
			if (wall === null) await goneSoon(before);
			expect(textIn(await answer(agent, "hello"))).toBe("You said: hello");
			expect(told(await answer(agent, "tell"))).toMatchObject({ prompts: 2 });
		});

		test("calls and their results count, too", async () => {
			const { agent } = bench.make();
			const events = await answer(agent, { history: [person("dig for ever")], maxAnswer: 1_000_000 });
			expect(events.at(-1)).toEqual({ type: "done" });
			expect(JSON.stringify(events).length).toBeLessThan(2_000_000);
		});

		test("a message that is too long is a failure, not an empty answer", async () => {
			const { agent } = bench.make();
			expect((await answer(agent, "one long line")).at(-1)).toEqual({
				type: "failed",
				failure: { kind: "malformed", detail: "tester sent a message of more than 32 MiB" },
			});
		});

		test("an error of the program ends the turn, without the key it names", async () => {
			const events = await answer(agent, "fail");
			expect(events.at(-1)).toMatchObject({ type: "failed", failure: { kind: "program_failed" } });
			expect(JSON.stringify(events)).not.toContain("sk-live");
		});

		test("a secret that the program was given is not in what it says", async () => {
			const { agent } = bench.make("good", {
				secrets: createSecrets(new Map([["WORD", "hunter2"]])),
			});
			expect(textIn(await answer(agent, "hunter2 is my word"))).toBe(
				"You said: \u0024{secret:WORD} is my word",
			);
		});
	});

	describe("what a program may do", () => {
		const { agent } = bench.make();

		const permitting = (permission: Permission, text: string) =>
			answer(agent, { history: [person(text)], permit: () => Promise.resolve(permission) });

		test("a human is asked about the call, under the id that the transcript has", async () => {
			const asked: unknown[] = [];
			const permit: LoopInput["permit"] = (...question) => {
				asked.push(question);
				return Promise.resolve("approved");
			};
			const rows = rowsOf(await answer(agent, { history: [person("delete: it")], permit }));
			const id = (rows[0] as { toolCalls: readonly { id: string }[] }).toolCalls[0]?.id;
			expect(asked).toEqual([
				[
					{ id, name: "delete", input: { path: "it" } },
					{ action: "acp:delete", description: "it" },
				],
			]);
		});

		test("what is approved is allowed this once, and its result stands behind it", async () => {
			expect(rowsOf(await permitting("approved", "delete: it"))).toMatchObject([
				{ toolCalls: [{ name: "delete", input: { title: "it", input: { path: "it" } } }] },
				{ content: "gone: it", isError: false },
				{ content: "I was told allow_once." },
			]);
		});

		test.each([
			["denied", "A person denied it."],
			["expired", "Nobody answered in time"],
			["impossible", "Nobody could be asked"],
		] as const)("what is %s is refused this once, and the transcript says why", async (permission, why) => {
			expect(rowsOf(await permitting(permission, "delete: it"))).toMatchObject([
				{ toolCalls: [{ name: "delete", input: { title: "it" } }] },
				{ content: expect.stringContaining(`asked for permission: it. ${why}`), isError: true },
				{ content: "I was told reject_once." },
			]);
		});

		test.each([
			["approved", "may I always", "allow_always"],
			["denied", "may I always", "reject_always"],
			["denied", "may I at all", "cancelled"],
			["cancelled", "delete: it", "cancelled"],
		] as const)("%s, where the program asks %j: it is told %s", async (permission, text, told) => {
			expect(textIn(await permitting(permission, text))).toBe(`I was told ${told}.`);
		});

		test("a request of no prompt of ours is cancelled, and nobody is asked", async () => {
			const permit = () => Promise.reject(new Error("asked"));
			const given = { conversation: "late", permit };
			expect(textIn(await answer(agent, { ...given, history: [person("ask in another session")] }))).toBe(
				"cancelled",
			);
			await answer(agent, { ...given, history: [person("ask when it is over")] });
			await eventually(async () => {
				const events = await answer(agent, { ...given, history: [person("what were you told")] });
				expect(textIn(events)).toBe("cancelled");
			});
		});

		test("a yes that comes after the end of the prompt allows nothing", async () => {
			const decision = Promise.withResolvers<Permission>();
			const given = { conversation: "early", permit: () => decision.promise };
			const events = await answer(agent, { ...given, history: [person("ask and do not wait")] });
			expect(JSON.stringify(events)).toContain("Burn it. It was cancelled");
			decision.resolve("approved");
			await eventually(async () => {
				const later = await answer(agent, { ...given, history: [person("what were you told")] });
				expect(textIn(later)).toBe("cancelled");
			});
		});

		test("an approved call is stored before the program hears that it may", async () => {
			const events = agent.run(
				inputOf({
					history: [person("may I, and is it stored")],
					permit: () => Promise.resolve("approved"),
				}),
			);
			let said = "";
			for await (const event of events) {
				if (event.type === "text") said += event.delta;
				if (event.type !== "message" || event.message.toolCalls.length === 0) continue;
				// Storing takes its time: another program answers meanwhile.
				await answer(agent, { conversation: "meanwhile", history: [person("hello")] });
				writeFileSync(join(bench.folder, "stored"), "");
			}
			expect(said).toBe("it is");
		});

		test("an abort ends the waiting at once, and the program stays", async () => {
			const waiting = Promise.withResolvers<void>();
			const permit = () => {
				waiting.resolve();
				return new Promise<never>(() => {});
			};
			const controller = new AbortController();
			const turn = answer(agent, {
				conversation: "aborted",
				history: [person("delete: it")],
				permit,
				signal: controller.signal,
			});
			await waiting.promise;
			controller.abort();
			expect((await turn).filter(({ type }) => type !== "thinking")).toEqual([]);
			expect(told(await answer(agent, { conversation: "aborted", history: [person("tell")] }))).toMatchObject(
				{
					prompts: 2,
				},
			);
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
						kind: "program_failed",
						detail: "tester: it was stopped by SIGKILL; its last output: out of ideas",
					},
				},
			]);
			const said = { role: "assistant", content: "I am about to", toolCalls: [] } as const;
			const shown = told(await answer(agent, { history: [person("die"), said, person("tell")] }));
			expect(shown).toMatchObject({ sessions: 1, prompts: 1 });
			expect(shown.texts[1]).toContain("You wrote:\n| I am about to");
		});

		test.each([
			["where its last output is cut", 40, 390],
			["that is longer than the last output", 4000, 0],
		])("one that dies leaves no part of a secret %s", async (_where, length, after) => {
			const secrets = createSecrets(new Map([["KEY", "k3y-".repeat(length / 4)]]));
			const { agent } = bench.make("good", {
				args: ["--disable-warning=ExperimentalWarning", PROGRAM, "good", String(length), String(after)],
				secrets,
			});
			const events = await answer(agent, "die with a secret");
			const { failure } = events.at(-1) as { failure: { detail: string } };
			expect(failure.detail).toMatch(
				after === 0 ? /last output: \$\{secret:KEY\}$/ : /last output: (?:\$\{secret:KEY\})?x+$/,
			);
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
			await eventually(() => expect(clock.pendingTimers()).toEqual([60_000]));
			await clock.advance(60_000);
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
				{ failure: { kind: "program_failed", detail: expect.stringContaining("not found") } },
				{ failure: { kind: "program_failed", detail: expect.stringContaining("could not start") } },
				{ failure: { kind: "key_missing", detail: expect.stringContaining("log in") } },
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
			expect(await answer(agent, "garble")).toMatchObject([
				{ type: "failed", failure: { kind: "malformed" } },
			]);
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
});
