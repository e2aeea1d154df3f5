// Whether the page still shows the first steps of this home, and which were skipped. Completed steps are not stored: they follow from the
// configuration and the store.
import { type Context, get, type Op, run, sql } from "../query.ts";
import type { FirstRun, FirstRunStep, OperatorScope } from "../types.ts";

const NAME = "first_run";

const kept = sql<{ value: string }>(`SELECT value FROM settings WHERE name = '${NAME}'`);
const keep = sql(
	`INSERT INTO settings (name, value) VALUES ('${NAME}', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);
const anyConversation = sql<{ id: string }>("SELECT id FROM conversations LIMIT 1");

/** For a home without any set-up. Once per store: a home that was used before, or finished its first run, has none. */
export function* beginFirstRun(_context: Context): Op<void> {
	if ((yield* get(kept)) || (yield* get(anyConversation))) return;
	yield* write({ ended: false, skipped: [] });
}

/** Skips one step, or ends the first run. */
export function* skipFirstRun(
	_context: Context,
	{ step }: { readonly step: FirstRunStep | "all" },
): Op<void> {
	const now = yield* read();
	if (now.ended) return;
	yield* write(
		step === "all"
			? { ended: true, skipped: now.skipped }
			: { ended: false, skipped: [...new Set([...now.skipped, step])] },
	);
}

export function* firstRun(_: { readonly scope: OperatorScope }): Op<FirstRun> {
	return yield* read();
}

function* read(): Op<FirstRun> {
	const row = yield* get(kept);
	return row ? (JSON.parse(row.value) as FirstRun) : { ended: true, skipped: [] };
}

function* write(state: FirstRun): Op<void> {
	yield* run(keep, JSON.stringify(state));
}
