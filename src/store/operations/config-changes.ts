// Changes of config.yaml made through Keryx. The record is the tamper-evident audit; a short list of the newest entries' numbers is kept
// next to it, so that reading them does not depend on the audit's length.
import { type Context, get, type Op, run, sql } from "../query.ts";
import type { AuditEntry, AuditVia, ConfigChangeEntry, ConfigEdit, OperatorScope } from "../types.ts";
import { audit, auditEntry } from "./confirmations/audit.ts";

const NAME = "config_changes";
/** Older ones stay in the audit. */
const MOST_LISTED = 50;

const listed = sql<{ value: string }>(`SELECT value FROM settings WHERE name = '${NAME}'`);
const list = sql(
	`INSERT INTO settings (name, value) VALUES ('${NAME}', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);

interface Listed {
	readonly n: number;
	/** The entry that records that the file was not written. */
	readonly failed?: number;
}

/** Before the file is written: nothing happens without a record. Returns the change's number. */
export function* recordConfigChange(
	context: Context,
	args: {
		readonly edits: readonly ConfigEdit[];
		readonly undoes: number | null;
		readonly by: string;
		readonly via: AuditVia;
	},
): Op<number> {
	const { edits, undoes, by: who, via } = args;
	const facts = { edits, ...(undoes !== null && { undoes }) };
	const n = yield* audit(context, { kind: "config_changed", who, via, facts });
	yield* keep([{ n }, ...(yield* newest())]);
	return n;
}

/** The file could not be written after that, or someone else changed it in between. */
export function* configNotWritten(
	context: Context,
	{
		n,
		reason,
		by: who,
		via,
	}: { readonly n: number; readonly reason: string; readonly by: string; readonly via: AuditVia },
): Op<void> {
	const failed = yield* audit(context, {
		kind: "config_not_written",
		who,
		via,
		facts: { change: n, reason },
	});
	yield* keep((yield* newest()).map((one) => (one.n === n ? { n, failed } : one)));
}

/** The newest first. */
export function* configChanges(_: { readonly scope: OperatorScope }): Op<readonly ConfigChangeEntry[]> {
	const found: ConfigChangeEntry[] = [];
	for (const { n, failed } of yield* newest()) {
		const entry = yield* auditEntry(n);
		const failure = failed === undefined ? null : yield* auditEntry(failed);
		if (entry) found.push(toChange(entry, failure));
	}
	return found;
}

function toChange({ n, at, who, via, facts }: AuditEntry, failure: AuditEntry | null): ConfigChangeEntry {
	const { edits, undoes = null } = facts as unknown as Pick<ConfigChangeEntry, "edits"> & { undoes?: number };
	return { n, at, who, via, edits, undoes, failed: failure === null ? null : String(failure.facts.reason) };
}

function* newest(): Op<readonly Listed[]> {
	const row = yield* get(listed);
	return row ? (JSON.parse(row.value) as Listed[]) : [];
}

function* keep(all: readonly Listed[]): Op<void> {
	yield* run(list, JSON.stringify(all.slice(0, MOST_LISTED)));
}
