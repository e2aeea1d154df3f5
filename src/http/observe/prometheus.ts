// Numbers in Prometheus' text form.

type Labels = Readonly<Record<string, string>>;
export type Samples = readonly (readonly [labels: Labels, value: number])[];

export interface Metric {
	readonly name: string;
	readonly type: "gauge" | "counter" | "histogram";
	readonly help: string;
	/** For a histogram: buckets, sum and count, from `Histogram.samples`. */
	readonly samples: Samples | HistogramSamples;
}

interface HistogramSamples {
	readonly buckets: readonly (readonly [upTo: number, count: number])[];
	readonly sum: number;
	readonly count: number;
}

export function textOf(metrics: readonly Metric[]): string {
	return `${metrics.flatMap(linesOf).join("\n")}\n`;
}

function linesOf({ name, type, help, samples }: Metric): string[] {
	return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...valuesOf(name, samples)];
}

function valuesOf(name: string, samples: Metric["samples"]): string[] {
	if (isHistogram(samples))
		return [
			...samples.buckets.map(([upTo, count]) => `${name}_bucket${labelled({ le: String(upTo) })} ${count}`),
			`${name}_bucket${labelled({ le: "+Inf" })} ${samples.count}`,
			`${name}_sum ${samples.sum}`,
			`${name}_count ${samples.count}`,
		];
	return samples.map(([labels, value]) => `${name}${labelled(labels)} ${value}`);
}

function isHistogram(samples: Metric["samples"]): samples is HistogramSamples {
	return "buckets" in samples;
}

function labelled(labels: Labels): string {
	const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
	return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Counts of values up to each bound, as Prometheus adds them up. */
export class Histogram {
	readonly #bounds: readonly number[];
	readonly #counts: number[];
	#sum = 0;
	#count = 0;

	constructor(bounds: readonly number[]) {
		this.#bounds = bounds;
		this.#counts = bounds.map(() => 0);
	}

	add(value: number): void {
		this.#sum += value;
		this.#count++;
		for (const [index, bound] of this.#bounds.entries())
			if (value <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
	}

	get samples(): HistogramSamples {
		return {
			buckets: this.#bounds.map((bound, index) => [bound, this.#counts[index] ?? 0]),
			sum: this.#sum,
			count: this.#count,
		};
	}
}

/** Counts by the value of one label. */
export class Counter {
	readonly #label: string;
	readonly #counts = new Map<string, number>();

	constructor(label: string, known: readonly string[] = []) {
		this.#label = label;
		for (const value of known) this.#counts.set(value, 0);
	}

	add(value: string, by = 1): void {
		this.#counts.set(value, (this.#counts.get(value) ?? 0) + by);
	}

	get samples(): Samples {
		return [...this.#counts].map(([value, count]) => [{ [this.#label]: value }, count]);
	}
}
