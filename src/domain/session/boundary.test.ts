import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { resolvePolicy } from "../../config/index.ts";
import { type BoundaryInput, decideBoundary, isFreshInterruption, nextDue } from "./boundary.ts";
import { RESET_MODES, type ResetPolicy } from "./policy.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse("2026-03-10T12:00:00Z");
const CONTINUE = { kind: "continue" };

describe("each reason", () => {
	test("idle fires after idle_minutes, not at them", () => {
		const policy = policyOf({ mode: "idle", idle_minutes: 30 });
		expect(decide({ policy, lastActivityAt: NOW - 30 * MINUTE })).toBe("continue");
		expect(decide({ policy, lastActivityAt: NOW - 30 * MINUTE - 1 })).toBe("idle");
	});

	test("daily fires when the last activity lies before the latest instant", () => {
		const policy = policyOf({ mode: "daily", at_hour: 12 });
		expect(decide({ policy, lastActivityAt: NOW })).toBe("continue");
		expect(decide({ policy, lastActivityAt: NOW - 1 })).toBe("daily");
		expect(decide({ policy, lastActivityAt: NOW - 2, now: NOW - 1 })).toBe("continue");
	});

	test("message_limit fires at the cap, and never with cap 0", () => {
		expect(decide({ messageCount: 199, cap: 200 })).toBe("continue");
		expect(decide({ messageCount: 200, cap: 200 })).toBe("message_limit");
		expect(decide({ messageCount: 100_000, cap: 0 })).toBe("continue");
		expect(decide({ messageCount: 100_000, cap: 0, at: "turn_end" })).toBe("continue");
	});

	test("the cap counts, not the policy's max_messages, so that /extend holds", () => {
		const policy = policyOf({ max_messages: 10 });
		expect(decide({ policy, messageCount: 50, cap: 110 })).toBe("continue");
	});

	test("message_limit holds in mode none", () => {
		expect(decide({ policy: policyOf({ mode: "none" }), messageCount: 5, cap: 5 })).toBe("message_limit");
	});

	test("resume_expired fires once the interruption is no longer younger than the freshness", () => {
		const since = NOW - HOUR;
		expect(decide({ resumePendingSince: since + 1, autoContinueFreshness: 3600 })).toBe("continue");
		expect(decide({ resumePendingSince: since, autoContinueFreshness: 3600 })).toBe("resume_expired");
		expect(decide({ resumePendingSince: null, autoContinueFreshness: 1 })).toBe("continue");
	});

	test.each([0, -1])("a freshness of %d never ends", (autoContinueFreshness) => {
		expect(decide({ resumePendingSince: 0, autoContinueFreshness })).toBe("continue");
		expect(isFreshInterruption(0, autoContinueFreshness, NOW)).toBe(true);
	});
});

describe("order and moments", () => {
	const everything = {
		policy: policyOf({ mode: "both", at_hour: 4, idle_minutes: 1 }),
		lastActivityAt: NOW - 3 * DAY,
		messageCount: 9,
		cap: 9,
		suspended: true,
		resumePendingSince: NOW - 3 * DAY,
	};

	test("at arrival: suspended, idle, daily, message_limit, resume_expired", () => {
		expect(decide(everything)).toBe("suspended");
		expect(decide({ ...everything, suspended: false })).toBe("idle");
		const daily = { ...everything, suspended: false, policy: policyOf({ mode: "daily" }) };
		expect(decide(daily)).toBe("daily");
		const none = { ...daily, policy: policyOf({ mode: "none" }) };
		expect(decide(none)).toBe("message_limit");
		expect(decide({ ...none, cap: 10 })).toBe("resume_expired");
	});

	test("at watch only idle and daily are considered", () => {
		expect(decide({ ...everything, at: "watch" })).toBe("idle");
		expect(decide({ ...everything, policy: policyOf({ mode: "daily" }), at: "watch" })).toBe("daily");
		expect(decide({ ...everything, policy: policyOf({ mode: "none" }), at: "watch" })).toBe("continue");
	});

	test("at turn_end only message_limit is considered", () => {
		expect(decide({ ...everything, at: "turn_end" })).toBe("message_limit");
		expect(decide({ ...everything, cap: 10, at: "turn_end" })).toBe("continue");
	});

	test("a held session meets no idle, no daily and, at arrival, no message_limit", () => {
		const held = { ...everything, suspended: false, resumePendingSince: null, activeProcess: true };
		expect(decide(held)).toBe("continue");
		expect(decide({ ...held, at: "watch" })).toBe("continue");
		expect(decide({ ...held, at: "turn_end" })).toBe("message_limit");
	});

	test("a process holds off neither suspended nor resume_expired", () => {
		expect(decide({ ...everything, activeProcess: true })).toBe("suspended");
		expect(decide({ ...everything, suspended: false, activeProcess: true })).toBe("resume_expired");
	});
});

