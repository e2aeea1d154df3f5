import { duration } from "../../lib/time.ts";
import type { InsightsData } from "./data.ts";
import { inWhole, reasonInWords } from "./words.ts";

/** One bar: its name, length and text. */
export interface Row {
	readonly name: string;
	readonly value: number;
	readonly text: string;
}

/** The most frequent first. */
export function reasonRows({ boundaries }: InsightsData): readonly Row[] {
	return Object.entries(boundaries)
		.sort(([, a], [, b]) => b - a)
		.map(([reason, n]) => ({ name: reasonInWords(reason), value: n, text: inWhole(n) }));
}

export function latencyRows({ latency: { p50_ms, p95_ms, p99_ms } }: InsightsData): readonly Row[] {
	const all = { "p50, half": p50_ms, "p95, 95 of 100": p95_ms, "p99, 99 of 100": p99_ms };
	return Object.entries(all).flatMap(([name, ms]) =>
		ms === null ? [] : [{ name, value: ms, text: duration(ms) }],
	);
}
