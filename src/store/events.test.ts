import { expect, test } from "vitest";
import type { EventKind, StoreEvent } from "./events.ts";
import { EVENTS, hookOf, logLevelOf, TURN_BEGINS, tellEvent } from "./events.ts";
import { emit } from "./operations/events.ts";
import type { Context } from "./query.ts";

const COMMON = { cursor: "e1", at: 0, conversation: null, session: null, turn: null, subject: null };
const CONTEXT = { now: 0, epoch: 1 } as Context;

test("an event that has no entry cannot be emitted, subscribed to or compared with, and facts go with their type", () => {
	// @ts-expect-error no entry has this kind
	const kind: EventKind = "weather";
	// @ts-expect-error no entry has this type
	emit(CONTEXT, "turn.paused", {});
	// @ts-expect-error its facts are missing
	emit(CONTEXT, "call.started", {});
	// @ts-expect-error these are facts of another event
	emit(CONTEXT, "call.started", {}, { rows: 1 });
	emit(CONTEXT, "call.started", {}, { tool: "terminal" });
	const event: StoreEvent = { ...COMMON, type: "call.started", facts: { tool: "terminal" } };
	// @ts-expect-error a tool is no number
	const wrong: StoreEvent = { ...COMMON, type: "call.started", facts: { tool: 1 } };
	expect([kind, wrong.type, tellEvent(event)]).toEqual([
		"weather",
		"call.started",
		"The tool terminal was called.",
	]);
});

test("an event without a sentence is told by its name, also one that only another version knows", () => {
	expect(tellEvent({ ...COMMON, type: "process.begun", facts: {} })).toBe("process begun");
	expect(tellEvent({ ...COMMON, type: "weather.changed" as "process.begun", facts: {} })).toBe(
		"weather changed",
	);
});

test("every event of a process and of a confirmation has a hook of its own name", () => {
	for (const type of Object.keys(EVENTS) as (keyof typeof EVENTS)[])
		if (/^(process|confirmation)\./.test(type)) expect(hookOf(type)).toBe(type.replace(".", ":"));
	expect(hookOf("session.ended")).toBeUndefined();
});

test("an event's level in the log is debug unless its entry says otherwise, also one that only another version knows", () => {
	expect(logLevelOf("turn.ended")).toBe("info");
	expect(logLevelOf("delivery.dead")).toBe("warn");
	expect(logLevelOf("message.appended")).toBe("debug");
	expect(logLevelOf("weather.changed" as "process.begun")).toBe("debug");
});

test("a turn is at work after it begins, goes on after an interruption, or is asked again", () => {
	expect([...TURN_BEGINS]).toEqual(["turn.begun", "turn.resumed", "transcript.retried"]);
});