describe("rules that hold always", () => {
	const zone = fc.constantFrom(
		"UTC",
		"Asia/Bangkok",
		"Europe/Berlin",
		"Asia/Kathmandu",
		"Australia/Lord_Howe",
		"America/Sao_Paulo",
	);
	const policies = fc
		.record({
			mode: fc.constantFrom(...RESET_MODES),
			at_hour: fc.integer({ min: 0, max: 23 }),
			timezone: zone,
			idle_minutes: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.constant(100_000)),
		})
		.map(policyOf);
	const time = fc.integer({ min: Date.UTC(2016, 0, 1), max: Date.UTC(2028, 0, 1) });
	const inputs = fc.record({
		session: fc.record({
			lastActivityAt: time,
			messageCount: fc.integer({ min: 0, max: 30 }),
			cap: fc.integer({ min: 0, max: 30 }),
			suspended: fc.boolean(),
			resumePendingSince: fc.option(time),
		}),
		policy: policies,
		autoContinueFreshness: fc.constantFrom(-1, 0, 60, 3600),
		now: time,
		activeProcess: fc.boolean(),
		at: fc.constantFrom("arrival", "watch", "turn_end"),
	});
	const span = fc.oneof(fc.integer({ min: 0, max: 3 * DAY }), fc.integer({ min: 0, max: 4000 * DAY }));

	test("once idle fires it keeps firing", () => {
		fc.assert(
			fc.property(inputs, span, span, (input, idle, later) => {
				const now = input.session.lastActivityAt + idle;
				const first = decideBoundary({ ...input, now });
				const second = decideBoundary({ ...input, now: now + later });
				if (first.kind === "boundary" && first.reason === "idle") expect(second).toEqual(first);
			}),
		);
	});

	test("a clock that goes back never ends a session", () => {
		fc.assert(
			fc.property(inputs, span, span, (input, passed, back) => {
				const now = input.session.lastActivityAt + passed;
				if (decideBoundary({ ...input, now }).kind === "boundary") return;
				expect(decideBoundary({ ...input, now: now - back })).toEqual(CONTINUE);
			}),
		);
	});

	test("time alone ends nothing before the last activity", () => {
		fc.assert(
			fc.property(inputs, span, (input, back) => {
				const now = input.session.lastActivityAt - back;
				const session = { ...input.session, suspended: false, cap: 0, resumePendingSince: now + back };
				expect(decideBoundary({ ...input, session, now })).toEqual(CONTINUE);
			}),
		);
	});

	test("mode none never gives idle or daily", () => {
		fc.assert(
			fc.property(inputs, (input) => {
				const decision = decideBoundary({ ...input, policy: { ...input.policy, mode: "none" } });
				if (decision.kind === "boundary") expect(["idle", "daily"]).not.toContain(decision.reason);
			}),
		);
	});

	test("a session is due at nextDue and not a millisecond before", () => {
		fc.assert(
			fc.property(inputs, span, (input, later) => {
				const { policy } = input;
				const { lastActivityAt } = input.session;
				const at = (now: number) => decideBoundary({ ...input, at: "watch", activeProcess: false, now }).kind;
				const due = nextDue({ lastActivityAt, policy });
				if (due === null) {
					expect(policy.mode).toBe("none");
					expect(at(lastActivityAt + later)).toBe("continue");
					return;
				}
				expect(at(due - 1)).toBe("continue");
				expect(at(due)).toBe("boundary");
				expect(at(due + later)).toBe("boundary");
			}),
			{ numRuns: 1000 },
		);
	});
});

