import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecrets, NO_SECRETS } from "../../secrets/index.ts";
import type { LoopEvent, Permission } from "../types.ts";
import { NO_USAGE } from "../types.ts";
import { type Ask, Report } from "./report.ts";

const USAGE = { ...NO_USAGE, provider: "acp", model: "test" };

function reported(act: (report: Report) => void): LoopEvent[] {
	const events: LoopEvent[] = [];
	act(new Report([], { emit: (event) => events.push(event), secrets: NO_SECRETS }));
	return events;
}

const id = fc.constantFrom("a", "b", "c");
const status = fc.constantFrom("pending", "in_progress", "completed", "failed", null, undefined, "strange");
const callUpdate = fc.record({
	sessionUpdate: fc.constantFrom("tool_call", "tool_call_update"),
	toolCallId: id,
	status,
	title: fc.constantFrom("t", null, undefined, 7),
	content: fc.constantFrom(
		undefined,
		null,
		[],
		[{ type: "content", content: { type: "text", text: "out" } }, { type: "terminal", terminalId: "x" }, 3],
		[{ type: "diff", path: "/f", newText: "" }],
	),
	rawInput: fc.constantFrom(undefined, { x: 1 }, "text", null),
	rawOutput: fc.constantFrom(undefined, "raw", { y: 2 }),
});
const permission = fc.constantFrom<Permission>("approved", "denied", "expired", "cancelled", "impossible");
const text = fc.string({ maxLength: 5 });
const textUpdate = text.map((words) => ({
	sessionUpdate: "agent_message_chunk",
	content: { type: "text", text: words },
}));
const anything = fc.oneof(
	fc.anything(),
	fc.record({ sessionUpdate: fc.string() }),
	fc.constant({ sessionUpdate: "tool_call" }),
);
const step = fc.oneof(
	{ weight: 4, arbitrary: callUpdate.map((update) => ({ update })) },
	{ weight: 3, arbitrary: textUpdate.map((update) => ({ update })) },
	{ weight: 1, arbitrary: anything.map((update) => ({ update })) },
	{ weight: 2, arbitrary: callUpdate.map((asks) => ({ asks })) },
	{ weight: 2, arbitrary: permission.map((answer) => ({ answer })) },
);

test("whatever a program reports: every call has one result before the next message, and no text is lost", () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, dies) => {
			let given = "";
			let refusals = 0;
			const asked: Ask[] = [];
			const events = reported((report) => {
				for (const item of steps) {
					if ("asks" in item) asked.push(report.ask(item.asks) as Ask);
					else if ("answer" in item) {
						const ask = asked.shift();
						if (!ask) continue;
						expect(report.answered(ask, item.answer)).toBe(true);
						expect(report.answered(ask, item.answer)).toBe(false);
						if (item.answer !== "approved") refusals++;
					} else {
						report.update(item.update);
						const update = item.update as { sessionUpdate?: unknown; content?: { text?: unknown } };
						if (update?.sessionUpdate === "agent_message_chunk") given += String(update.content?.text);
					}
				}
				if (dies) report.cutOff();
				else report.end("stop", USAGE);
				// Nobody waits for these any more.
				for (const ask of asked) expect(report.answered(ask, "approved")).toBe(false);
			});
			const results = events.flatMap((event) => (event.type === "result" ? [String(event.content)] : []));
			const said = results.join("\n").match(/asked for permission/g) ?? [];
			expect(said).toHaveLength(refusals + asked.length);
			let open: string | null = null;
			let shown = "";
			let all = "";
			const ids = new Set<string>();
			for (const event of events) {
				if (event.type === "text") shown += event.delta;
				else if (event.type === "message") {
					expect(open).toBeNull();
					expect(event.message.content).toBe(shown);
					all += shown;
					shown = "";
					for (const call of event.message.toolCalls) {
						expect(ids.has(call.id)).toBe(false);
						ids.add(call.id);
						open = call.id;
					}
				} else if (event.type === "result") {
					expect(event.toolCallId).toBe(open);
					open = null;
				}
			}
			expect(open).toBeNull();
			expect(all + shown).toBe(given.toWellFormed());
			expect(shown === "" || dies).toBe(true);
		}),
		{ numRuns: 500 },
	);
});

function refuse(report: Report, toolCall: unknown, how: Permission): void {
	report.answered(report.ask(toolCall) as Ask, how);
}

function resultsOf(events: readonly LoopEvent[]) {
	return events.flatMap((event) => (event.type === "result" ? [event] : []));
}

test("a refusal is told with its reason, also when the call was over before or was never announced", () => {
	const call = { toolCallId: "a", title: "Delete it", kind: "delete" };
	const events = reported((report) => {
		report.update({ sessionUpdate: "tool_call", ...call, status: "completed" });
		refuse(report, { ...call, title: "Delete more" }, "denied");
		refuse(report, { toolCallId: "never seen", title: "Burn it" }, "expired");
		refuse(report, { toolCallId: "untitled" }, "impossible");
		report.ask({ toolCallId: "open", title: "Drown it" });
		report.end("stop", USAGE);
	});
	expect(resultsOf(events)).toMatchObject([
		{ isError: false },
		{ isError: true, content: expect.stringContaining("Delete more. A person denied it.") },
		{ isError: true, content: expect.stringContaining("Burn it. Nobody answered in time") },
		{ isError: true, content: expect.stringContaining("tool. Nobody could be asked") },
		{ isError: true, content: expect.stringContaining("Drown it. It was cancelled") },
	]);
});

