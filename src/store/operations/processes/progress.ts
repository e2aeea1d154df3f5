// What was reported of a running process: output is in the logs, the store has only the cursors.
import { all, type Context, type Op, run, sql } from "../../query.ts";
import type { NewDelivery, OperatorScope, Process } from "../../types.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { foundProcess, PROCESS_COLUMNS, type ProcessRow, toProcess } from "./rows.ts";

/** Includes those whose last check is in the future: the clock was set back, and they would be silent until it catches up. */
const dueChecks = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes WHERE due_at IS NOT NULL AND (due_at <= ? OR due_at - check_ms > ?) ORDER BY due_at LIMIT ?`,
);
const setPolled = sql("UPDATE processes SET polled_to = ? WHERE id = ? AND polled_to < ?");
const setChecked = sql(
	"UPDATE processes SET checked_to = ?, printed_at = ?, due_at = ? WHERE id = ? AND due_at IS NOT NULL",
);
const setPrinted = sql(
	"UPDATE processes SET printed_at = ? WHERE id = ? AND due_at IS NOT NULL AND printed_at < ?",
);

/** Output up to here was passed to the conversation. Never goes back. */
export function* processPolled(_: Context, args: { readonly id: string; readonly to: number }): Op<void> {
	yield* run(setPolled, args.to, args.id, args.to);
}

/** It printed something recently; this can keep a session open. */
export function* processPrinted(_: Context, args: { readonly id: string; readonly at: number }): Op<void> {
	yield* run(setPrinted, args.at, args.id, args.at);
}

/** A progress report: notice, cursor and next time are one commit, so that nothing is reported twice. */
export function* processChecked(
	context: Context,
	args: {
		readonly id: string;
		readonly to: number;
		/** Absent: nothing new. */
		readonly printedAt?: number;
		readonly deliveries: readonly NewDelivery[];
	},
): Op<void> {
	const row = yield* foundProcess(args.id);
	if (row.check_ms === null || row.due_at === null) return;
	const printedAt = Math.max(row.printed_at, args.printedAt ?? 0);
	yield* run(setChecked, args.to, printedAt, context.now + row.check_ms, args.id);
	yield* addDeliveries(context, row.conversation, null, args.deliveries);
}

/** Processes whose progress report is due by then, most urgent first. */
export function* dueProcessChecks(args: {
	readonly scope: OperatorScope;
	readonly now: number;
	readonly limit: number;
}): Op<readonly Process[]> {
	return (yield* all(dueChecks, args.now, args.now, args.limit)).map(toProcess);
}
