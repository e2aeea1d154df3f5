import fc from "fast-check";
import { expect, test } from "vitest";
import { resolvePolicy } from "../../../config/index.ts";
import { decideBoundary } from "../../../domain/index.ts";
import { exactDuration, explainDecision, type SessionState } from "./decision-text.ts";

const HOUR = 3_600_000;
const now = Date.UTC(2026, 2, 10, 12);

function policyOf(section: object = {}) {
	return resolvePolicy({ timezone: "UTC", ...section }, { platform: "telegram", chatType: "dm" });
}

function explain(session: Partial<SessionState>, section: object = {}, platform = "telegram") {
	return explainDecision({
		policy: policyOf(section),
		autoContinueFreshness: 3600,
		platform,
		now,
		session: {
			lastActivityAt: now - 3 * HOUR,
			messageCount: 12,
			activeProcess: false,
			suspended: false,
			interruptedAt: null,
			...session,
		},
	});
}

test("a session that goes on says what each rule saw, and when it would end", () => {
	expect(explain({})).toEqual({
		kind: "continue",
		reason: null,
		text: "The session continues: last active 3 h ago, idle limit 24 h; the daily boundary at 2026-03-10 04:00 UTC was 5 h before that activity; 12 of 200 messages. If nobody writes again, the session ends at 2026-03-11 04:00 UTC.",
	});
});

test.each([
	["idle", { lastActivityAt: now - 26 * HOUR }, "last active 26 h ago, idle limit 24 h"],
	["idle", { lastActivityAt: now - 24 * HOUR - 1 }, "last active 24 h 1 ms ago, idle limit 24 h"],
	[
		"daily",
		{ lastActivityAt: now - 10 * HOUR },
		"the daily boundary at 2026-03-10 04:00 UTC came 2 h after the last activity",
	],
	["message_limit", { messageCount: 200 }, "200 of 200 messages"],
	["suspended", { suspended: true }, "the session was suspended"],
	[
		"resume_expired",
		{ interruptedAt: now - 2 * HOUR },
		"a turn was interrupted 2 h ago, limit for resuming it 1 h",
	],
])("%s is explained by the rule that decided", (reason, session, fact) => {
	const decision = explain(session);
	expect(decision).toMatchObject({ kind: "boundary", reason });
	expect(decision.text).toBe(
		`A new session starts (${reason}): ${fact}. The user is told; the last exchange is carried over.`,
	);
});

test("a platform that is not notified and a policy that carries nothing over are told", () => {
	const { text } = explain({ messageCount: 200 }, { carry_over: "none" }, "webhook");
	expect(text).toContain("The user is not told; nothing is carried over.");
});

test("a process that holds the session is named together with what it holds off", () => {
	const { kind, text } = explain({ activeProcess: true, messageCount: 200 });
	expect(kind).toBe("continue");
	expect(text).toContain(
		"a background process keeps it open. Without it, a new one would start (message_limit)",
	);
	expect(explain({ activeProcess: true }).text).toContain("keeps it open as long as it runs");
});

test("mode none names no times", () => {
	const { text } = explain({}, { mode: "none", max_messages: 0 });
	expect(text).toBe(
		"The session continues: last active 3 h ago, no idle limit in mode none; 12 messages, no limit. It does not end by time.",
	);
});

test("a clock that jumped back is told as such", () => {
	expect(explain({ lastActivityAt: now + 2 * HOUR }).text).toContain(
		"last active 2 h from now (a clock that jumped back ends nothing)",
	);
});

test("the first message of a conversation opens its session", () => {
	const decision = explainDecision({ policy: policyOf(), autoContinueFreshness: 3600, platform: "irc", now });
	expect(decision.kind).toBe("first");
	expect(decision.text).toContain("ends at 2026-03-11 04:00 UTC");
});

test("the daily boundary is told on the clock of the zone", () => {
	const { text } = explain({}, { timezone: "Asia/Kolkata", at_hour: 9 });
	expect(text).toContain("the daily boundary at 2026-03-10 09:00 Asia/Kolkata");
});

test("what is told is what the domain decides", () => {
	const session = fc.record({
		lastActivityAt: fc.integer({ min: now - 100 * HOUR, max: now + 10 * HOUR }),
		messageCount: fc.integer({ min: 0, max: 400 }),
		activeProcess: fc.boolean(),
		suspended: fc.boolean(),
		interruptedAt: fc.option(fc.integer({ min: now - 3 * HOUR, max: now })),
	});
	const section = fc.record({
		mode: fc.constantFrom("daily", "idle", "both", "none"),
		max_messages: fc.constantFrom(0, 200),
	});
	fc.assert(
		fc.property(session, section, (state, settings) => {
			const decided = decideBoundary({
				session: { ...state, cap: settings.max_messages, resumePendingSince: state.interruptedAt },
				policy: policyOf(settings),
				autoContinueFreshness: 3600,
				now,
				activeProcess: state.activeProcess,
				at: "arrival",
			});
			const explained = explain(state, settings);
			expect(explained.kind).toBe(decided.kind);
			expect(explained.reason).toBe(decided.kind === "boundary" ? decided.reason : null);
		}),
	);
});

test.each([
	[0, "0 s"],
	[999, "999 ms"],
	[61_000, "1 min 1 s"],
	[24 * HOUR, "24 h"],
	[47 * HOUR, "47 h"],
	[50 * HOUR, "2 days 2 h"],
	[90_061_001, "25 h 1 min"],
])("%d ms are %s", (ms, text) => {
	expect(exactDuration(ms)).toBe(text);
});
