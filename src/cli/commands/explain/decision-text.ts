// What an arriving message does to the session, in plain sentences. The domain decides; this only reports the same numbers.

import {
	type BoundaryReason,
	carriesOver,
	decideBoundary,
	latestDailyBoundary,
	nextDue,
	notifiesBoundaries,
	type ResetPolicy,
} from "../../../domain/index.ts";
import { clockTime } from "../../io/words.ts";
import { texts } from "../../texts.ts";

/** The live session's state as given by the user. */
export interface SessionState {
	readonly lastActivityAt: number;
	readonly messageCount: number;
	readonly activeProcess: boolean;
	readonly suspended: boolean;
	readonly interruptedAt: number | null;
}

export interface Moment {
	readonly now: number;
	/** Undefined: the conversation has no session yet. */
	readonly session?: SessionState | undefined;
}

export interface Decision {
	readonly kind: "first" | "continue" | "boundary";
	readonly reason: BoundaryReason | null;
	readonly text: string;
}

interface DecisionInput extends Moment {
	readonly policy: ResetPolicy;
	readonly autoContinueFreshness: number;
	readonly platform: string;
}

export function explainDecision(input: DecisionInput): Decision {
	const { policy, now, session, platform } = input;
	if (!session) {
		const text = texts.explain.first(whenItEnds(policy, now));
		return { kind: "first", reason: null, text };
	}
	const facts = describeFacts(input, session);
	const reason = decide(input, session);
	if (reason !== null) {
		const notified = notifiesBoundaries(policy, platform)
			? texts.explain.notified
			: texts.explain.notNotified;
		const kept = carriesOver(policy, reason) ? texts.explain.carried : texts.explain.notCarried;
		return {
			kind: "boundary",
			reason,
			text: texts.explain.newSession(reason, facts[reason], notified, kept),
		};
	}
	const without = decide(input, { ...session, activeProcess: false });
	if (without !== null) {
		const text = texts.explain.heldOpen(without, facts[without]);
		return { kind: "continue", reason: null, text };
	}
	const { idle, daily, message_limit, resume_expired } = facts;
	const reasons = [idle, daily, message_limit, resume_expired].filter((fact) => fact !== "");
	const held = session.activeProcess ? texts.explain.held : "";
	const text = texts.explain.goesOn(reasons.join("; "), whenItEnds(policy, now), held);
	return { kind: "continue", reason: null, text };
}

function decide(input: DecisionInput, session: SessionState): BoundaryReason | null {
	const { policy, autoContinueFreshness, now } = input;
	const decision = decideBoundary({
		session: {
			lastActivityAt: session.lastActivityAt,
			messageCount: session.messageCount,
			cap: policy.maxMessages,
			suspended: session.suspended,
			resumePendingSince: session.interruptedAt,
		},
		policy,
		autoContinueFreshness,
		now,
		activeProcess: session.activeProcess,
		at: "arrival",
	});
	return decision.kind === "boundary" ? decision.reason : null;
}

/** What each rule saw, fired or not; "" if it did not apply. */
function describeFacts(input: DecisionInput, session: SessionState): Record<BoundaryReason, string> {
	const { policy, now, autoContinueFreshness } = input;
	const { mode, idleMinutes, maxMessages } = policy;
	const { lastActivityAt, messageCount, interruptedAt } = session;
	const active = describeActivity(lastActivityAt, now);
	const idles = mode === "idle" || mode === "both";
	return {
		suspended: "the session was suspended",
		idle: idles
			? texts.explain.idleLimit(active, exactDuration(idleMinutes * 60_000))
			: texts.explain.noIdleLimit(active, mode),
		daily: mode === "daily" || mode === "both" ? describeDaily(policy, lastActivityAt, now) : "",
		message_limit:
			maxMessages > 0
				? texts.explain.ofMessages(messageCount, maxMessages)
				: texts.explain.messages(messageCount),
		resume_expired:
			interruptedAt === null ? "" : describeInterruption(interruptedAt, autoContinueFreshness, now),
	};
}

function describeActivity(lastActivityAt: number, now: number): string {
	const active = texts.explain.lastActive(describeAgo(lastActivityAt, now));
	return lastActivityAt > now ? texts.explain.clockBack(active) : active;
}

function describeInterruption(interruptedAt: number, freshness: number, now: number): string {
	const ago = texts.explain.interrupted(describeAgo(interruptedAt, now));
	return freshness > 0
		? texts.explain.freshness(ago, exactDuration(freshness * 1000))
		: texts.explain.alwaysFresh(ago);
}

function describeDaily(policy: ResetPolicy, lastActivityAt: number, now: number): string {
	const boundary = latestDailyBoundary(now, policy.timezone, policy.atHour);
	const name = texts.explain.boundary(localTime(boundary, policy.timezone));
	if (lastActivityAt < boundary)
		return texts.explain.boundaryAfter(name, exactDuration(boundary - lastActivityAt));
	if (lastActivityAt === boundary) return texts.explain.boundaryAt(name);
	return texts.explain.boundaryBefore(name, exactDuration(lastActivityAt - boundary));
}

function whenItEnds(policy: ResetPolicy, now: number): string {
	const due = nextDue({ lastActivityAt: now, policy });
	if (due === null) return texts.explain.noEnd;
	return texts.explain.endsAt(localTime(due, policy.timezone));
}

function describeAgo(instant: number, now: number): string {
	if (instant === now) return "now";
	return instant < now
		? texts.explain.ago(exactDuration(now - instant))
		: texts.explain.fromNow(exactDuration(instant - now));
}

/** `2026-03-10 04:00 Europe/Berlin`. */
function localTime(instant: number, timezone: string): string {
	return `${clockTime(instant, timezone)} ${timezone}`;
}

const UNITS = [
	{ name: "days", size: 86_400_000, from: 2 * 86_400_000 },
	{ name: "h", size: 3_600_000, from: 3_600_000 },
	{ name: "min", size: 60_000, from: 60_000 },
	{ name: "s", size: 1000, from: 1000 },
	{ name: "ms", size: 1, from: 1 },
];

/** The two largest units that are not zero: exact enough to see on which side of a limit a time lies. */
export function exactDuration(ms: number): string {
	const parts: string[] = [];
	let rest = Math.floor(ms);
	for (const { name, size, from } of UNITS) {
		if (rest < from || parts.length === 2) continue;
		parts.push(`${Math.floor(rest / size)} ${name}`);
		rest %= size;
	}
	return parts.join(" ") || "0 s";
}