describe("scenario 17", () => {
	const hostZone = process.env.TZ;
	afterEach(() => {
		if (hostZone === undefined) delete process.env.TZ;
		else process.env.TZ = hostZone;
	});

	test("mode none: 30 days on, 2 hours back and both changes of the clock, the session goes on", () => {
		const policy = policyOf({ mode: "none", timezone: "Europe/Berlin" });
		const springForward = Date.parse("2026-03-29T01:00:00Z");
		const fallBack = Date.parse("2026-10-25T01:00:00Z");
		for (const now of [
			NOW + 30 * DAY,
			NOW - 2 * HOUR,
			springForward,
			springForward + HOUR,
			fallBack,
			fallBack + HOUR,
		]) {
			for (const at of ["arrival", "watch", "turn_end"] as const)
				expect(decide({ policy, now, at })).toBe("continue");
		}
	});

	test.each(["arrival", "watch"] as const)(
		"daily 04:00 in Bangkok on a host in Berlin: one boundary per local day at %s",
		(at) => {
			process.env.TZ = "Europe/Berlin";
			const policy = policyOf({ mode: "daily", at_hour: 4, timezone: "Asia/Bangkok" });
			const days = new Map<string, number>();
			let lastActivityAt = Date.parse("2026-01-01T00:00:00+07:00");
			for (let now = lastActivityAt; now < Date.parse("2027-01-01T00:00:00+07:00"); now += 20 * MINUTE) {
				const decision = decide({ policy, lastActivityAt, now, at });
				if (decision === "daily") {
					const local = new Date(now + 7 * HOUR).toISOString();
					expect(local.slice(11, 16)).toBe("04:00");
					days.set(local.slice(0, 10), (days.get(local.slice(0, 10)) ?? 0) + 1);
				}
				lastActivityAt = now;
			}
			expect(days.size).toBe(365);
			expect([...days.values()].every((count) => count === 1)).toBe(true);
		},
	);

	test("the same daily boundary ends a session however late it is looked at, and /continue undoes it", () => {
		const policy = policyOf({ mode: "daily", at_hour: 4, timezone: "Asia/Bangkok" });
		const due = Date.parse("2026-03-10T04:00:00+07:00");
		expect(nextDue({ lastActivityAt: due - HOUR, policy })).toBe(due);
		expect(decide({ policy, lastActivityAt: due - HOUR, now: due + 10 * HOUR })).toBe("daily");
		// /continue sets the last activity to now: the same day's instant is behind it.
		expect(decide({ policy, lastActivityAt: due + 10 * HOUR, now: due + 10 * HOUR })).toBe("continue");
		expect(nextDue({ lastActivityAt: due + 10 * HOUR, policy })).toBe(due + DAY);
	});
});

type Changes = Partial<BoundaryInput["session"] & Omit<BoundaryInput, "session">>;

/** The reason, or "continue", for a fresh session with these changes. */
function decide(changes: Changes): string {
	const input: BoundaryInput = {
		session: {
			lastActivityAt: changes.lastActivityAt ?? NOW,
			messageCount: changes.messageCount ?? 1,
			cap: changes.cap ?? 200,
			suspended: changes.suspended ?? false,
			resumePendingSince: changes.resumePendingSince ?? null,
		},
		policy: changes.policy ?? policyOf({}),
		autoContinueFreshness: changes.autoContinueFreshness ?? 3600,
		now: changes.now ?? NOW,
		activeProcess: changes.activeProcess ?? false,
		at: changes.at ?? "arrival",
	};
	const decision = decideBoundary(input);
	return decision.kind === "boundary" ? decision.reason : decision.kind;
}

function policyOf(section: Record<string, unknown>): ResetPolicy {
	return resolvePolicy(section, { platform: "telegram", chatType: "dm" });
}
