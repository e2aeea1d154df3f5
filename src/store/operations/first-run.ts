// Whether the page still leads through the first steps of this home, and which of them were skipped. What is done is not kept here: it is
// read off the configuration and the store.
import { type Context, get, type Op, run, sql } from "../query.ts";
import type { FirstRun, FirstRunStep, OperatorScope } from "../types.ts";

const NAME = "first_run";

const kept = sql<{ value: string }>(`SELECT value FROM settings WHERE name = '${NAME}'`);
const keep = sql(
	`INSERT INTO settings (name, value) VALUES ('${NAME}', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);
const anyConversation = sql<{ id: string }>("SELECT id FROM conversations LIMIT 1");

/** For a home where nothing is set up. Once for each store: a home that was used before, or has ended its first run, has none. */
export function* beginFirstRun(_context: Context): Op<void> {
	if ((yield* get(kept)) || (yield* get(anyConversation))) return;
	yield* write({ ended: false, skipped: [] });
}

/** Skips one step, or ends the whole for good. */
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
