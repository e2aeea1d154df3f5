// Runs at most n at a time; others wait in order.
export class ConcurrencyLimit {
	readonly #waiting: (() => void)[] = [];
	#free: number;

	constructor(limit: number) {
		this.#free = limit;
	}

	async run<Value>(work: () => Promise<Value>): Promise<Value> {
		if (this.#free > 0) this.#free--;
		else await new Promise<void>((resolve) => this.#waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = this.#waiting.shift();
			if (next) next();
			else this.#free++;
		}
	}
}
