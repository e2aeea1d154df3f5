// What a message that arrives now does to the session, in plain sentences. The domain decides; here it is only told,
// from the same numbers that it decided by.
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

/** The state of the live session as the user gave it. */
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
		const text = `The message opens the conversation's first session. ${whenItEnds(policy, now)}`;
		return { kind: "first", reason: null, text };
	}
	const facts = describeFacts(input, session);
	const reason = decide(input, session);
	if (reason !== null) {
		const notified = notifiesBoundaries(policy, platform) ? "The user is told" : "The user is not told";
		const kept = carriesOver(policy, reason)
			? "the last exchange is carried over"
			: "nothing is carried over";
		return {
			kind: "boundary",
			reason,
			text: `A new session begins (${reason}): ${facts[reason]}. ${notified}; ${kept}.`,
		};
	}
	const without = decide(input, { ...session, activeProcess: false });
	if (without !== null) {
		const text = `The session goes on: a background process holds it open. Without it a new one would begin (${without}): ${facts[without]}.`;
		return { kind: "continue", reason: null, text };
	}
	const { idle, daily, message_limit, resume_expired } = facts;
	const reasons = [idle, daily, message_limit, resume_expired].filter((fact) => fact !== "");
	const held = session.activeProcess ? " A background process holds it open as long as it runs." : "";
	const text = `The session goes on: ${reasons.join("; ")}. ${whenItEnds(policy, now)}${held}`;
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

/** For each rule what it saw, whether it fired or not; "" where it had nothing to look at. */
function describeFacts(input: DecisionInput, session: SessionState): Record<BoundaryReason, string> {
	const { policy, now, autoContinueFreshness } = input;
	const { mode, idleMinutes, maxMessages } = policy;
	const { lastActivityAt, messageCount, interruptedAt } = session;
	const active = describeActivity(lastActivityAt, now);
	const idles = mode === "idle" || mode === "both";
	return {
		suspended: "the session was suspended",
		idle: idles
			? `${active}, idle limit ${exactDuration(idleMinutes * 60_000)}`
			: `${active}, mode ${mode} has no idle limit`,
		daily: mode === "daily" || mode === "both" ? describeDaily(policy, lastActivityAt, now) : "",
		message_limit:
			maxMessages > 0
				? `${messageCount} of ${maxMessages} messages`
				: `${messageCount} messages, which are not limited`,
		resume_expired:
			interruptedAt === null ? "" : describeInterruption(interruptedAt, autoContinueFreshness, now),
	};
}

function describeActivity(lastActivityAt: number, now: number): string {
	const active = `last active ${describeAgo(lastActivityAt, now)}`;
	return lastActivityAt > now ? `${active} (a clock that jumped back ends nothing)` : active;
}

function describeInterruption(interruptedAt: number, freshness: number, now: number): string {
	const ago = `a turn was interrupted ${describeAgo(interruptedAt, now)}`;
	return freshness > 0
		? `${ago}, limit for taking it up again ${exactDuration(freshness * 1000)}`
		: `${ago}, never too long`;
}

function describeDaily(policy: ResetPolicy, lastActivityAt: number, now: number): string {
	const boundary = latestDailyBoundary(now, policy.timezone, policy.atHour);
	const name = `the daily boundary of ${localTime(boundary, policy.timezone)}`;
	if (lastActivityAt < boundary)
		return `${name} came ${exactDuration(boundary - lastActivityAt)} after the last activity`;
	if (lastActivityAt === boundary) return `${name} was at the moment of that activity`;
	return `${name} was ${exactDuration(lastActivityAt - boundary)} before that activity`;
}

function whenItEnds(policy: ResetPolicy, now: number): string {
	const due = nextDue({ lastActivityAt: now, policy });
	if (due === null) return "It does not end by time.";
	return `If nobody writes after it, the session ends at ${localTime(due, policy.timezone)}.`;
}

function describeAgo(instant: number, now: number): string {
	if (instant === now) return "now";
	return instant < now ? `${exactDuration(now - instant)} ago` : `${exactDuration(instant - now)} from now`;
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
