import fc from "fast-check";
import { expect, test } from "vitest";
import type { LoopEvent } from "../types.ts";
import { NO_USAGE } from "../types.ts";
import { Report } from "./report.ts";

const USAGE = { ...NO_USAGE, provider: "acp", model: "test" };

function reported(act: (report: Report) => void): LoopEvent[] {
	const events: LoopEvent[] = [];
	act(new Report([], { emit: (event) => events.push(event), hide: (text) => text }));
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
	{ weight: 1, arbitrary: callUpdate.map((refused) => ({ refused })) },
);

test("whatever a program reports: every call has one result before the next message, and no text is lost", () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, dies) => {
			let given = "";
			const events = reported((report) => {
				for (const item of steps) {
					if ("refused" in item) report.refused(item.refused);
					else {
						report.update(item.update);
						const update = item.update as { sessionUpdate?: unknown; content?: { text?: unknown } };
						if (update?.sessionUpdate === "agent_message_chunk") given += String(update.content?.text);
					}
				}
				if (dies) report.cutOff();
				else report.end("stop", USAGE);
			});
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

test("a refusal is told even when the call was over before, or was never announced", () => {
	const call = { toolCallId: "a", title: "Delete it", kind: "delete" };
	const events = reported((report) => {
		report.update({ sessionUpdate: "tool_call", ...call, status: "completed" });
		report.refused({ ...call, title: "Delete more" });
		report.refused({ toolCallId: "never seen", title: "Burn it" });
		report.end("stop", USAGE);
	});
	const results = events.flatMap((event) => (event.type === "result" ? [event] : []));
	expect(results).toMatchObject([
		{ isError: false },
		{ isError: true, content: expect.stringContaining("Delete more. Keryx refused") },
		{ isError: true, content: expect.stringContaining("Burn it. Keryx refused") },
	]);
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
