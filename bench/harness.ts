// Timing by hand: warm up, take several samples of a fixed length, answer the median. One slow sample changes nothing.
import { performance } from "node:perf_hooks";

export interface Row {
	/** Says what was measured, and against what. */
	readonly name: string;
	readonly value: number;
	readonly unit: string;
	readonly bar: number | null;
	readonly holds: boolean | null;
}

export function measured(name: string, value: number, unit: string): Row {
	return { name, value, unit, bar: null, holds: null };
}

export function atLeast(bar: number, row: Row): Row {
	return { ...row, bar, holds: row.value >= bar };
}

export function atMost(bar: number, row: Row): Row {
	return { ...row, bar, holds: row.value <= bar };
}

/** How often `work` runs per second on this core. What it returns is kept, so that it cannot be optimised away. */
export function perSecond(
	work: () => unknown,
	{
		warmUpMs = 300,
		samples = 9,
		sampleMs = 150,
	}: { warmUpMs?: number; samples?: number; sampleMs?: number } = {},
): number {
	const warm = countIn(work, warmUpMs, 1);
	// The clock is read about 50 times a sample: often enough to stop in time, too seldom to be measured itself.
	const batch = Math.max(1, Math.floor((warm * (sampleMs / 1000)) / 50));
	return median(Array.from({ length: samples }, () => countIn(work, sampleMs, batch)));
}

export function median(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

const kept: { result: unknown } = { result: undefined };

function countIn(work: () => unknown, milliseconds: number, batch: number): number {
	globalThis.gc?.();
	const began = performance.now();
	let count = 0;
	let elapsed = 0;
	while (elapsed < milliseconds) {
		for (let i = 0; i < batch; i++) kept.result = work();
		count += batch;
		elapsed = performance.now() - began;
	}
	return (count / elapsed) * 1000;
}
