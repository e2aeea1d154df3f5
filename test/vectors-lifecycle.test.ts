import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { resolvePolicy } from "../src/config/index.ts";
import type { ResetMode } from "../src/domain/index.ts";
import { type BoundaryInput, decideBoundary } from "../src/domain/session/boundary.ts";
import { limitInfo, limitNote, toWireLimitInfo } from "../src/domain/session/limits.ts";

interface ResetCase {
	readonly id: number;
	readonly tag: string;
	readonly policy: {
		readonly mode: ResetMode;
		readonly at_hour: number;
		readonly idle_minutes: number;
		readonly max_messages: number;
	};
	readonly now: string;
	readonly last_activity: string;
	readonly messages: number;
	readonly active_process: boolean;
	readonly reason: string | null;
}

interface LimitCase {
	readonly id: number;
	readonly known: boolean;
	readonly mode: ResetMode;
	readonly count: number | null;
	readonly max_messages: number;
	readonly info: Record<string, unknown>;
	readonly note: string | null;
	readonly rotate_after_turn: boolean;
}

const resets = read<ResetCase>("reset-decisions");
const limits = read<LimitCase>("message-limits");

describe("reset-decisions.json", () => {
	test("has cases", () => expect(resets.length).toBeGreaterThan(500));

	test.each([...Map.groupBy(resets, ({ tag }) => tag)])(
		"every case of %s is decided as recorded",
		(_tag, cases) => {
			for (const { id, policy, reason, ...given } of cases) {
				const decided = decide({
					policy: resolvePolicy({ ...policy, timezone: "UTC" }, { platform: "telegram", chatType: "dm" }),
					lastActivityAt: Date.parse(`${given.last_activity}Z`),
					messageCount: given.messages,
					now: Date.parse(`${given.now}Z`),
					activeProcess: given.active_process,
					at: "arrival",
				});
				expect(decided, `case ${id}`).toBe(reason);
			}
		},
	);
});

describe("message-limits.json", () => {
	test("has cases", () => expect(limits.length).toBeGreaterThan(40));

	test.each(limits)("case $id: $count of $max_messages in mode $mode", (given) => {
		const info = limitInfo(given.known ? given.count : null, given.max_messages);
		expect(toWireLimitInfo(info)).toEqual(given.info);
		expect(limitNote(info)).toBe(given.note);
		const reason = decide({
			policy: resolvePolicy(
				{ mode: given.mode, max_messages: given.max_messages },
				{ platform: "telegram", chatType: "dm" },
			),
			lastActivityAt: 0,
			messageCount: given.count ?? 0,
			now: 0,
			activeProcess: false,
			at: "turn_end",
		});
		expect(reason).toBe(given.rotate_after_turn ? "message_limit" : null);
	});
});

type Given = Omit<BoundaryInput, "session" | "autoContinueFreshness"> &
	Pick<BoundaryInput["session"], "lastActivityAt" | "messageCount">;

function decide({ lastActivityAt, messageCount, ...rest }: Given): string | null {
	const decision = decideBoundary({
		session: {
			lastActivityAt,
			messageCount,
			cap: rest.policy.maxMessages,
			suspended: false,
			resumePendingSince: null,
		},
		autoContinueFreshness: 3600,
		...rest,
	});
	return decision.kind === "boundary" ? decision.reason : null;
}

function read<Case>(name: string): readonly Case[] {
	return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), "utf8")).cases;
}