test("a call is over while it waits for leave: what is said to it then is told all the same", () => {
	const call = { toolCallId: "a", title: "Delete it", kind: "delete" };
	const events = reported((report) => {
		const ask = report.ask(call) as Ask;
		report.update({ sessionUpdate: "tool_call_update", ...call, status: "failed" });
		report.answered(ask, "denied");
		report.end("stop", USAGE);
	});
	expect(resultsOf(events)).toMatchObject([
		{ toolName: "delete", content: "no result was reported" },
		{ toolName: "delete", content: expect.stringContaining("Delete it. A person denied") },
	]);
});

test("a call that is asked about again after a no is a call of its own, which has begun when it is approved", () => {
	const call = { toolCallId: "a", title: "Build", kind: "execute" };
	const events = reported((report) => {
		refuse(report, call, "denied");
		report.answered(report.ask(call) as Ask, "approved");
		report.update({ sessionUpdate: "tool_call_update", ...call, status: "completed", rawOutput: "built" });
	});
	expect(events.map(({ type }) => type)).toEqual(["thinking", "message", "result", "message", "result"]);
	expect(resultsOf(events)).toMatchObject([
		{ isError: true, content: expect.stringContaining("A person denied it") },
		{ isError: false, content: "built" },
	]);
});

test("a call that has begun asks leave for more: the no stands in its result", () => {
	const call = { toolCallId: "a", title: "Build", kind: "execute" };
	const events = reported((report) => {
		report.update({ sessionUpdate: "tool_call", ...call, status: "in_progress" });
		const asks = [report.ask(call) as Ask, report.ask({ ...call, kind: "fetch", title: "Get it" }) as Ask];
		expect(asks.map((ask) => [ask.call.id, ask.question])).toEqual([
			[asks[0]?.call.id, { action: "acp:execute", description: "Build" }],
			[asks[0]?.call.id, { action: "acp:fetch", description: "Get it" }],
		]);
		for (const [index, ask] of asks.entries()) report.answered(ask, index === 0 ? "approved" : "denied");
		report.update({ sessionUpdate: "tool_call_update", ...call, status: "completed", rawOutput: "built" });
	});
	expect(resultsOf(events)).toMatchObject([
		{ isError: false, content: expect.stringMatching(/Get it. A person denied.*built$/s) },
	]);
});

test("what a call was to do is not told as done when it is refused", () => {
	const content = [{ type: "diff", path: "/etc/hosts", oldText: "a", newText: "b" }];
	const events = reported((report) => {
		report.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "edit", status: "pending", content });
		refuse(report, { toolCallId: "a", content }, "denied");
		refuse(report, { toolCallId: "b", content }, "denied");
	});
	const contents = resultsOf(events).map((event) => event.content);
	expect(contents).toEqual([
		expect.stringMatching(/another way\.$/),
		expect.stringMatching(/another way\.$/),
	]);
});

test("a call that is cut off in the middle says that its outcome is unknown, whatever else is known", () => {
	const call = { toolCallId: "a", title: "Build", kind: "execute" };
	const events = reported((report) => {
		report.update({ sessionUpdate: "tool_call", ...call, status: "in_progress", rawOutput: "half" });
		report.ask({ ...call, title: "Get it" });
		report.cutOff();
	});
	expect(resultsOf(events)).toMatchObject([
		{ isError: true, content: expect.stringMatching(/Get it. It was cancelled.*half.*outcome.*unknown$/s) },
	]);
});

test("a human is asked about the arguments, or what the program shows in their place", () => {
	reported((report) => {
		const locations = [{ path: "/etc/hosts" }];
		const content = [{ type: "diff", path: "/etc/hosts", oldText: "a", newText: "b" }];
		expect(report.ask({ toolCallId: "a", kind: "edit", title: "Edit hosts", content, locations })).toEqual({
			call: { id: expect.any(String), name: "edit", input: { locations, content } },
			question: { action: "acp:edit", description: "Edit hosts" },
			isAskable: true,
		});
		report.update({ sessionUpdate: "tool_call", toolCallId: "b", name: "sh", rawInput: { cmd: "ls" } });
		expect(report.ask({ toolCallId: "b", kind: "made up", locations })).toMatchObject({
			call: { name: "sh", input: { cmd: "ls" } },
			question: { action: "acp:other", description: "sh" },
		});
		expect(report.ask({ toolCallId: "c", rawInput: "x".repeat(2 ** 20) })).toMatchObject({
			isAskable: false,
		});
		expect(report.ask("nothing that can be read")).toBeNull();
	});
});

test("what holds a secret is shown to nobody", () => {
	const secrets = createSecrets(new Map([["WORD", "hunter2"]]));
	const report = new Report([], { emit: () => {}, secrets });
	const ask = report.ask({ toolCallId: "a", title: "Log in with hunter2", rawInput: { word: "hunter2" } });
	expect(ask).toMatchObject({
		question: { description: "Log in with \u0024{secret:WORD}" },
		isAskable: false,
	});
});

test("a result and arguments of any size are kept within bounds, and said to be cut", () => {
	const events = reported((report) => {
		const rawInput = { text: "x".repeat(200_000) };
		const rawOutput = "y".repeat(200_000);
		report.update({ sessionUpdate: "tool_call", toolCallId: "a", status: "completed", rawInput, rawOutput });
	});
	for (const event of events) expect(JSON.stringify(event).length).toBeLessThan(70_000);
	expect(events.at(-1)).toMatchObject({ content: expect.stringContaining("more characters were left out") });
});
