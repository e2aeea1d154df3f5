// The order of what one destination is sent (I19). A lane is a destination; what is unfinished in it (due_at is set) goes one at a time,
// in the order of `n`. Only the first has `first_at`, and only that one is claimed: a claim costs the same however many wait behind.
// Whoever changes `due_at` of a delivery calls `bringForward` in the same transaction, or its lane stands still.
import { get, type Op, run, sql } from "../../query.ts";
import type { Destination } from "../../types.ts";

const unfinished = sql<{ n: number }>(
	"SELECT n FROM deliveries WHERE lane = ? AND due_at IS NOT NULL LIMIT 1",
);
const stepBack = sql(
	"UPDATE deliveries SET first_at = NULL WHERE lane = ? AND first_at IS NOT NULL AND state = 'pending'",
);
const stepForward = sql(
	`UPDATE deliveries SET first_at = due_at
	WHERE n = (SELECT min(e.n) FROM deliveries e WHERE e.lane = ? AND e.due_at IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM deliveries f WHERE f.lane = ? AND f.first_at IS NOT NULL)`,
);

/** What users see as one stream of messages. The schema's migration makes the same. */
export function laneOf({ platform, account, chatId, threadId = "" }: Destination): string {
	return [platform, account, chatId, threadId].join("\n");
}

/** Whether anything committed before is still on its way there. */
export function* isBusy(lane: string): Op<boolean> {
	return (yield* get(unfinished, lane)) !== undefined;
}

/** Lets the first of a lane be claimed, unless one is being sent. The delivery that changed must not count as the first any more. */
export function* bringForward(lane: string): Op<void> {
	yield* run(stepForward, lane, lane);
}

/** The same after one has come back into a lane: it may stand before those that have only waited. */
export function* letIn(lane: string): Op<void> {
	yield* run(stepBack, lane);
	yield* bringForward(lane);
}
