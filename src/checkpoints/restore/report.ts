// A restore's report: everything to its requester, a few names and numbers to the store.
import { type RawPath, shown } from "../names.ts";
import type { RestoreReport, RestoreSummary, Some } from "../types.ts";
import type { Applied } from "./apply.ts";

const NAMED_ITEMS = 10;

export function reportOf(
	{ restored, removed, kept }: Applied,
	before: readonly RawPath[],
): Pick<RestoreReport, "restored" | "removed" | "kept"> {
	return {
		restored: restored.map(shown),
		removed: removed.map(shown),
		kept: [
			...before.map((path) => ({ path: shown(path), reason: "changed_since" as const })),
			...kept.map(({ path, reason }) => ({ path: shown(path), reason })),
		],
	};
}

export function summaryOf(
	report: {
		readonly [Part in keyof RestoreSummary]: RestoreSummary[Part] extends Some<infer Item>
			? readonly Item[]
			: RestoreSummary[Part];
	},
): RestoreSummary {
	return {
		...report,
		restored: some(report.restored),
		removed: some(report.removed),
		kept: some(report.kept),
		untouched: some(report.untouched),
	};
}

function some<Item>(items: readonly Item[]): Some<Item> {
	return { count: items.length, first: items.slice(0, NAMED_ITEMS) };
}
