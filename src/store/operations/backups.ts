// When the store was last backed up, and what is uncertain in a restored store.
import { all, type Context, get, type Op, run, sql } from "../query.ts";
import type { OperatorScope } from "../types.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "./deliveries/row.ts";
import { settleRow } from "./deliveries/settling.ts";

const NAME = "last_backup";

const kept = sql<{ value: string }>(`SELECT value FROM settings WHERE name = '${NAME}'`);
const keep = sql(
	`INSERT INTO settings (name, value) VALUES ('${NAME}', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);
const unsent = sql<DeliveryRow>(
	`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE due_at IS NOT NULL AND state = 'pending' AND receipt IS NULL ORDER BY +n`,
);

export interface LastBackup {
	/** The newest successful one; null: none. */
	readonly made: { readonly at: number; readonly path: string; readonly bytes: number } | null;
	/** The newest attempt, if it failed. */
	readonly failed: { readonly at: number; readonly reason: string } | null;
	/** The last one that the schedule made; null: none. */
	readonly scheduled: { readonly at: number; readonly path: string } | null;
}

export function* recordBackup(
	context: Context,
	args:
		| { readonly kind: "made"; readonly path: string; readonly bytes: number; readonly scheduled: boolean }
		| { readonly kind: "failed"; readonly reason: string },
): Op<void> {
	const before = yield* last();
	const at = context.now;
	const now: LastBackup =
		args.kind === "made"
			? {
					made: { at, path: args.path, bytes: args.bytes },
					failed: null,
					scheduled: args.scheduled ? { at, path: args.path } : before.scheduled,
				}
			: { ...before, failed: { at, reason: args.reason } };
	yield* run(keep, JSON.stringify(now));
}

export function* lastBackup(_: { readonly scope: OperatorScope }): Op<LastBackup> {
	return yield* last();
}

function* last(): Op<LastBackup> {
	const row = yield* get(kept);
	const none: LastBackup = { made: null, failed: null, scheduled: null };
	return row ? { ...none, ...(JSON.parse(row.value) as Partial<LastBackup>) } : none;
}

/** After a restore (I7): deliveries that were waiting at backup time may have been sent since, so a person decides. */
export function* doubtDeliveries(context: Context): Op<{ doubted: number }> {
	const rows = yield* all(unsent);
	for (const row of rows)
		yield* settleRow(context, row, {
			kind: "unknown",
			reason: "restored from a backup; it may have been sent since",
		});
	return { doubted: rows.length };
}
