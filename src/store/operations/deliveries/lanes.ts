// The order within one destination (I19). A lane is a destination; its unfinished deliveries (due_at is set) go one at a time, in the
// order of `n`. Only the first has `first_at`, and only that one is claimed: a claim costs the same however many wait. Code that changes
// `due_at` must call `bringForward` in the same transaction, or its lane stalls.
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

/** What users see as one stream of messages. The schema's migration computes the same. */
export function laneOf({ platform, account, chatId, threadId = "" }: Destination): string {
	return [platform, account, chatId, threadId].join("\n");
}

/** Whether an earlier delivery is still on its way there. */
export function* isBusy(lane: string): Op<boolean> {
	return (yield* get(unfinished, lane)) !== undefined;
}

/** Makes the first of a lane claimable, unless one is being sent. The changed delivery must no longer count as the first. */
export function bringForward(lane: string): Op<number> {
	return run(stepForward, lane, lane);
}

/** The same after one has returned to a lane: it may come before those that only waited. */
export function* letIn(lane: string): Op<void> {
	yield* run(stepBack, lane);
	yield* bringForward(lane);
}
