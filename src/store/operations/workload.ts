// For monitoring: how much waits, and whether the store can be written.
import { all, type Context, get, type Op, run, sql } from "../query.ts";
import type { ConfirmationStatus, OperatorScope } from "../types.ts";

const waitingDeliveries = sql<{ n: number }>("SELECT count(*) AS n FROM deliveries WHERE due_at IS NOT NULL");
const unsettledDeliveries = sql<{ n: number }>(
	"SELECT count(*) AS n FROM deliveries WHERE state IN ('unknown', 'dead') AND due_at IS NULL",
);
const oldestDelivery = sql<{ at: number | null }>(
	"SELECT min(created_at) AS at FROM deliveries WHERE due_at IS NOT NULL",
);
const waitingInbox = sql<{ n: number }>("SELECT count(*) AS n FROM inbox WHERE due_at IS NOT NULL");
const openTurns = sql<{ n: number }>(
	"SELECT count(*) AS n FROM turns WHERE state IN ('running', 'interrupted')",
);
const byStatus = sql<{ status: ConfirmationStatus; n: number }>(
	"SELECT status, count(*) AS n FROM confirmations GROUP BY status ORDER BY status",
);
const prove = sql(
	`INSERT INTO settings (name, value) VALUES ('proved_writable_at', ?)
	ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);

export interface Workload {
	readonly inbox: number;
	readonly turns: number;
	readonly deliveries: {
		readonly waiting: number;
		readonly unsettled: number;
		/** When the oldest waiting one was queued; null: none waits. */
		readonly oldestAt: number | null;
	};
	readonly confirmations: Readonly<Partial<Record<ConfirmationStatus, number>>>;
}

export function* workload(_: { readonly scope: OperatorScope }): Op<Workload> {
	const statuses = yield* all(byStatus);
	return {
		inbox: (yield* get(waitingInbox))?.n ?? 0,
		turns: (yield* get(openTurns))?.n ?? 0,
		deliveries: {
			waiting: (yield* get(waitingDeliveries))?.n ?? 0,
			unsettled: (yield* get(unsettledDeliveries))?.n ?? 0,
			oldestAt: (yield* get(oldestDelivery))?.at ?? null,
		},
		confirmations: Object.fromEntries(statuses.map(({ status, n }) => [status, n])),
	};
}

/** A real write in an ordinary transaction: succeeds only if work could be accepted. */
export function* proveWritable(context: Context): Op<void> {
	yield* run(prove, String(context.now));
}
