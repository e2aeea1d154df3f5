// A start over an audit that differs from its witness warns and continues: new decisions are still audited.
import { KERYX } from "../../called.ts";
import { OPERATOR, type Store } from "../../store/index.ts";
import type { Report } from "./report.ts";

export async function warnOfAudit(store: Store, output: Report, dbPath?: string): Promise<void> {
	const { problem } = await store.auditStanding({ scope: OPERATOR });
	if (problem === null) return;
	const of = dbPath === undefined ? "" : ` --db-path ${dbPath}`;
	output.warn(
		`the audit was changed or replaced: ${problem}. \`${KERYX} confirm audit --verify${of}\` says more; if you restored a backup, \`${KERYX} confirm audit --accept${of}\` accepts it as it is`,
	);
}
